//! All errors of a file at once, each at its place, and none that only follows from another.

use super::{LAB, PARKING_LOT, cells, refusals, with};
use crate::read::{Document, ReadErrors};

fn said(errors: &ReadErrors) -> Vec<String> {
    errors.all().iter().map(ToString::to_string).collect()
}

/// Each line of `expected` begins one error, in this order, and there are no others.
fn assert_said(errors: &ReadErrors, expected: &[&str]) {
    let said = said(errors);
    let all = said.len() == expected.len() && said.iter().zip(expected).all(|(said, start)| said.starts_with(start));
    assert!(all, "said:\n{}\nexpected:\n{}", said.join("\n"), expected.join("\n"));
}

#[test]
fn every_error_of_a_file_is_reported_in_the_order_of_the_file() {
    let text = LAB
        .replace("title = \"a lab\"", "titel = \"a lab\"")
        .replace("\"60 s\"", "\"60 sec\"")
        .replace("\"622 Mbit/s\"", "\"622 Mbps\"")
        .replace("\"1 bdp\"", "\"lots\"")
        .replace("count = 100", "count = 0")
        .replace("ecn = true", "ecn = 1, gain = 3");
    assert_said(
        &refusals(&text),
        &[
            "lab.toml:2:1: titel: the key `titel` is unknown here: did you mean `title`?",
            "lab.toml:3:12: duration: `60 sec` is not a duration: write `60 s`",
            "lab.toml:10:8: links.bottleneck.rate: `622 Mbps` is not a rate: write `622 Mbit/s`",
            "lab.toml:12:10: links.bottleneck.buffer: `lots` is not a buffer",
            "lab.toml:16:9: flows.ftp.count: `0` is out of range",
            "lab.toml:20:31: flows.ftp.cc.ecn: `1` is not a switch",
            "lab.toml:20:34: flows.ftp.cc.gain: `newreno` has no parameter `gain`",
        ],
    );
}

/// A misspelt key is not missing too; a link that is wrong is there for the flows; a time that cannot be read is neither
/// too long nor too short; and what all links inherit is wrong once.
#[test]
fn what_follows_from_an_error_is_none() {
    for (old, new, expected) in [
        ("rate = \"622", "rte = \"622", "lab.toml:10:1: links.bottleneck.rte: the key `rte` is unknown here"),
        ("duration =", "duraton =", "lab.toml:3:1: duraton: the key `duraton` is unknown here"),
        ("\"60 s\"", "60", "lab.toml:3:12: duration: "),
        ("\"1000 B\"", "1000", "lab.toml:5:10: packet: "),
        ("[links.bottleneck]", "[links.\"a.b\"]", "lab.toml:7:8: links.\"a.b\": `a.b` is not a name"),
        ("to = \"right\"\nrate", "to = 3\nrate", "lab.toml:9:6: links.bottleneck.to: "),
        (
            "cc = {",
            "size = \"1 MByte\"\nidle = \"1 s\"\ncc = {",
            "lab.toml:20:8: flows.ftp.size: `1 MByte` is not a size",
        ),
        ("cc = { law", "cc = { lw", "lab.toml:20:1: flows.ftp.cc: "),
    ] {
        assert_said(&refusals(&with(old, new)), &[expected]);
    }
    let inherited = PARKING_LOT.replace("delay = \"5 ms\"", "delay = \"5 msec\"");
    assert_said(&refusals(&inherited), &["lab.toml:5:9: links.first.delay: `5 msec` is not a duration: write `5 ms`"]);
    // Both classes and the customer name groups that cannot be read.
    let grouped = with("count = 100", "count = 0\nclass = \"c\"")
        + "[classes.c]\nshare = 0.5\n[customers.k]\nflows = [\"ftp\"]\n[stop]\nwhen = \"transfers complete\"\n";
    assert_said(&refusals(&grouped), &["lab.toml:16:9: flows.ftp.count: "]);
}

#[test]
fn every_error_of_syntax_is_reported_once_a_line() {
    let text = LAB.replace("title = \"a lab\"", "title = = \"a lab").replace("count = 100", "count 100");
    let errors = refusals(&text);
    assert_said(&errors, &["lab.toml:2:9: not TOML: ", "lab.toml:16:7: not TOML: "]);
    // Below a header that cannot be read, the keys of the table before it seem to stand twice.
    assert_said(&refusals(&with("[flows.ftp]", "[flows.ftp")), &["lab.toml:15:11: not TOML: "]);
    // A list that is not closed is one error, and not one on each line after it.
    let open = refusals(&with("rtt = \"100 ms\"", "rtt = [\"100 ms\""));
    assert_said(&open, &["lab.toml:20:1: not TOML: missing comma"]);
    // Where something lacks at the end of a line, the last character is underlined.
    let errors = refusals(&with("\"a lab\"", "\"a lab"));
    let excerpt = errors.all()[0].excerpt.clone().unwrap();
    assert_eq!((errors.all()[0].column, &excerpt.text[excerpt.span]), (Some(15), "b"));
    // A larger file has its first one only.
    let large = "a = = 1\n".repeat(100_000);
    assert_said(&refusals(&large), &["lab.toml:1:5: not TOML: "]);
}

#[test]
fn a_sweep_is_read_to_its_end() {
    let sweep =
        "[sweep]\nseeds = 5\n\"flows.ftp.count\" = [3, 0, -1]\n\"links.bottleneck.rate\" = [\"1 Mbps\", \"2 Mbps\"]\n";
    assert_said(
        &refusals(&format!("{LAB}{sweep}")),
        &[
            "lab.toml:22:1: sweep.seeds: the key `seeds` is unknown here: did you mean `seed`?",
            "lab.toml:23:25: flows.ftp.count: `0` is out of range",
            "lab.toml:23:28: flows.ftp.count: `-1` is negative",
            "lab.toml:24:28: links.bottleneck.rate: `1 Mbps` is not a rate",
            "lab.toml:24:38: links.bottleneck.rate: `2 Mbps` is not a rate",
        ],
    );
    let errors = refusals(&format!("{LAB}{}", sweep.replace("seeds = 5\n", "")));
    assert_said(
        &errors,
        &[
            "lab.toml:22:25: flows.ftp.count: `0` is out of range",
            "lab.toml:22:28: flows.ftp.count: `-1` is negative",
            "lab.toml:23:28: links.bottleneck.rate: `1 Mbps` is not a rate",
            "lab.toml:23:38: links.bottleneck.rate: `2 Mbps` is not a rate",
        ],
    );
    assert!(
        said(&errors)[0].ends_with("(first in the cell flows.ftp.count = 0, links.bottleneck.rate = 1 Mbps)"),
        "{errors}"
    );
    // A key that is unknown is so with each of its values.
    let unknown = refusals(&format!("{LAB}[sweep]\n\"links.bottleneck.rat\" = [\"1 Mbit/s\", \"2 Mbit/s\"]\n"));
    assert_said(
        &unknown,
        &["lab.toml:22:27: links.bottleneck.rat: the key `rat` is unknown here: did you mean `rate`?"],
    );
    // What a sweep would have provided is not missing where the sweep cannot be read.
    let swept = with("rate = \"622 Mbit/s\"\n", "") + "[sweep]\n\"links.bottleneck.rate\" = 3\n";
    assert_said(&refusals(&swept), &["lab.toml:21:27: sweep.\"links.bottleneck.rate\": `3` is not a list"]);
}

#[test]
fn an_excerpt_has_the_line_and_the_span() {
    let errors = refusals(&with("\"622 Mbit/s\"", "\"622 Mbps\" # \u{e9}"));
    let excerpt = errors.all()[0].excerpt.clone().unwrap();
    assert_eq!(excerpt.text, "rate = \"622 Mbps\" # \u{e9}");
    assert_eq!(&excerpt.text[excerpt.span.clone()], "\"622 Mbps\"");
    // What is missing has the name of its table, and what is missing from the file nothing.
    let missing = refusals(&with("delay = \"10 ms\"\n", ""));
    let excerpt = missing.all()[0].excerpt.clone().unwrap();
    assert_eq!((&excerpt.text[..], &excerpt.text[excerpt.span]), ("[links.bottleneck]", "bottleneck"));
    assert_eq!(refusals(&with("duration = \"60 s\"\n", "")).all()[0].excerpt, None);
    // Of a long line there is what is around.
    let long = with("\"100 ms\"", &format!("[{}\"soon\", {}]", "\"1 s\", ".repeat(1000), "\"1 s\", ".repeat(1000)));
    let excerpt = refusals(&long).all()[0].excerpt.clone().unwrap();
    assert!(excerpt.text.len() < 250 && &excerpt.text[excerpt.span.clone()] == "\"soon\"", "{excerpt:?}");
}

#[test]
fn of_many_errors_the_first_are_shown_and_the_others_counted() {
    let keys: String = (0..130).flat_map(|n| ["key".to_owned(), n.to_string(), " = 1\n".to_owned()]).collect();
    let errors = refusals(&with("title = \"a lab\"\n", &keys));
    let (shown, more) = errors.shown();
    assert_eq!((shown.len(), more, errors.all().len()), (20, 110, 100));
    assert!(errors.to_string().ends_with("\nand 110 more"), "{errors}");
}

#[test]
fn a_law_of_another_role_is_told_where_it_belongs() {
    let aqm = refusals(&with("duplex = true", "aqm = { law = \"cubic\" }")).to_string();
    let expected = "no AQM is named `cubic`: `cubic` is a controller, for `cc` of a group of flows; known: `droptail`";
    assert!(aqm.contains(expected), "{aqm}");
    let cc = refusals(&with("law = \"newreno\"", "law = \"fq-codel\"")).to_string();
    assert!(
        cc.contains("no controller is named `fq-codel`: `fq-codel` is an AQM, for `aqm` of a link; known: "),
        "{cc}"
    );
    let cc = refusals(&with("law = \"newreno\"", "law = \"fq_codel\"")).to_string();
    assert!(
        cc.contains("no controller is named `fq_codel`: `fq-codel` is an AQM, for `aqm` of a link; known: "),
        "{cc}"
    );
    let edge = refusals(&with("duplex = true", "aqm = { law = \"token-bucket\" }")).to_string();
    assert!(edge.contains("`token-bucket` is a conditioner, for `conditioner` of a customer; known: "), "{edge}");
}

/// Names and titles have an end, and no marks that change how text around them is shown.
#[test]
fn names_and_titles_are_of_moderate_length_and_visible() {
    let long = "n".repeat(101);
    for (old, new, expected) in [
        ("[flows.ftp]", format!("[flows.{long}]"), "a name of 101 characters: write at most 100 characters"),
        ("\"a lab\"", format!("\"{}\"", "t".repeat(301)), "a title of 301 characters: write at most 300 characters"),
        ("cc = {", format!("class = \"{long}\"\ncc = {{"), "a name of 101 characters"),
        ("[flows.ftp]", "[flows.\"ftp\u{202e}\"]".to_owned(), "is not a name"),
        ("\"a lab\"", "\"a \u{2066}lab\"".to_owned(), "is not one line of text"),
        ("[flows.ftp]", "[flows.\"ftp\u{2028}\"]".to_owned(), "is not a name"),
    ] {
        let errors = refusals(&with(old, &new));
        assert!(errors.all().len() == 1 && errors.to_string().contains(expected), "{errors}");
    }
    assert!(cells(&with("[flows.ftp]", &format!("[flows.{}]", &long[1..]))).is_ok());
    assert!(cells(&with("\"a lab\"", &format!("\"{}\"", "\u{e9}".repeat(300)))).is_ok());
    let enormous = refusals(&with("[flows.ftp]", &format!("{} = 1\n[flows.ftp]", "k".repeat(1_000_000))));
    assert!(enormous.to_string().len() < 2000, "{}", enormous.to_string().len());
}

/// Any file can be named as a trace: what is in it stays there, unless it looks like a number.
#[test]
fn the_content_of_what_is_not_a_trace_is_not_shown() {
    let text = with("\"622 Mbit/s\"", "{ trace = \"passwd\" }");
    let read = |trace: &str| {
        let trace = trace.to_owned();
        let document = Document::parse_with(&text, "lab.toml", move |_| Ok(trace.clone())).unwrap();
        document.cells().unwrap_err().to_string()
    };
    let said = read("root:*:20228:0:99999:7:::\n");
    assert!(
        said.starts_with("passwd:1: a text of 25 characters is not a time in milliseconds: write one whole"),
        "{said}"
    );
    assert!(!said.contains("20228"), "{said}");
    assert!(read("-1\n").contains("`-1` is not a time"));
}

/// A case that is wrong hides neither the values of its own axis nor those of the others.
#[test]
fn a_wrong_case_leaves_the_values_of_all_cases_to_be_read() {
    let sweep = "\n[[sweep.case]]\nname = 3\n\"flows.ftp.rtt\" = \"one\"\n[[sweep.case]]\nname = \"B\"\n\"flows.ftp.rtt\" = \"two\"\n\
                 [[sweep.case]]\n\"flows.ftp.rtt\" = \"three\"\n[[sweep.line]]\nname = \"fast\"\n\"links.bottleneck.rate\" = \"4\"\n";
    let errors = refusals(&format!("{}{sweep}", with("", ""))).to_string();
    for expected in
        ["`3` is not", "`one` is not", "`two` is not", "`three` is not", "a case without a name", "`4` is not"]
    {
        assert!(errors.contains(expected), "{expected}:\n{errors}");
    }
    assert_eq!(errors.lines().count(), 6, "{errors}");
}

/// A link with an error elsewhere still leads where it leads: what flows say of their way is read against it.
#[test]
fn an_error_of_a_link_hides_none_of_the_flows_over_it() {
    let text = with("\"1 bdp\"", "\"lots\"").replace("rtt = \"100 ms\"", "rtt = \"1 ms\"");
    let errors = refusals(&text);
    assert_said(
        &errors,
        &[
            "lab.toml:12:10: links.bottleneck.buffer: `lots` is not a buffer",
            "lab.toml:19:7: flows.ftp.rtt: `1 ms` is less",
        ],
    );
    let text = text.replacen("to = \"right\"\nrtt", "to = \"rigth\"\nrtt", 1).replace("\"20 s\"", "\"90 s\"");
    assert_eq!(refusals(&text).all().len(), 3, "{}", refusals(&text));
}
