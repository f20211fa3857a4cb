//! What is refused, on which line, for which key, and what is said to do instead.

use super::{LAB, PARKING_LOT, cells, refusal, with};
use crate::read::Document;

/// A text of `LAB`, what stands in its place, and what the refusal says.
#[rustfmt::skip] // one refusal a line
const REFUSED: &[(&str, &str, &str)] = &[
    // Not TOML.
    ("format = 1", "format = = 1", "lab.toml:1: not TOML: "),
    ("title = \"a lab\"", "title = \"a lab", "lab.toml:2: not TOML: "),
    ("count = 100", "count = 100\ncount = 3", "lab.toml:17: not TOML: duplicate key"),
    ("[flows.ftp]", "[flows.ftp", "lab.toml:15: not TOML: "),
    // The top.
    ("format = 1\n", "", "lab.toml:1: format: missing: write `format = 1`"),
    ("format = 1", "format = 2", "lab.toml:1: format: `2` is not a format that this version reads: write `format = 1`"),
    ("format = 1", "format = \"1\"", "lab.toml:1: format: `1` is not a format"),
    ("title = \"a lab\"", "title = 3", "lab.toml:2: title: `3` is not text"),
    ("title = \"a lab\"", "title = \"a\\nlab\"", "lab.toml:2: title: `a\nlab` is not one line of text"),
    ("title = \"a lab\"", "titel = \"a lab\"", "lab.toml:2: titel: the key `titel` is unknown here: did you mean `title`? Known: `format`, `title`"),
    ("duration = \"60 s\"\n", "", "lab.toml:1: duration: missing: write how long"),
    ("\"60 s\"", "60", "lab.toml:3: duration: `60` is not a duration: write a number and a unit, as in `60 ms`"),
    ("\"60 s\"", "\"0 s\"", "lab.toml:3: duration: `0 s` is no time at all: write a duration above zero"),
    ("\"60 s\"", "\"-60 s\"", "lab.toml:3: duration: `-60 s` is negative: write a duration of zero or more"),
    ("\"60 s\"", "\"201 days\"", "lab.toml:3: duration: `201 days` is not a duration: write a number and a unit, as in `201 ms` (known: ns, us, ms, s, min, h)"),
    ("\"60 s\"", "\"4801 h\"", "lab.toml:3: duration: `4801 h` is too long: write at most `4800 h`"),
    ("\"60 s\"", "\"1e30 s\"", "lab.toml:3: duration: `1e30 s` is too "),
    ("\"60 s\"", "\"1e-30 s\"", "lab.toml:3: duration: `1e-30 s` is too small"),
    ("\"60 s\"", "\"nan s\"", "lab.toml:3: duration: `nan s` is not a duration"),
    ("\"60 s\"", "inf", "lab.toml:3: duration: `inf` is not a duration: write a number and a unit, as in `10 ms`"),
    ("\"60 s\"", "[]", "lab.toml:3: duration: `[]` is not a duration"),
    ("\"60 s\"", "1979-05-27", "lab.toml:3: duration: `1979-05-27` is not a duration"),
    ("\"20 s\"", "\"60 s\"", "lab.toml:4: warmup: a warm-up of 60 s leaves nothing to measure: write less than the duration, 60 s"),
    ("title =", "seed = -1\ntitle =", "lab.toml:2: seed: `-1` is negative: write a whole number from 0"),
    ("title =", "seed = 1.5\ntitle =", "lab.toml:2: seed: `1.5` is not a whole number"),
    ("title =", "seed = 9223372036854775808\ntitle =", "lab.toml:2: seed: `9223372036854775808` is out of range"),
    ("title =", "sample = \"0 s\"\ntitle =", "lab.toml:2: sample: `0 s` is no time at all"),
    ("title =", "sample = \"1 us\"\ntitle =", "lab.toml:2: sample: a sample every 1 us makes series of 60000000 rows: write at least `6 us`"),
    ("\"1000 B\"", "\"40 B\"", "lab.toml:5: packet: a packet of `40 B` has no room for data behind 40 B of header"),
    ("\"1000 B\"", "\"1 MB\"", "lab.toml:5: packet: a packet of 1 MB: write at most `65535 B`"),
    ("\"1000 B\"", "1000", "lab.toml:5: packet: `1000` is not a size: write a number and a unit, as in `1000 kB`"),
    ("\"1000 B\"", "{ wire = \"1000 B\" }", "lab.toml:5: packet.payload: missing"),
    ("\"1000 B\"", "{ wire = \"1000 B\", payload = \"1000 B\" }", "lab.toml:5: packet.payload: a payload of `1000 B` in a packet of 1000 B"),
    ("[links.bottleneck]", "[classes.udp]\nshare = 0.3\n[links.bottleneck]", "lab.toml:7: classes: `classes` is part of format 1 but this version does not simulate it yet"),
    ("[links.bottleneck]", "[customers.C1]\n[links.bottleneck]", "lab.toml:7: customers: `customers` is part of format 1"),
    ("[links.bottleneck]", "[stop]\nwhen = \"x\"\n[links.bottleneck]", "lab.toml:7: stop: `stop` is part of format 1"),
    // Links.
    ("[links.bottleneck]", "[links]\nx = 1\n[links.bottleneck]", "lab.toml:8: links.x: `1` is not a table: write a table, as in `[links.bottleneck]`"),
    ("from = \"left\"\nto = \"right\"\nrate", "to = \"right\"\nrate", "lab.toml:7: links.bottleneck.from: missing: write the name of a node"),
    ("to = \"right\"\nrate", "to = \"left\"\nrate", "lab.toml:9: links.bottleneck.to: `left` is also where the link begins"),
    ("to = \"right\"\nrate", "to = 3\nrate", "lab.toml:9: links.bottleneck.to: `3` is not text"),
    ("to = \"right\"\nrate", "to = \"\"\nrate", "lab.toml:9: links.bottleneck.to: `` is not a name"),
    ("rate = \"622 Mbit/s\"\n", "", "lab.toml:7: links.bottleneck.rate: missing: write a rate"),
    ("\"622 Mbit/s\"", "\"622 Mbps\"", "lab.toml:10: links.bottleneck.rate: `622 Mbps` is not a rate: write a number and a unit, as in `622 Mbit/s` (known: bit/s"),
    ("\"622 Mbit/s\"", "\"0 Mbit/s\"", "lab.toml:10: links.bottleneck.rate: a link at `0 Mbit/s` carries nothing: write a rate above zero"),
    ("\"622 Mbit/s\"", "\"-1 bit/s\"", "lab.toml:10: links.bottleneck.rate: `-1 bit/s` is negative"),
    ("\"622 Mbit/s\"", "\"1e9 Tbit/s\"", "lab.toml:10: links.bottleneck.rate: `1e9 Tbit/s` is too fast: write at most `100 Tbit/s`"),
    ("\"622 Mbit/s\"", "[[\"0 s\", \"1 Mbit/s\"]]", "lab.toml:10: links.bottleneck.rate: `a rate that follows a schedule` is part of format 1"),
    ("\"622 Mbit/s\"", "{ trace = \"file\" }", "lab.toml:10: links.bottleneck.rate: `rate = { trace = ... }` is part of format 1"),
    ("\"10 ms\"", "\"10\"", "lab.toml:11: links.bottleneck.delay: `10` is not a duration: write a number and a unit, as in `10 ms`"),
    ("delay = \"10 ms\"\n", "", "lab.toml:7: links.bottleneck.delay: missing"),
    ("\"1 bdp\"", "\"500 B\"", "lab.toml:12: links.bottleneck.buffer: a buffer of `500 B` cannot hold a packet: write at least `1000 B`"),
    ("\"1 bdp\"", "\"0 packets\"", "lab.toml:12: links.bottleneck.buffer: a buffer of `0 packets` cannot hold a packet: write at least `1 packet`"),
    ("\"1 bdp\"", "\"1.5 packets\"", "lab.toml:12: links.bottleneck.buffer: `1.5 packets` is not a whole number of packets: write `2 packets`"),
    ("\"1 bdp\"", "\"lots\"", "lab.toml:12: links.bottleneck.buffer: `lots` is not a buffer: write `unlimited`, or packets, bytes"),
    ("\"1 bdp\"", "100", "lab.toml:12: links.bottleneck.buffer: `100` is not a buffer"),
    ("\"1 bdp\"", "\"0 bdp\"", "lab.toml:12: links.bottleneck.buffer: `0 bdp` is out of range"),
    ("\"1 bdp\"", "\"-1 bdp\"", "lab.toml:12: links.bottleneck.buffer: `-1 bdp` is negative"),
    ("duplex = true", "duplex = \"yes\"", "lab.toml:13: links.bottleneck.duplex: `yes` is not a switch: write `true` or `false`"),
    ("duplex = true", "loss = 1.0", "lab.toml:13: links.bottleneck.loss: `1` is not a probability of loss: write a number from 0 to below 1"),
    ("duplex = true", "loss = nan", "lab.toml:13: links.bottleneck.loss: `NaN` is not a number"),
    ("duplex = true", "loss = -0.1", "lab.toml:13: links.bottleneck.loss: `-0.1` is not a probability"),
    ("duplex = true", "scheduler = { law = \"drr\" }", "lab.toml:13: links.bottleneck.scheduler: `scheduler` is part of format 1"),
    ("duplex = true", "bufer = \"x\"", "lab.toml:13: links.bottleneck.bufer: the key `bufer` is unknown here: did you mean `buffer`?"),
    ("duplex = true", "aqm = \"red\"", "lab.toml:13: links.bottleneck.aqm: `red` is not a table that names a law (AQM): write `{ law = \"red\" }`"),
    ("duplex = true", "aqm = { ecn = true }", "lab.toml:13: links.bottleneck.aqm: `{ ecn = true }` is not a table that names a law: add `law`"),
    ("duplex = true", "aqm = { law = \"rd\" }", "lab.toml:13: links.bottleneck.aqm.law: no AQM is named `rd`: did you mean `red`? Known: `droptail`, `red`, `price`"),
    ("duplex = true", "aqm = { law = \"droptail\", limit = 3 }", "lab.toml:13: links.bottleneck.aqm.limit: `droptail` has no parameter `limit`: `droptail` has no parameters"),
    ("duplex = true", "aqm = { law = \"red\", max_p = 2 }", "lab.toml:13: links.bottleneck.aqm.max_p: `2` is outside the range of `max_p` of the law `red`: write `1e-9` to `1`"),
    ("duplex = true", "aqm = { law = \"red\", max_p = nan }", "lab.toml:13: links.bottleneck.aqm.max_p: `NaN` is not a number"),
    ("duplex = true", "aqm = { law = \"red\", ecn = 1 }", "lab.toml:13: links.bottleneck.aqm.ecn: `1` is not a switch"),
    ("duplex = true", "aqm = { law = \"red\", min_threshold = 5 }", "lab.toml:13: links.bottleneck.aqm.min_threshold: `5` is not a number of packets: write a number and a unit, as in `5 packets`"),
    ("duplex = true", "aqm = { law = \"red\", max_p = \"automatic\" }", "lab.toml:13: links.bottleneck.aqm.max_p: `automatic` is not a number"),
    ("duplex = true", "aqm = { law = \"red\", min_threshold = \"50 packets\", max_threshold = \"20 packets\" }", "lab.toml:13: links.bottleneck.aqm: the law `red` cannot run like this: its parameters contradict each other or the place: `max_threshold` (20 packets) must be above"),
    // Flows.
    ("[flows.ftp]", "[flows.\"\"]", "lab.toml:15: flows.\"\": `` is not a name"),
    ("count = 100", "count = 0", "lab.toml:16: flows.ftp.count: `0` is out of range: write a whole number from 1 to 10000000"),
    ("count = 100", "count = 1e30", "lab.toml:16: flows.ftp.count: `1e30` is not a whole number"),
    ("count = 100", "count = 1000000000000000000000000000000", "lab.toml:16: flows.ftp.count: `1000000000000000000000000000000` is out of range"),
    ("count = 100", "count = -3", "lab.toml:16: flows.ftp.count: `-3` is negative"),
    ("count = 100", "count = \"many\"", "lab.toml:16: flows.ftp.count: `many` is not a whole number"),
    ("from = \"left\"\nto = \"right\"\nrtt", "from = \"lft\"\nto = \"right\"\nrtt", "lab.toml:17: flows.ftp.from: no link touches a node named `lft`: did you mean `left`? Known: `left`, `right`"),
    ("to = \"right\"\nrtt", "to = \"left\"\nrtt", "lab.toml:18: flows.ftp.to: `left` is also where the flow begins"),
    ("to = \"right\"\nrtt", "rtt", "lab.toml:15: flows.ftp.to: missing"),
    ("rtt = \"100 ms\"", "via = []", "lab.toml:19: flows.ftp.via: the route has no links"),
    ("rtt = \"100 ms\"", "via = [\"bottlneck\"]", "lab.toml:19: flows.ftp.via[0]: no link is named `bottlneck`: did you mean `bottleneck`?"),
    ("rtt = \"100 ms\"", "via = [\"bottleneck/back\"]", "lab.toml:19: flows.ftp.via[0]: the link `bottleneck/back` leaves `right`, but the route stands at `left`"),
    ("rtt = \"100 ms\"", "via = [\"bottleneck\", \"bottleneck/back\"]", "lab.toml:19: flows.ftp.via: the route ends at `left`, not at `right`"),
    ("rtt = \"100 ms\"", "via = [\"bottleneck\", \"bottleneck/back\", \"bottleneck\"]", "lab.toml:19: flows.ftp.via[2]: the route takes `bottleneck` twice"),
    ("rtt = \"100 ms\"", "via = \"bottleneck\"", "lab.toml:19: flows.ftp.via: `bottleneck` is not a list"),
    ("\"100 ms\"", "\"19 ms\"", "lab.toml:19: flows.ftp.rtt: `19 ms` is less than the 20 ms that the links on the way there and back take: write at least `20 ms`"),
    ("\"100 ms\"", "{ spread = [\"40 ms\", \"10 ms\"] }", "lab.toml:19: flows.ftp.rtt: `10 ms` is less than the 20 ms"),
    ("\"100 ms\"", "{ spread = [\"40 ms\"] }", "lab.toml:19: flows.ftp.rtt.spread: `[\"40 ms\"]` is not a pair of durations"),
    ("\"100 ms\"", "{ uniform = [\"200 ms\", \"40 ms\"] }", "lab.toml:19: flows.ftp.rtt.uniform: `[\"200 ms\", \"40 ms\"]` ends before it begins"),
    ("\"100 ms\"", "{ normal = [\"200 ms\", \"40 ms\"] }", "lab.toml:19: flows.ftp.rtt.normal: the key `normal` is unknown here"),
    ("\"100 ms\"", "{}", "lab.toml:19: flows.ftp.rtt: `{}` is not a round-trip time"),
    ("\"100 ms\"", "[\"40 ms\", \"50 ms\"]", "lab.toml:19: flows.ftp.rtt: 2 round-trip times for 100 flows: write one a flow, or `count = 2`"),
    ("\"100 ms\"", "[40, 50]", "lab.toml:19: flows.ftp.rtt[0]: `40` is not a duration"),
    ("\"100 ms\"", "[\n\"40 ms\",\n50]", "lab.toml:21: flows.ftp.rtt[1]: `50` is not a duration"),
    ("cc = {", "start = \"60 s\"\ncc = {", "lab.toml:20: flows.ftp.start: the last flow would start at 60 s, when the run is over"),
    ("cc = {", "start = { every = \"1 s\" }\ncc = {", "lab.toml:20: flows.ftp.start: the last flow would start at 99 s"),
    ("cc = {", "start = { every = \"4800 h\" }\ncc = {", "lab.toml:20: flows.ftp.start: the last flow would start at "),
    ("cc = {", "start = { from = \"1 s\" }\ncc = {", "lab.toml:20: flows.ftp.start: `{ from = \"1 s\" }` is not a start"),
    ("cc = {", "start = { uniform = [\"5 s\", \"1 s\"] }\ncc = {", "lab.toml:20: flows.ftp.start.uniform: "),
    ("cc = {", "stop = \"500 ms\"\ncc = {", "lab.toml:20: flows.ftp.stop: the flows stop at 500 ms, but the last may start at 1 s"),
    ("cc = {", "size = \"0 B\"\ncc = {", "lab.toml:20: flows.ftp.size: a transfer of nothing"),
    ("cc = {", "size = { pareto = { mean = \"1 kB\", shape = 1.2 } }\ncc = {", "lab.toml:20: flows.ftp.size: `size = { pareto = ... }` is part of format 1"),
    ("cc = {", "series = 1\ncc = {", "lab.toml:20: flows.ftp.series: `1` is not a switch"),
    ("cc = {", "access = { rate = \"1 Gbit/s\" }\ncc = {", "lab.toml:20: flows.ftp.access: `access` is part of format 1 but this version does not simulate it yet"),
    ("cc = {", "on_off = {}\ncc = {", "lab.toml:20: flows.ftp.on_off: `on_off` is part of format 1"),
    ("cc = {", "sender = { burst = \"1 packet\" }\ncc = {", "lab.toml:20: flows.ftp.sender.burst: `burst` is part of format 1"),
    ("cc = {", "sender = { recovery = \"reno\" }\ncc = {", "lab.toml:20: flows.ftp.sender.recovery: `recovery = \"reno\"` is part of format 1"),
    ("cc = {", "sender = { recovery = \"tahoe\" }\ncc = {", "lab.toml:20: flows.ftp.sender.recovery: `tahoe` is not known here: known: `sack`, `newreno`"),
    ("cc = {", "sender = { delayed_ack = 3 }\ncc = {", "lab.toml:20: flows.ftp.sender.delayed_ack: `3` is out of range: write a whole number from 1 to 2"),
    ("cc = {", "sender = { initial_window = 0.5 }\ncc = {", "lab.toml:20: flows.ftp.sender.initial_window: `0.5` is out of range: write a number of packets, at least 1"),
    ("cc = {", "sender = { initial_window = \"unlimited\" }\ncc = {", "lab.toml:20: flows.ftp.sender.initial_window: `unlimited` is not a number of packets"),
    ("cc = {", "sender = { ssthresh = true }\ncc = {", "lab.toml:20: flows.ftp.sender.ssthresh: `true` is not a number of packets: write a number of packets, or \"unlimited\""),
    ("cc = {", "sender = { receive_window = -1 }\ncc = {", "lab.toml:20: flows.ftp.sender.receive_window: `-1` is out of range"),
    ("cc = {", "sender = { min_rto = \"0 s\" }\ncc = {", "lab.toml:20: flows.ftp.sender.min_rto: a timeout of nothing"),
    ("cc = {", "sender = { arithmetic = \"fixed\" }\ncc = {", "lab.toml:20: flows.ftp.sender.arithmetic: the law `newreno` has no fixed-point build: write `\"f64\"`"),
    ("cc = { law = \"newreno\", ecn = true }", "cc = { law = \"leadlag\" }\nsender = { ecn_echo = \"classic\" }", "lab.toml:21: flows.ftp.sender.ecn_echo: `classic` does not go with the law `leadlag`"),
    ("cc = { law = \"newreno\", ecn = true }\n", "", "lab.toml:15: flows.ftp.cc: missing: name the law of its senders"),
    ("\"newreno\", ecn", "\"newrno\", ecn", "lab.toml:20: flows.ftp.cc.law: no controller is named `newrno`: did you mean `newreno`?"),
    ("ecn = true", "ecm = true", "lab.toml:20: flows.ftp.cc.ecm: `newreno` has no parameter `ecm`: did you mean `ecn`?"),
    ("law = \"newreno\", ecn = true", "law = \"cbr\"", "lab.toml:20: flows.ftp.cc: the law `cbr` needs `rate`"),
    ("law = \"newreno\", ecn = true", "law = \"cbr\", rate = \"-9 Mbit/s\"", "lab.toml:20: flows.ftp.cc.rate: `-9 Mbit/s` is outside the range of `rate` of the law `cbr`: write `1 bit/s` to `1 Tbit/s`"),
    ("law = \"newreno\", ecn = true", "law = \"cbr\", rate = \"9 Mbit/s\", spacing_jitter = 0.1", "lab.toml:20: flows.ftp.cc.spacing_jitter: `spacing_jitter` is part of format 1"),
    ("law = \"newreno\", ecn = true", "law = \"fast\", alpha = \"-5 packets\"", "lab.toml:20: flows.ftp.cc.alpha: `-5 packets` is outside the range of `alpha` of the law `fast`: write `0 packets` to `1000000 packets`"),
    ("law = \"newreno\", ecn = true", "law = \"leadlag\", N = \"1.5 packets\"", "lab.toml:20: flows.ftp.cc: the law `leadlag` cannot run like this"),
    ("law = \"newreno\", ecn = true", "law = 7", "lab.toml:20: flows.ftp.cc.law: `7` is not text"),
    // Windows.
    ("[flows.ftp]", "[windows]\na = [\"5 s\", \"5 s\"]\n[flows.ftp]", "lab.toml:16: windows.a: the window `[\"5 s\", \"5 s\"]` is empty"),
    ("[flows.ftp]", "[windows]\na = [\"5 s\", \"61 s\"]\n[flows.ftp]", "lab.toml:16: windows.a: the window ends at 61 s, after the run: end it at 60 s"),
    ("[flows.ftp]", "[windows]\na = [\"5 s\"]\n[flows.ftp]", "lab.toml:16: windows.a: `[\"5 s\"]` is not a pair of durations"),
];

#[test]
fn every_refusal_names_line_key_what_was_found_and_what_would_do() {
    let mut wrong = Vec::new();
    for (old, new, expected) in REFUSED {
        let said = refusal(&with(old, new));
        if !said.starts_with(expected) {
            wrong.push(format!("{new}\n  said:     {said}\n  expected: {expected}\n"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A sweep at the end of `LAB`, which has 20 lines, and what the refusal says.
const SWEEPS: &[(&str, &str)] = &[
    ("seed = { count = 0 }", "lab.toml:22: sweep.seed.count: `0` is out of range: write a whole number from 1"),
    ("seed = []", "lab.toml:22: sweep.seed: a list without seeds"),
    ("seed = [1, 1]", "lab.toml:22: sweep.seed[1]: `1` stands here twice"),
    ("seed = 3", "lab.toml:22: sweep.seed: `3` is not a list"),
    ("\"flows.ftp.count\" = []", "lab.toml:22: sweep.\"flows.ftp.count\": a list without values: write at least one"),
    ("\"flows.ftp.count\" = 3", "lab.toml:22: sweep.\"flows.ftp.count\": `3` is not a list"),
    ("\"flows.ftp.count\" = [3, 3]", "lab.toml:22: sweep.\"flows.ftp.count\"[1]: `3` stands here twice"),
    (
        "\"flows.ftp.count\" = [3, 0]",
        "lab.toml:22: flows.ftp.count: `0` is out of range: write a whole number from 1 to 10000000 (in the cell flows.ftp.count = 0)",
    ),
    (
        "\"flows.fpt.count\" = [3]",
        "lab.toml:22: flows.fpt.count: no group of flows is named `fpt`: did you mean `ftp`? Known: `ftp` (in the cell",
    ),
    (
        "\"flows.ftp.cuont\" = [3]",
        "lab.toml:22: flows.ftp.cuont: the key `cuont` is unknown here: did you mean `count`?",
    ),
    ("\"flows..count\" = [3]", "lab.toml:22: sweep.\"flows..count\": `flows..count` is not a dotted key"),
    ("\"format\" = [1]", "lab.toml:22: sweep.format: `format` cannot be swept"),
    (
        "\"title.x\" = [1]",
        "lab.toml:22: title.x: `title` is not a table, so `x` cannot be set in it: set `title` as a whole",
    ),
    (
        "\"flows.ftp.cc\" = [{ law = \"fast\" }]\n\"flows.ftp.cc.alpha\" = [\"5 packets\"]",
        "lab.toml:23: sweep.\"flows.ftp.cc.alpha\": `flows.ftp.cc.alpha` and `flows.ftp.cc` set the same thing",
    ),
    ("case = []", "lab.toml:22: sweep.case: a list without a case"),
    ("[[sweep.case]]\n\"flows.ftp.count\" = 3", "lab.toml:22: sweep.case[0]: a case without a name: add `name`"),
    (
        "[[sweep.case]]\nname = \"A\"\n[[sweep.case]]\nname = \"A\"",
        "lab.toml:25: sweep.case[1].name: `A` stands here twice as a case",
    ),
    (
        "[[sweep.case]]\nname = \"A\"\n\"flows.ftp.rtt\" = \"1 ms\"",
        "lab.toml:24: flows.ftp.rtt: `1 ms` is less than the 20 ms that the links on the way there and back take: write at least `20 ms`, or shorten the links (in the cell case = A)",
    ),
    (
        "seed = { count = 2 }\n[[sweep.case]]\nname = \"A\"\nseed = 3",
        "lab.toml:25: sweep.case[0].seed: `seed` and `seed` set the same thing",
    ),
];

#[test]
fn every_refusal_in_a_sweep_names_the_cell() {
    let mut wrong = Vec::new();
    for (sweep, expected) in SWEEPS {
        let said = refusal(&format!("{LAB}[sweep]\n{sweep}\n"));
        if !said.starts_with(expected) {
            wrong.push(format!("{sweep}\n  said:     {said}\n  expected: {expected}\n"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_sweep_of_too_many_cells_is_refused() {
    let list = |n: usize| (1..=n).map(|i| i.to_string()).collect::<Vec<_>>().join(", ");
    let sweep = format!("{LAB}[sweep]\nseed = {{ count = 1000 }}\n\"flows.ftp.count\" = [{}]\n", list(101));
    assert!(
        refusal(&sweep)
            .starts_with("lab.toml:21: sweep: 101 x 1000 cells are too many: write a sweep of at most 100000")
    );
    let heavy = with("count = 100", &format!("rtts = [{}]\ncount = 100", list(2000)));
    let sweep = format!("{heavy}[sweep]\nseed = [{}]\n", list(90_000));
    assert!(refusal(&sweep).contains("sweep: 90000 cells of "), "{}", refusal(&sweep));
}

#[test]
fn what_no_machine_can_hold_is_refused_with_the_estimate() {
    let many = with("count = 100", "count = 10_000_000");
    let other = "[flows.more]\ncount = 10_000_000\nfrom = \"left\"\nto = \"right\"\ncc = { law = \"fast\" }\n";
    let said = refusal(&format!("{many}{other}"));
    assert!(
        said.starts_with("lab.toml:21: flows.more: with these there are 20000000 flows, which take about 20 GB"),
        "{said}"
    );
    let said = refusal(&with("count = 100", "count = 1_000_000\nseries = true"));
    assert!(said.contains("flows.ftp: the series of 600 rows take about 48 GB of memory"), "{said}");
    let said = refusal(&with("622 Mbit/s", "100 Tbit/s").replacen("\"100 ms\"", "\"50 s\"", 1));
    assert!(said.contains("links.bottleneck: the packets under way at its rate take about 20000 GB"), "{said}");
}

#[test]
fn a_way_back_is_changed_in_five_keys_only() {
    let over = |text: &str| with("[flows.ftp]", &format!("[links.\"bottleneck/back\"]\n{text}\n[flows.ftp]"));
    let said = refusal(&over("from = \"right\""));
    assert!(said.starts_with("lab.toml:16: links.\"bottleneck/back\".from: the key `from` is unknown here"), "{said}");
    // Without `duplex` it is a link like any other.
    let said = refusal(&over("loss = 0.1").replacen("duplex = true\n", "", 1));
    assert!(said.starts_with("lab.toml:14: links.\"bottleneck/back\".from: missing"), "{said}");
}

#[test]
fn a_scenario_without_flows_or_without_a_route_is_refused() {
    let (links, _) = LAB.split_once("[flows.ftp]").unwrap();
    assert!(refusal(links).starts_with("lab.toml:1: flows: missing: add a group of flows"));
    assert!(refusal(&format!("{links}[flows]\n")).starts_with("lab.toml:15: flows: no flows"));
    let there = PARKING_LOT
        .replace("from = \"b\"\nto = \"c\"\nsize", "from = \"c\"\nto = \"b\"\nsize")
        .replace("duplex = true", "");
    let there = there.replace("[links.\"first/back\"]\nrate = \"1 Mbit/s\"\nloss = 0.01\n", "");
    assert!(
        refusal(&there).contains("flows.short.to: no route leads from `c` to `b`: add a link"),
        "{}",
        refusal(&there)
    );
    let unused = with(
        "duplex = true",
        "[links.unused]\nfrom = \"x\"\nto = \"y\"\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\nbuffer = \"1 bdp\"",
    );
    assert!(refusal(&unused).contains("links.unused.buffer: `1 bdp` has no meaning, for no flow crosses `unused`"));
}

#[test]
fn a_setting_that_cannot_be_is_refused_by_its_own_text() {
    let set = |key: &str, value: &str| {
        let mut document = Document::parse(LAB, "lab.toml").unwrap();
        let refused = document.set(key, value).and_then(|()| document.cells().map(|_| ()));
        refused.expect_err(key).to_string()
    };
    for (key, value, expected) in [
        (
            "links.bottleneck.rate",
            "fast",
            "lab.toml: links.bottleneck.rate: `fast` is not a rate: write a number and a unit, as in `10 Mbit/s` (from `--set links.bottleneck.rate=fast`)",
        ),
        (
            "links.botleneck.rate",
            "1 bit/s",
            "lab.toml: links.botleneck.rate: no link is named `botleneck`: did you mean `bottleneck`?",
        ),
        (
            "links.bottleneck.rat",
            "1 bit/s",
            "lab.toml: links.bottleneck.rat: the key `rat` is unknown here: did you mean `rate`?",
        ),
        ("links..rate", "1 bit/s", "lab.toml: links..rate: `links..rate` is not a dotted key"),
        ("", "1", "lab.toml: `` is not a dotted key"),
        ("duration.x", "1 s", "lab.toml: duration.x: `duration` is not a table"),
        ("flows.ftp.cc", "{ law = ", "lab.toml: flows.ftp.cc: `{ law = ` is not TOML: "),
        ("flows.ftp.count", "0", "lab.toml: flows.ftp.count: `0` is out of range"),
        ("flows.ftp.rtt", "10 ms", "lab.toml: flows.ftp.rtt: `10 ms` is less than the 20 ms"),
    ] {
        let said = set(key, value);
        assert!(said.starts_with(expected), "said:     {said}\nexpected: {expected}");
    }
}

#[test]
fn what_is_not_a_scenario_at_all_is_refused() {
    for text in [
        "",
        "\0\u{1}\u{2}",
        "[",
        "\u{feff}",
        "= 1",
        "format = 1",
        "\"\" = 1",
        "a.b.c.d = { e = [[[[[1]]]]] }",
        "\r\n\r",
    ] {
        assert!(cells(text).is_err(), "{text:?}");
    }
    for depth in [50, 500, 50_000] {
        let nested = format!("format = 1\nx = {}1{}", "[".repeat(depth), "]".repeat(depth));
        assert!(cells(&nested).is_err());
        let tables = format!("format = 1\nx = {}1{}", "{ a = ".repeat(depth), "}".repeat(depth));
        assert!(cells(&tables).is_err());
        let dotted = format!("format = 1\nx{} = 1", ".a".repeat(depth));
        assert!(cells(&dotted).is_err());
        let header = format!("format = 1\n[x{}]", ".a".repeat(depth));
        assert!(cells(&header).is_err());
    }
}

#[test]
fn a_text_cut_short_anywhere_does_not_stop_the_program() {
    for text in [LAB, PARKING_LOT] {
        for end in 0..text.len() {
            if let Err(error) = cells(&text[..end]) {
                assert!(error.to_string().starts_with("lab.toml:"), "{error}");
            }
        }
    }
}
