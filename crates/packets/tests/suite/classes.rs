//! Classes of traffic: laws that treat them apart, and what is measured of them.

use crate::laboratory::run;
use penstock_scenario::world::Run;

fn lab(duration: &str, link: &str, rest: &str) -> String {
    format!(
        "format = 1\nduration = \"{duration}\"\nwarmup = \"2 s\"\nsample = \"100 ms\"\npacket = \"1500 B\"\n[links.b]\nfrom = \"l\"\nto = \"r\"\n\
         rate = \"100 Mbit/s\"\ndelay = \"1 ms\"\nbuffer = \"300 kB\"\n{link}\n[defaults.flows]\nfrom = \"l\"\nto = \"r\"\nrtt = \"4 ms\"\n{rest}\n"
    )
}
fn cbr(name: &str, rate: &str) -> String {
    format!(
        "[flows.{name}]\nclass = \"{name}\"\nstart = \"0 s\"\ncc = {{ law = \"cbr\", rate = \"{rate}\", spacing_jitter = 0.1 }}\n"
    )
}
fn served(run: &Run, class: &str) -> f64 {
    run.summary.whole.classes[class].served_bit_per_s / 1e6
}

/// Each packet of a sender without acknowledgements has a coin of its own: a loss of 0.3 takes 0.3 of them, in many short
/// runs of losses, and not all or none.
#[test]
fn packets_without_acknowledgements_have_coins_of_their_own() {
    let text = lab("12 s", "loss = 0.3", &cbr("udp", "60 Mbit/s"));
    let run = run(&text);
    let rate = run.summary.whole.groups["udp"].loss_rate;
    // 50,000 packets: a standard deviation of 0.002.
    assert!((rate - 0.3).abs() < 0.01, "{rate}");
    let throughput = run.series.iter().find(|table| table.name == "classes").unwrap();
    let served = throughput.number("served_bit_per_s").unwrap();
    assert!(served.iter().skip(1).all(|x| (x / 42e6 - 1.0).abs() < 0.15), "in each tenth of a second");
}

/// BAT's equal constants give sources that do not respond equal rates whatever they offer, which is max-min; who wants
/// less has it. Seen from the summary: served, max-min share, fairness index.
#[test]
fn bat_shares_by_max_min_between_sources_that_do_not_respond() {
    for (offered, wanted) in
        [(["100", "100"], [50.0, 50.0]), (["200", "70"], [50.0, 50.0]), (["200", "20"], [80.0, 20.0])]
    {
        let [one, other] = offered.map(|mbit| format!("{mbit} Mbit/s"));
        let run = run(&lab("20 s", "aqm = { law = \"bat\" }", &(cbr("one", &one) + &cbr("other", &other))));
        let whole = &run.summary.whole;
        for (class, wanted) in ["one", "other"].into_iter().zip(wanted) {
            assert!((served(&run, class) - wanted).abs() < 1.5, "{offered:?}: {class} {}", served(&run, class));
            let share = whole.classes[class].max_min_bit_per_s.unwrap() / 1e6;
            assert!((share - wanted).abs() < 0.1, "{offered:?}: {class} {share}");
        }
        assert!(whole.links["b"].utilization > 0.99);
        assert!(whole.links["b"].queue_mean_packets < 130.0, "{}", whole.links["b"].queue_mean_packets);
        let fairness = whole.fairness.as_ref().unwrap();
        assert!(fairness.classes.unwrap() > 0.999, "{fairness:?}");
        assert!(fairness.classes_mean.unwrap() > 0.98 && fairness.classes_mean < fairness.classes, "{fairness:?}");
    }
}

/// Drop-tail, whose shares have nothing to do with max-min: of two classes with a ratio q where 1 is wanted the summary
/// says (1 + q)^2 / (2 (1 + q^2)).
#[test]
fn the_fairness_index_tells_how_far_drop_tail_is_from_max_min() {
    let run = run(&lab("12 s", "", &(cbr("one", "180 Mbit/s") + &cbr("other", "60 Mbit/s"))));
    let q = run.summary.whole.classes["one"].ratio.unwrap();
    assert!(q > 2.0, "{q}");
    let index = run.summary.whole.fairness.as_ref().unwrap().classes.unwrap();
    assert!((index - (1.0 + q) * (1.0 + q) / (2.0 * (1.0 + q * q))).abs() < 1e-6, "{index}");
}

const SHARES: &str = "[classes.udp]\nshare = 0.3\n[classes.tcp]\n";
const TCP: &str =
    "[flows.tcp]\ncount = 40\nrtt = { uniform = [\"4 ms\", \"60 ms\"] }\nclass = \"tcp\"\ncc = { law = \"newreno\" }\n";

/// CLCC holds a source that does not respond to its share beside others that do, on either inner law, where the inner
/// law alone gives it far more; and each class's numbers are in the series.
#[test]
fn clcc_holds_a_class_to_its_share() {
    let text = |aqm: &str| {
        lab("40 s", &format!("aqm = {{ {aqm} }}"), &(cbr("udp", "90 Mbit/s") + TCP + SHARES))
            .replace("\"2 s\"", "\"20 s\"")
    };
    let ratio = |aqm: &str| run(&text(aqm)).summary.whole.classes["udp"].ratio.unwrap() / (3.0 / 7.0);
    assert!(ratio("law = \"bat\"") > 2.0);
    assert!(ratio("law = \"aimd\"") > 2.0);
    assert!((ratio("law = \"clcc\", inner = \"aimd\"") - 1.0).abs() < 0.05);
    let run = run(&text("law = \"clcc\""));
    let whole = &run.summary.whole;
    let udp = &whole.classes["udp"];
    assert!((udp.ratio.unwrap() / udp.reference.unwrap() - 1.0).abs() < 0.05, "{udp:?}");
    assert!(udp.ratio_sd.unwrap() > 0.0 && whole.fairness.as_ref().unwrap().classes.unwrap() > 0.99);
    assert!((udp.max_min_bit_per_s.unwrap() / 30e6 - 1.0).abs() < 1e-6, "{udp:?}");
    // The law's own reading of the last second is near what receivers got, and it has turned one decrease only.
    let law = &whole.links["b"].classes;
    assert!((law["udp"]["ratio"] / (3.0 / 7.0) - 1.0).abs() < 0.4, "{law:?}");
    assert!(law["udp"]["decrease"] > 2.0 * 0.031_25 && law["tcp"]["decrease"] == 0.031_25, "{law:?}");
    let series = run.series.iter().find(|table| table.name == "link_classes").unwrap();
    let transmit = series.number("transmit").unwrap();
    assert_eq!(transmit.len(), 2 * 400, "two classes, ten times a second");
    assert!(transmit.iter().all(|t| (0.0..=1.0).contains(t)));
}

/// A class that is silent, comes, goes and comes again: the others have the line meanwhile, and its decrease is held, so
/// that it is near its share at once when it is back.
#[test]
fn a_class_that_comes_and_goes() {
    let udp = "[flows.udp]\nclass = \"udp\"\nstart = \"0 s\"\ncc = { law = \"cbr\", rate = [[\"0 s\", \"90 Mbit/s\"], [\"30 s\", \"1 kbit/s\"], [\"50 s\", \"90 Mbit/s\"]] }\n";
    let windows = "[windows]\nfirst = [\"20 s\", \"30 s\"]\naway = [\"32 s\", \"50 s\"]\nback = [\"51 s\", \"55 s\"]\n";
    let run = run(&lab("60 s", "aqm = { law = \"clcc\" }", &format!("{udp}{TCP}{SHARES}{windows}")));
    let window = |name: &str| &run.summary.windows[name];
    let ratio = |name: &str| window(name).classes["udp"].ratio.unwrap() / (3.0 / 7.0);
    assert!((ratio("first") - 1.0).abs() < 0.1, "{}", ratio("first"));
    assert!(window("away").classes["tcp"].served_bit_per_s > 97e6);
    assert!((ratio("back") - 1.0).abs() < 0.25, "{}", ratio("back"));
    let decrease = |name: &str| window(name).links["b"].classes["udp"]["decrease"];
    assert!((decrease("away") / decrease("first") - 1.0).abs() < 0.5, "{} {}", decrease("away"), decrease("first"));
}

/// Everybody is silent for a while: probabilities rise to one, the loop holds still, and the run goes on.
#[test]
fn all_classes_idle() {
    let schedule = "rate = [[\"0 s\", \"90 Mbit/s\"], [\"5 s\", \"1 bit/s\"], [\"15 s\", \"90 Mbit/s\"]]";
    let one = |name: &str| {
        format!("[flows.{name}]\nclass = \"{name}\"\nstart = \"0 s\"\ncc = {{ law = \"cbr\", {schedule} }}\n")
    };
    let windows = "[windows]\nbusy = [\"3 s\", \"5 s\"]\nidle = [\"6 s\", \"15 s\"]\nback = [\"16 s\", \"20 s\"]\n";
    let rest = one("udp") + &one("tcp") + SHARES + windows;
    let run = run(&lab("20 s", "aqm = { law = \"clcc\" }", &rest));
    let law = |window: &str| &run.summary.windows[window].links["b"].classes;
    assert_eq!((law("idle")["udp"]["transmit"], law("idle")["tcp"]["transmit"]), (1.0, 1.0));
    let held = law("idle")["udp"]["decrease"] / law("busy")["udp"]["decrease"];
    // One step may fall into the second in which the silence begins.
    assert!((0.5..2.0).contains(&held), "{held}");
    assert!(run.summary.windows["back"].links["b"].utilization > 0.99);
}
