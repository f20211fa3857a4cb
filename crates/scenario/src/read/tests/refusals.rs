//! Refusals: their line, their key, and their remedy. One table, a refusal a line, which is why it is long.

mod size;

use super::{EVERYTHING, LAB, PARKING_LOT, cells, only, refusal, refusals, with, without_column};
use crate::read::Document;

/// A text of `LAB`, what stands in its place, and what the refusal says.
#[rustfmt::skip] // one refusal a line
const REFUSED: &[(&str, &str, &str)] = &[
    // Not TOML.
    ("format = 1", "format = = 1", "lab.toml:1: not TOML: "),
    ("title = \"a lab\"", "title = \"a lab", "lab.toml:2: not TOML: "),
    ("count = 100", "count = 100\ncount = 3", "lab.toml:17: not TOML: the key `count` appears twice, first on line 16: leave one of them out"),
    ("[flows.ftp]", "[links.bottleneck]\n[flows.ftp]", "lab.toml:15: not TOML: the key `bottleneck` appears twice, first on line 7: leave one of them out"),
    ("[flows.ftp]", "[links.bottleneck.aqm]\nlaw = \"red\"\n[flows.x]\ncount = 1\n[flows.ftp]\nrtt = \"1 s\"", "lab.toml:24: not TOML: the key `rtt` appears twice, first on line 20: leave one of them out"),
    ("law = \"newreno\"", "law = \"newreno\", law = \"fast\"", "lab.toml:20: not TOML: the key `law` appears twice: leave one of them out"),
    ("[flows.ftp]", "[flows.ftp", "lab.toml:15: not TOML: "),
    // The top.
    ("format = 1\n", "", "lab.toml:1: format: missing: write `format = 1`"),
    ("format = 1", "format = 2", "lab.toml:1: format: `2` is not a format that this version reads: write `format = 1`"),
    ("format = 1", "format = \"1\"", "lab.toml:1: format: `1` is not a format"),
    ("title = \"a lab\"", "title = 3", "lab.toml:2: title: `3` is not text"),
    ("title = \"a lab\"", "title = \"a\\nlab\"", "lab.toml:2: title: `a\nlab` is not one line of text"),
    ("title = \"a lab\"", "titel = \"a lab\"", "lab.toml:2: titel: the key `titel` is unknown here: did you mean `title`? Known: `format`, `title`"),
    ("duration = \"60 s\"\n", "", "lab.toml:1: duration: missing: write how long"),
    ("\"60 s\"", "60", "lab.toml:3: duration: `60` is not a duration: write its unit too (known: ps, ns, us, ms, s, min, h)"),
    ("\"60 s\"", "\"0 s\"", "lab.toml:3: duration: `0 s` is no time at all: write a duration above zero"),
    ("\"60 s\"", "\"-60 s\"", "lab.toml:3: duration: `-60 s` is negative: write a duration that is not negative"),
    ("\"60 s\"", "\"201 days\"", "lab.toml:3: duration: `201 days` is not a duration: write `4824 h` (known: ps, ns, us, ms, s, min, h)"),
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
    ("\"1000 B\"", "\"40 B\"", "lab.toml:5: packet: a packet of `40 B` has no space for data after 40 B of header"),
    ("\"1000 B\"", "\"1 MB\"", "lab.toml:5: packet: a packet of 1 MB: write at most `65535 B`"),
    ("\"1000 B\"", "1000", "lab.toml:5: packet: `1000` is not a size: write its unit too (known: B, kB"),
    ("\"1000 B\"", "{ wire = \"1000 B\" }", "lab.toml:5: packet.payload: missing"),
    ("\"1000 B\"", "{ wire = \"1000 B\", payload = \"1000 B\" }", "lab.toml:5: packet.payload: a payload of `1000 B` is not possible in a packet of 1000 B"),
    // Links.
    ("[links.bottleneck]", "[links]\nx = 1\n[links.bottleneck]", "lab.toml:8: links.x: `1` is not a table: write a table, as in `[links.bottleneck]`"),
    ("from = \"left\"\nto = \"right\"\nrate", "to = \"right\"\nrate", "lab.toml:7: links.bottleneck.from: missing: write the name of a node"),
    ("to = \"right\"\nrate", "to = \"left\"\nrate", "lab.toml:9: links.bottleneck.to: `left` is also where the link begins"),
    ("to = \"right\"\nrate", "to = 3\nrate", "lab.toml:9: links.bottleneck.to: `3` is not text"),
    ("to = \"right\"\nrate", "to = \"\"\nrate", "lab.toml:9: links.bottleneck.to: `` is not a name"),
    ("rate = \"622 Mbit/s\"\n", "", "lab.toml:7: links.bottleneck.rate: missing: write a rate"),
    ("\"622 Mbit/s\"", "\"622 Mbps\"", "lab.toml:10: links.bottleneck.rate: `622 Mbps` is not a rate: write `622 Mbit/s` (known: bit/s"),
    ("\"622 Mbit/s\"", "\"0 Mbit/s\"", "lab.toml:10: links.bottleneck.rate: a link at `0 Mbit/s` carries nothing: write a rate above zero"),
    ("\"622 Mbit/s\"", "\"-1 bit/s\"", "lab.toml:10: links.bottleneck.rate: `-1 bit/s` is negative"),
    ("\"622 Mbit/s\"", "\"1e9 Tbit/s\"", "lab.toml:10: links.bottleneck.rate: `1e9 Tbit/s` is too fast: write at most `100 Tbit/s`"),
    ("\"10 ms\"", "\"10\"", "lab.toml:11: links.bottleneck.delay: `10` is not a duration: write its unit too"),
    ("delay = \"10 ms\"\n", "", "lab.toml:7: links.bottleneck.delay: missing"),
    ("\"10 ms\"", "[]", "lab.toml:11: links.bottleneck.delay: a schedule without values"),
    ("\"10 ms\"", "[[\"1 s\", \"10 ms\"]]", "lab.toml:11: links.bottleneck.delay[0][0]: the first value holds from 1 s: begin at `0 s`"),
    ("\"10 ms\"", "[[\"0 s\", \"10 ms\"], [\"2 s\", \"20 ms\"], [\"1 s\", \"10 ms\"]]", "lab.toml:11: links.bottleneck.delay[2][0]: `1 s` does not come after 2 s: write the times in order"),
    ("\"10 ms\"", "{ every = \"1 s\", steps = [\"10 ms\"] }", "lab.toml:11: links.bottleneck.delay.steps: 1 steps are no change: write `{ every = \"5 s\", steps = [...] }` with two"),
    ("\"10 ms\"", "{ every = \"1 us\", steps = [\"10 ms\", \"20 ms\"] }", "lab.toml:11: links.bottleneck.delay.every: a step every `1 us` makes more than 100000 steps"),
    ("\"1 bdp\"", "\"500 B\"", "lab.toml:12: links.bottleneck.buffer: a buffer of `500 B` cannot hold a packet: write at least `1000 B`"),
    ("\"1 bdp\"", "\"0 packets\"", "lab.toml:12: links.bottleneck.buffer: a buffer of `0 packets` cannot hold a packet: write at least `1 packet`"),
    ("\"1 bdp\"", "\"1.5 packets\"", "lab.toml:12: links.bottleneck.buffer: `1.5 packets` is not a whole number of packets: write `2 packets`"),
    ("\"1 bdp\"", "\"lots\"", "lab.toml:12: links.bottleneck.buffer: `lots` is not a buffer: write `unlimited`, or packets, bytes"),
    ("\"1 bdp\"", "100", "lab.toml:12: links.bottleneck.buffer: `100` is not a buffer"),
    ("\"1 bdp\"", "\"10 us\"", "lab.toml:12: links.bottleneck.buffer: a buffer of `10 us` at 622 Mbit/s holds 778 B, which is less than a packet: a packet has 1000 B on the wire, so write a longer time"),
    ("\"1 bdp\"", "\"0 ms\"", "lab.toml:12: links.bottleneck.buffer: a buffer of `0 ms` at 622 Mbit/s holds 0 B, which is less than a packet"),
    ("\"1 bdp\"", "\"-1 ms\"", "lab.toml:12: links.bottleneck.buffer: `-1 ms` is negative"),
    ("cc = {", "access = { rate = \"1 Mbit/s\", queue = \"1 ms\" }\ncc = {", "lab.toml:20: flows.ftp.access.queue: a buffer of `1 ms` at 1 Mbit/s holds 125 B, which is less than a packet"),
    ("\"1 bdp\"", "\"0 bdp\"", "lab.toml:12: links.bottleneck.buffer: `0 bdp` is out of range"),
    ("\"1 bdp\"", "\"-1 bdp\"", "lab.toml:12: links.bottleneck.buffer: `-1 bdp` is negative"),
    ("duplex = true", "duplex = \"yes\"", "lab.toml:13: links.bottleneck.duplex: `yes` is not a switch: write `true` or `false`"),
    ("duplex = true", "loss = 1.0", "lab.toml:13: links.bottleneck.loss: `1` is not a probability of loss: write a number from 0 to below 1"),
    ("duplex = true", "loss = nan", "lab.toml:13: links.bottleneck.loss: `NaN` is not a number"),
    ("duplex = true", "loss = -0.1", "lab.toml:13: links.bottleneck.loss: `-0.1` is not a probability"),
    ("duplex = true", "arithmetic = \"fixed\"", "lab.toml:13: links.bottleneck.arithmetic: the AQM `droptail` has no implementation in fixed-point arithmetic: write `\"f64\"`"),
    ("duplex = true", "lose_transmission = 0", "lab.toml:13: links.bottleneck.lose_transmission: `0` is out of range"),
    ("duplex = true", "lose_transmission = [2, 1]", "lab.toml:13: links.bottleneck.lose_transmission: the larger number is first"),
    ("duplex = true", "lose_transmission = [1]", "lab.toml:13: links.bottleneck.lose_transmission: `[1]` is not a pair of transmissions"),
    ("duplex = true", "duplex = true\n[links.\"bottleneck/back\"]\nlose_transmission = 7", "lab.toml:15: links.\"bottleneck/back\".lose_transmission: no data crosses `bottleneck/back`, so `lose_transmission` has no effect: leave it out"),
    ("duplex = true", "loss_spacing = \"even\"", "lab.toml:13: links.bottleneck.loss_spacing: `loss_spacing` has no effect without `loss`: leave it out"),
    ("duplex = true", "loss = 0.1\nloss_spacing = \"evenly\"", "lab.toml:14: links.bottleneck.loss_spacing: `evenly` is not known here: did you mean `even`? Known: `random`, `even`"),
    ("duplex = true", "loss_burst = 3", "lab.toml:13: links.bottleneck.loss_burst: `loss_burst` has no effect without `loss`: leave it out"),
    ("duplex = true", "loss = 0.1\nloss_burst = 0.5", "lab.toml:14: links.bottleneck.loss_burst: `0.5` is not a mean length of bursts, in packets: write a number from 1 to 1000000"),
    ("duplex = true", "loss = 0.1\nloss_spacing = \"even\"\nloss_burst = 3", "lab.toml:15: links.bottleneck.loss_burst: losses that are evenly spaced come one by one"),
    ("duplex = true", "loss = 0.7\nloss_burst = 2", "lab.toml:14: links.bottleneck.loss_burst: bursts of 2 packets with one packet between them are a loss of 0.6667, and `loss` is 0.7: write longer bursts"),
    ("duplex = true", "duplex = true\n[links.\"bottleneck/back\"]\necn = \"bleach\"", "lab.toml:15: links.\"bottleneck/back\".ecn: no flow that sends data across `bottleneck/back` uses ECN, so `ecn` has no effect: leave it out"),
    ("duplex = true", "ecn = \"ect0\"", "lab.toml:13: links.bottleneck.ecn: no flow that crosses `bottleneck` sends ECT(1), so `ecn` has no effect: leave it out, or let a group send it"),
    ("duplex = true", "aggregation = { packets = 9 }", "lab.toml:13: links.bottleneck.aggregation.time: missing: write `{ time = \"2 ms\", packets = 32 }`"),
    ("duplex = true", "aggregation = { time = \"0 s\" }", "lab.toml:13: links.bottleneck.aggregation.time: packets that wait for nothing go by themselves: write a time above zero"),
    ("duplex = true", "aggregation = { time = \"1 ms\", packets = 1 }", "lab.toml:13: links.bottleneck.aggregation.packets: `1` is out of range"),
    ("duplex = true", "aggregation = { time = \"1 ms\", rate = \"600 Mbit/s\" }", "lab.toml:13: links.bottleneck.aggregation.rate: the link delivers packets at up to 622 Mbit/s, and `aggregation` sends them on at `600 Mbit/s`: write a rate that is not below"),
    ("duplex = true", "policer = { rate = \"0 bit/s\", burst = \"9 kB\" }", "lab.toml:13: links.bottleneck.policer.rate: a bucket that never fills lets nothing pass: write a rate above zero"),
    ("duplex = true", "policer = { rate = \"2 Tbit/s\", burst = \"9 kB\" }", "lab.toml:13: links.bottleneck.policer.rate: `2 Tbit/s` is out of range: write at most `1 Tbit/s`"),
    ("duplex = true", "policer = { rate = \"1 Mbit/s\", burst = \"999 B\" }", "lab.toml:13: links.bottleneck.policer.burst: a bucket of `999 B` never has tokens for a packet: write at least `1000 B`, one packet on the wire"),
    ("duplex = true", "policer = { rate = \"1 Mbit/s\" }", "lab.toml:13: links.bottleneck.policer.burst: missing: write `{ rate"),
    ("duplex = true", "duplicate = 1.1", "lab.toml:13: links.bottleneck.duplicate: `1.1` is not a share of packets: write a number from 0 to 1"),
    ("duplex = true", "duplicate = \"1 %\"", "lab.toml:13: links.bottleneck.duplicate: `1 %` is not a"),
    ("duplex = true", "reorder = 0.1", "lab.toml:13: links.bottleneck.reorder: `0.1` is not a table: write `{ share = 0.01, by = \"5 ms\" }`"),
    ("duplex = true", "reorder = { share = 0.1 }", "lab.toml:13: links.bottleneck.reorder.by: missing: write `{ share = 0.01, by = \"5 ms\" }`"),
    ("duplex = true", "reorder = { share = 0, by = \"1 ms\" }", "lab.toml:13: links.bottleneck.reorder.share: `0` is not a share of packets: write a number above 0 and at most 1"),
    ("duplex = true", "reorder = { share = 0.1, by = \"0 s\" }", "lab.toml:13: links.bottleneck.reorder.by: a packet that is late by nothing keeps its place: write a time above zero"),
    ("duplex = true", "ecn = \"bleached\"", "lab.toml:13: links.bottleneck.ecn: `bleached` is not known here: did you mean `bleach`? Known: `keep`, `bleach`, `erase-ce`, `ect0`"),
    ("duplex = true", "bufer = \"x\"", "lab.toml:13: links.bottleneck.bufer: the key `bufer` is unknown here: did you mean `buffer`?"),
    ("duplex = true", "aqm = \"red\"", "lab.toml:13: links.bottleneck.aqm: `red` is not a table that names a law (AQM): write `{ law = \"red\" }`"),
    ("duplex = true", "aqm = { ecn = true }", "lab.toml:13: links.bottleneck.aqm: `{ ecn = true }` is not a table that names a law: add `law`"),
    ("duplex = true", "aqm = { law = \"rd\" }", "lab.toml:13: links.bottleneck.aqm.law: no AQM is named `rd`: did you mean `red`? Known: `droptail`, `red`, `pi`, `avq`, `price`, `rem`, `codel`, `fq-codel`, `cobalt`, `pie`, `fq-pie`, `pi2`, `dualpi2`, `ramp`, `wred`, `bat`, `aimd`, `clcc`"),
    ("duplex = true", "aqm = { law = \"droptail\", limit = 3 }", "lab.toml:13: links.bottleneck.aqm.limit: `droptail` has no parameter `limit`: `droptail` has no parameters"),
    ("duplex = true", "aqm = { law = \"red\", max_p = 2 }", "lab.toml:13: links.bottleneck.aqm.max_p: `2` is outside the range of `max_p` of the law `red`: write `1e-9` to `1`"),
    ("duplex = true", "aqm = { law = \"red\", max_p = nan }", "lab.toml:13: links.bottleneck.aqm.max_p: `NaN` is not a number"),
    ("duplex = true", "aqm = { law = \"red\", ecn = 1 }", "lab.toml:13: links.bottleneck.aqm.ecn: `1` is not a switch"),
    ("duplex = true", "aqm = { law = \"red\", min_threshold = 5 }", "lab.toml:13: links.bottleneck.aqm.min_threshold: `5` is not a number of packets: write `5 packets`"),
    ("duplex = true", "aqm = { law = \"red\", max_p = \"automatic\" }", "lab.toml:13: links.bottleneck.aqm.max_p: `automatic` is not a number"),
    ("duplex = true", "aqm = { law = \"red\", min_threshold = \"50 packets\", max_threshold = \"20 packets\" }", "lab.toml:13: links.bottleneck.aqm: the law `red` cannot run with these parameters: the parameters contradict each other or the scenario: `max_threshold` (20 packets) must be above"),
    ("[links.bottleneck]", "[defaults.lnks]\nloss = 0.1\n[links.bottleneck]", "lab.toml:7: defaults.lnks: the key `lnks` is unknown here: did you mean `links`?"),
    ("[links.bottleneck]", "[defaults.links]\nlos = 0.1\n[links.bottleneck]", "lab.toml:8: links.bottleneck.los: the key `los` is unknown here: did you mean `loss`?"),
    // Rates that change.
    ("\"622 Mbit/s\"", "[]", "lab.toml:10: links.bottleneck.rate: a schedule without values: write pairs of a time and a value"),
    ("\"622 Mbit/s\"", "[\"0 s\", \"1 Mbit/s\"]", "lab.toml:10: links.bottleneck.rate[0]: `0 s` is not a list: write pairs"),
    ("\"622 Mbit/s\"", "[[\"0 s\"]]", "lab.toml:10: links.bottleneck.rate[0]: `[\"0 s\"]` is not a time and a value"),
    ("\"622 Mbit/s\"", "[[\"1 s\", \"1 Mbit/s\"]]", "lab.toml:10: links.bottleneck.rate[0][0]: the first value holds from 1 s: begin at `0 s`"),
    ("\"622 Mbit/s\"", "[[\"0 s\", \"0 bit/s\"], [\"1 s\", \"1 Mbit/s\"]]", "lab.toml:10: links.bottleneck.rate: a link that begins with an outage: write a first rate above zero"),
    ("\"622 Mbit/s\"", "[[\"0 s\", \"1 Mbit/s\"],\n[\"2 s\", \"1 Mbps\"]]", "lab.toml:11: links.bottleneck.rate[1][1]: `1 Mbps` is not a rate"),
    ("\"622 Mbit/s\"", "[[\"0 s\", \"1 Mbit/s\"], [\"2 s\", \"2 Mbit/s\"],\n[\"2 s\", \"1 Mbit/s\"]]", "lab.toml:11: links.bottleneck.rate[2][0]: `2 s` does not come after 2 s: write the times in order"),
    ("\"622 Mbit/s\"", "{ trace = \"file\" }", "lab.toml:10: links.bottleneck.rate.trace: the trace `file` cannot be read: there is none: name a file that can be read"),
    ("\"622 Mbit/s\"", "{ tarce = \"file\" }", "lab.toml:10: links.bottleneck.rate.tarce: the key `tarce` is unknown here: did you mean `trace`?"),
    ("\"622 Mbit/s\"", "{ trace = \"recorded.csv\" }", "recorded.csv:1: a text of 9 characters is not a time in milliseconds"),
    ("\"622 Mbit/s\"", "{ trace = \"cellular.trace\", format = \"csv\" }", "cellular.trace:1: `0` is not a time and a rate: write a time in seconds and a rate in bit/s a line, as in `2.5,12000000`"),
    ("\"622 Mbit/s\"", "{ trace = \"recorded.csv\", format = \"cvs\" }", "lab.toml:10: links.bottleneck.rate.format: `cvs` is not known here: did you mean `csv`?"),
    ("\"622 Mbit/s\"", "{ trace = \"cellular.trace\", sha256 = \"7\" }", "lab.toml:10: links.bottleneck.rate.sha256: `7` is not a SHA-256: write the 64 digits"),
    ("\"622 Mbit/s\"", "{}", "lab.toml:10: links.bottleneck.rate.trace: missing: name its file"),
    ("\"10 ms\"", "{ trace = \"file\" }", "lab.toml:11: links.bottleneck.delay.trace: the trace `file` cannot be read: there is none: name a file that can be read"),
    ("\"10 ms\"", "{ trace = \"recorded.csv\" }", "recorded.csv:1: a text of 9 characters is not a time and a delay: write a time and a delay a line, both in seconds, as in `2.5,0.04` (the trace of links.bottleneck.delay.trace in lab.toml:11)"),
    ("\"10 ms\"", "{ trace = \"delays.csv\", format = \"csv\" }", "lab.toml:11: links.bottleneck.delay.format: the key `format` is unknown here"),
    ("\"10 ms\"", "{ trace = \"delays.csv\", sha256 = \"7\" }", "lab.toml:11: links.bottleneck.delay.sha256: `7` is not a SHA-256: write the 64 digits"),
    ("\"10 ms\"", "{ trace = \"delays.csv\", every = \"1 s\" }", "lab.toml:11: links.bottleneck.delay.every: the key `every` is unknown here"),
    ("\"10 ms\"", "{ every = \"1 s\", steps = [\"1 ms\", \"2 ms\"], sha256 = \"7\" }", "lab.toml:11: links.bottleneck.delay.sha256: the key `sha256` is unknown here"),
    ("\"10 ms\"", "{ trace = 7 }", "lab.toml:11: links.bottleneck.delay.trace: `7` is not text: name its file"),
    // Schedulers.
    ("duplex = true", "scheduler = \"drr\"", "lab.toml:13: links.bottleneck.scheduler: `drr` is not a table: write `{ law = \"fifo\" }` or `{ law = \"drr\" }`"),
    ("duplex = true", "scheduler = {}", "lab.toml:13: links.bottleneck.scheduler.law: missing: write `{ law = \"fifo\" }`"),
    ("duplex = true", "scheduler = { law = \"wfq\" }", "lab.toml:13: links.bottleneck.scheduler.law: `wfq` is not known here: known: `fifo`, `drr`"),
    ("duplex = true", "scheduler = { law = \"fifo\", quantum = \"1500 B\" }", "lab.toml:13: links.bottleneck.scheduler.quantum: first in, first out has one queue and no turns: leave it out"),
    ("duplex = true", "scheduler = { law = \"drr\", quantum = \"0 B\" }", "lab.toml:13: links.bottleneck.scheduler.quantum: a quantum of `0 B` is out of range: write `1 B`"),
    ("duplex = true", "scheduler = { law = \"drr\", by = \"node\" }", "lab.toml:13: links.bottleneck.scheduler.by: `node` is not known here: known: `flow`, `class`"),
    ("duplex = true", "scheduler = { law = \"drr\", by = \"class\" }", "lab.toml:13: links.bottleneck.scheduler: no flow that crosses `bottleneck` has a class: give a group of flows a `class`"),
    // Flows.
    ("[flows.ftp]", "[flows.\"\"]", "lab.toml:15: flows.\"\": `` is not a name"),
    ("[flows.ftp]", "[flows.\"..\"]", "lab.toml:15: flows.\"..\": `..` is not a name: write a name such as `left-2`, without `.`, `/` and `\\`"),
    ("[flows.ftp]", "[flows.\"a/b\"]", "lab.toml:15: flows.\"a/b\": `a/b` is not a name: write a name such as `left-2`, without `.`, `/` and `\\`"),
    ("[flows.ftp]", "[flows.\" a \"]", "lab.toml:15: flows.\" a \": ` a ` is not a name"),
    ("[flows.ftp]", "[flows.\"a\u{a0}b\"]", "lab.toml:15: flows.\"a\u{a0}b\": `a\u{a0}b` is not a name"),
    ("[flows.ftp]", "[flows.\"a.b\"]", "lab.toml:15: flows.\"a.b\": `a.b` is not a name"),
    ("[links.bottleneck]", "[links.\"/etc/back\"]", "lab.toml:7: links.\"/etc/back\": `/etc/back` is not a name"),
    ("[links.bottleneck]", "[links.\"/back\"]", "lab.toml:7: links.\"/back\": `/back` is not a name"),
    ("[flows.ftp]", "[flows.\"a/back\"]", "lab.toml:15: flows.\"a/back\": `a/back` is not a name"),
    ("[flows.ftp]", "[windows]\n\"1/2\" = [\"5 s\", \"6 s\"]\n[flows.ftp]", "lab.toml:16: windows.\"1/2\": `1/2` is not a name"),
    ("cc = {", "class = \"a/b\"\ncc = {", "lab.toml:20: flows.ftp.class: `a/b` is not a name"),
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
    ("rtt = \"100 ms\"", "via = [\"bottleneck/back\"]", "lab.toml:19: flows.ftp.via[0]: the link `bottleneck/back` of `via` begins at `right`, but the route so far ends at `left`"),
    ("rtt = \"100 ms\"", "via = [\"bottleneck\", \"bottleneck/back\"]", "lab.toml:19: flows.ftp.via: the route ends at `left`, not at `right`"),
    ("rtt = \"100 ms\"", "via = [\"bottleneck\", \"bottleneck/back\", \"bottleneck\"]", "lab.toml:19: flows.ftp.via[2]: the route takes `bottleneck` twice"),
    ("rtt = \"100 ms\"", "via = \"bottleneck\"", "lab.toml:19: flows.ftp.via: `bottleneck` is not a list"),
    ("\"100 ms\"", "\"19 ms\"", "lab.toml:19: flows.ftp.rtt: `19 ms` is less than the 20 ms that the links on the way there and back take: write at least `20 ms`"),
    ("\"100 ms\"", "{ spread = [\"40 ms\", \"10 ms\"] }", "lab.toml:19: flows.ftp.rtt: `10 ms` is less than the 20 ms"),
    ("\"100 ms\"", "{ spread = [\"40 ms\"] }", "lab.toml:19: flows.ftp.rtt.spread: `[\"40 ms\"]` is not a pair of durations"),
    ("\"100 ms\"", "{ uniform = [\"200 ms\", \"40 ms\"] }", "lab.toml:19: flows.ftp.rtt.uniform: `[\"200 ms\", \"40 ms\"]` ends before it begins"),
    ("\"100 ms\"", "{ normal = [\"200 ms\", \"40 ms\"] }", "lab.toml:19: flows.ftp.rtt.normal: the key `normal` is unknown here"),
    ("\"100 ms\"", "{}", "lab.toml:19: flows.ftp.rtt: `{}` is not a round-trip time"),
    ("\"100 ms\"", "[]", "lab.toml:19: flows.ftp.rtt: a list without round-trip times: write one round-trip time for each flow, 100 of them, or leave `rtt` out"),
    ("\"100 ms\"", "[\"40 ms\", \"50 ms\"]", "lab.toml:19: flows.ftp.rtt: 2 round-trip times for 100 flows: write one for each flow, or `count = 2`"),
    ("\"100 ms\"", "[40, 50]", "lab.toml:19: flows.ftp.rtt[0]: `40` is not a duration"),
    ("\"100 ms\"", "[\n\"40 ms\",\n50]", "lab.toml:21: flows.ftp.rtt[1]: `50` is not a duration"),
    ("cc = {", "start = \"60 s\"\ncc = {", "lab.toml:20: flows.ftp.start: the last flow would start at 60 s, when the run is over"),
    ("cc = {", "start = { every = \"1 s\" }\ncc = {", "lab.toml:20: flows.ftp.start: the last flow would start at 99 s"),
    ("cc = {", "start = { every = \"4800 h\" }\ncc = {", "lab.toml:20: flows.ftp.start: the last flow would start at "),
    ("cc = {", "start = { from = \"1 s\" }\ncc = {", "lab.toml:20: flows.ftp.start: `{ from = \"1 s\" }` is not a start"),
    ("cc = {", "start = { uniform = [\"5 s\", \"1 s\"] }\ncc = {", "lab.toml:20: flows.ftp.start.uniform: "),
    ("cc = {", "stop = \"500 ms\"\ncc = {", "lab.toml:20: flows.ftp.stop: the flows stop at 500 ms, but the last may start at 1 s"),
    ("cc = {", "packet = \"40 B\"\ncc = {", "lab.toml:20: flows.ftp.packet: a packet of `40 B` has no space for data after 40 B of header"),
    ("cc = {", "packet = \"1001 B\"\ncc = {", "lab.toml:20: flows.ftp.packet: a packet of 1001 B in this group is larger than `packet` of the scenario, 1000 B: let `packet` of the scenario be that of the group with the largest"),
    ("cc = {", "packet = { wire = \"100 B\", payload = \"100 B\" }\ncc = {", "lab.toml:20: flows.ftp.packet.payload: a payload of `100 B` is not possible in a packet of 100 B"),
    ("cc = {", "page = { rounds = [1, 2], connections = 4 }\ncc = {", "lab.toml:20: flows.ftp.page: the objects of a page without a size: add a `size`"),
    ("cc = {", "page = {}\nsize = \"9 kB\"\ncc = {", "lab.toml:20: flows.ftp.page.rounds: missing: write `{ rounds = [1, 20, 29] }`"),
    ("cc = {", "page = { rounds = [] }\nsize = \"9 kB\"\ncc = {", "lab.toml:20: flows.ftp.page.rounds: a page of 0 rounds: write the number of objects in each round"),
    ("cc = {", "page = { rounds = [1, 0] }\nsize = \"9 kB\"\ncc = {", "lab.toml:20: flows.ftp.page.rounds[1]: `0` is out of range"),
    ("cc = {", "page = { rounds = [1.5] }\nsize = \"9 kB\"\ncc = {", "lab.toml:20: flows.ftp.page.rounds[0]: `1.5` is not a whole number"),
    ("cc = {", "page = { rounds = [1], connections = 2, multiplexed = true }\nsize = \"9 kB\"\ncc = {", "lab.toml:20: flows.ftp.page.connections: one connection carries a page that is multiplexed"),
    ("cc = {", "page = { rounds = [1], connections = 0 }\nsize = \"9 kB\"\ncc = {", "lab.toml:20: flows.ftp.page.connections: `0` is out of range"),
    ("cc = {", "page = { rounds = [1], connections = 7 }\nsize = \"9 kB\"\ncc = {", "lab.toml:16: flows.ftp.count: `count` is 100, which is not a multiple of the 7 connections of each browser: write a multiple of 7"),
    ("cc = {", "page = { rounds = [1], connections = 4 }\nsize = \"9 kB\"\narrivals = { poisson = \"1 /s\" }\ncc = {", "lab.toml:22: flows.ftp.arrivals: `page` already sets when transfers begin"),
    ("cc = {", "page = { rounds = [1], connections = 4 }\nvideo = {}\ncc = {", "lab.toml:21: flows.ftp.video: a group of browsers and of players: give each a group"),
    ("cc = {", "video = {}\nsize = \"9 kB\"\ncc = {", "lab.toml:21: flows.ftp.size: `video` already sets when transfers begin and what they send"),
    ("cc = {", "video = {}\non_off = { on = \"1 s\", off = \"1 s\" }\ncc = {", "lab.toml:21: flows.ftp.on_off: `video` already sets when"),
    ("cc = {", "video = { rates = [\"1 Mbit/s\"] }\ncc = {", "lab.toml:20: flows.ftp.video.rates: a video at 1 rates: write two rates or more in rising order"),
    ("cc = {", "video = { rates = [\"1 Mbit/s\", \"1 Mbit/s\"] }\ncc = {", "lab.toml:20: flows.ftp.video.rates[1]: the rate 1 Mbit/s is not above the rate before it"),
    ("cc = {", "video = { rates = [\"0 bit/s\", \"1 Mbit/s\"] }\ncc = {", "lab.toml:20: flows.ftp.video.rates[0]: the rate 0 bit/s is not above zero"),
    ("cc = {", "video = { chunk = \"0 s\" }\ncc = {", "lab.toml:20: flows.ftp.video.chunk: a chunk of no time: write a time above zero"),
    ("cc = {", "video = { chunk = \"250 s\" }\ncc = {", "lab.toml:20: flows.ftp.video.chunk: a chunk of 250 s does not fit into a buffer of 240 s"),
    ("cc = {", "video = { cushion = \"151 s\" }\ncc = {", "lab.toml:20: flows.ftp.video.cushion: the highest rate is chosen from 241 s on, and the buffer has 240 s"),
    ("cc = {", "video = { bufer = \"1 s\" }\ncc = {", "lab.toml:20: flows.ftp.video.bufer: the key `bufer` is unknown here: did you mean `buffer`?"),
    ("cc = {", "size = \"0 B\"\ncc = {", "lab.toml:20: flows.ftp.size: a transfer of nothing"),
    ("cc = {", "loss = 1\ncc = {", "lab.toml:20: flows.ftp.loss: `1` is not a probability of loss: write a number from 0 to below 1"),
    ("cc = {", "loss = -0.1\ncc = {", "lab.toml:20: flows.ftp.loss: `-0.1` is not a probability of loss"),
    ("cc = {", "loss = \"1 %\"\ncc = {", "lab.toml:20: flows.ftp.loss: `1 %` is not a"),
    ("cc = {", "series = 1\ncc = {", "lab.toml:20: flows.ftp.series: `1` is not a switch"),
    ("cc = {", "size = { pareto = { mean = \"1 kB\", shape = 1 } }\ncc = {", "lab.toml:20: flows.ftp.size.pareto.shape: a Pareto distribution of the shape `1` has an infinite mean: write a number above 1 and at most 1000"),
    ("cc = {", "size = { pareto = { mean = \"1 kB\", shape = 2000 } }\ncc = {", "lab.toml:20: flows.ftp.size.pareto.shape: `2000` is not the exponent of a tail"),
    ("cc = {", "size = { pareto = { mean = \"1 kB\" } }\ncc = {", "lab.toml:20: flows.ftp.size.pareto.shape: missing: write the exponent of the tail, above 1"),
    ("cc = {", "size = { pareto = { mean = \"0 B\", shape = 1.2 } }\ncc = {", "lab.toml:20: flows.ftp.size.pareto.mean: a transfer of nothing"),
    ("cc = {", "size = {}\ncc = {", "lab.toml:20: flows.ftp.size: `{}` is not a size: write a size, `{ pareto"),
    ("cc = {", "size = { normal = 1 }\ncc = {", "lab.toml:20: flows.ftp.size.normal: the key `normal` is unknown here"),
    ("cc = {", "arrivals = { poisson = \"20 /s\" }\ncc = {", "lab.toml:20: flows.ftp.arrivals: `arrivals` begins one transfer after another, and a transfer without `size` has no end: add a `size`"),
    ("cc = {", "idle = \"1 s\"\ncc = {", "lab.toml:20: flows.ftp.idle: `idle` begins one transfer after another, and a transfer without `size` has no end: add a `size`"),
    ("cc = {", "size = \"1 MB\"\narrivals = { poisson = \"20 /s\" }\nidle = \"1 s\"\ncc = {", "lab.toml:22: flows.ftp.idle: `arrivals` and `idle` both set when transfers begin: write `arrivals` for the open loop"),
    ("cc = {", "size = { distribution = \"mail\" }\ncc = {", "lab.toml:20: flows.ftp.size.distribution: the distribution `mail` cannot be read: there is none: name a file that can be read, or one of `data-mining`, `video-chunks`, `web-search`"),
    ("cc = {", "size = { distribution = { sha256 = \"00\" } }\ncc = {", "lab.toml:20: flows.ftp.size.distribution.file: "),
    ("cc = {", "size = \"1 MB\"\narrivals = { poisson = 20 }\ncc = {", "lab.toml:21: flows.ftp.arrivals.poisson: `20` is not a number per second: write `20 /s`"),
    ("cc = {", "size = \"1 MB\"\narrivals = { poisson = \"0 /s\" }\ncc = {", "lab.toml:21: flows.ftp.arrivals.poisson: `0 /s` is never: write more than `0 /s`"),
    ("cc = {", "size = \"1 MB\"\narrivals = { poisson = \"20 /min\" }\ncc = {", "lab.toml:21: flows.ftp.arrivals.poisson: `20 /min` is not a number per second"),
    ("cc = {", "size = \"1 MB\"\narrivals = { poisson = \"1e9 /s\" }\ncc = {", "lab.toml:15: flows.ftp: 60000000000 transfers take about 2880 GB of memory"),
    ("cc = {", "size = \"1 MB\"\narrivals = \"20 /s\"\ncc = {", "lab.toml:21: flows.ftp.arrivals: `20 /s` is not a table: write `{ poisson = \"20 /s\" }`"),
    ("cc = {", "size = \"1 MB\"\nidle = { exponential = \"0 s\" }\ncc = {", "lab.toml:21: flows.ftp.idle.exponential: a mean of nothing"),
    ("cc = {", "size = \"1 MB\"\nidle = { uniform = [\"2 s\", \"1 s\"] }\ncc = {", "lab.toml:21: flows.ftp.idle.uniform: `[\"2 s\", \"1 s\"]` ends before it begins"),
    ("cc = {", "size = \"1 MB\"\nidle = { fixed = \"2 s\", exponential = \"1 s\" }\ncc = {", "lab.toml:21: flows.ftp.idle: `{ fixed = \"2 s\", exponential = \"1 s\" }` is not a span of time"),
    ("cc = {", "size = \"1 MB\"\nidle = { pareto = { mean = \"1 s\", shape = 0.9 } }\ncc = {", "lab.toml:21: flows.ftp.idle.pareto.shape: a Pareto distribution of the shape `0.9` has an infinite mean"),
    ("cc = {", "size = \"1 MB\"\nidle = -1\ncc = {", "lab.toml:21: flows.ftp.idle: `-1` is not a duration"),
    ("cc = {", "on_off = { on = \"1 s\" }\ncc = {", "lab.toml:20: flows.ftp.on_off.off: missing: write `{ on = \"1 s\", off = \"1 s\" }`"),
    ("cc = {", "on_off = { on = \"0 s\", off = \"1 s\" }\ncc = {", "lab.toml:20: flows.ftp.on_off.on: a flow that never sends: write a time above zero"),
    ("cc = {", "on_off = { on = \"1 s\", off = \"0 s\" }\ncc = {", "lab.toml:20: flows.ftp.on_off.off: a flow that is never silent: write a time above zero, or leave `on_off` out"),
    ("cc = {", "on_off = { on = \"1 ps\", off = \"1 ps\" }\ncc = {", "lab.toml:20: flows.ftp.on_off: flows that begin and end every "),
    ("cc = {", "class = 3\ncc = {", "lab.toml:20: flows.ftp.class: `3` is not text: write the name of a class"),
    ("cc = {", "access = { rate = \"0 bit/s\" }\ncc = {", "lab.toml:20: flows.ftp.access.rate: a link at `0 bit/s` carries nothing"),
    ("cc = {", "access = {}\ncc = {", "lab.toml:20: flows.ftp.access.rate: missing: write its rate"),
    ("cc = {", "access = { rate = \"1 Gbit/s\", queue = \"999 B\" }\ncc = {", "lab.toml:20: flows.ftp.access.queue: a buffer of `999 B` cannot hold a packet: write at least `1000 B`"),
    ("cc = {", "access = { rate = \"1 Gbit/s\", full = \"wait\" }\ncc = {", "lab.toml:20: flows.ftp.access.full: an unlimited queue is never full"),
    ("cc = {", "sender = { limit = \"pace\" }\ncc = {", "lab.toml:20: flows.ftp.sender.limit: the law `newreno` sets no gap between packets"),
    ("cc = { law = \"newreno\", ecn = true }", "sender = { limit = \"pace\", pacing = \"off\" }\ncc = { law = \"fast\" }", "lab.toml:20: flows.ftp.sender.limit: nothing limits a sender without pacing and without a window"),
    ("cc = {", "access = { rate = \"1 Gbit/s\", queue = \"1 bdp\" }\ncc = {", "lab.toml:20: flows.ftp.access.queue: `1 bdp` has no meaning for the queue of an interface"),
    ("cc = {", "jitter = \"1 ms\"\ncc = {", "lab.toml:20: flows.ftp.jitter: `1 ms` is not a table: write `{ uniform"),
    ("cc = {", "jitter = { uniform = [\"0 s\", \"0 s\"] }\ncc = {", "lab.toml:20: flows.ftp.jitter.uniform: a delay of nothing: write times above zero"),
    ("cc = {", "jitter = { uniform = [\"1 s\"] }\ncc = {", "lab.toml:20: flows.ftp.jitter.uniform: `[\"1 s\"]` is not a pair of durations"),
    ("cc = {", "jitter = { uniform = [\"2 s\", \"-1 s\"] }\ncc = {", "lab.toml:20: flows.ftp.jitter.uniform[1]: `-1 s` is negative"),
    ("cc = {", "ack_jitter = { probability = 0, uniform = [\"0 s\", \"1 ms\"] }\ncc = {", "lab.toml:20: flows.ftp.ack_jitter.probability: `0` is not a probability: write a number above 0 and at most 1"),
    ("cc = {", "ack_jitter = { probability = nan, uniform = [\"0 s\", \"1 ms\"] }\ncc = {", "lab.toml:20: flows.ftp.ack_jitter.probability: `NaN` is not a number"),
    ("cc = {", "sender = { rtt_noise = { probability = 2, upto = \"1 ms\" } }\ncc = {", "lab.toml:20: flows.ftp.sender.rtt_noise.probability: `2` is not a probability"),
    ("cc = {", "sender = { rtt_noise = { probability = 0.1, upto = \"0 s\" } }\ncc = {", "lab.toml:20: flows.ftp.sender.rtt_noise.upto: an error of nothing: write a duration above zero"),
    ("cc = {", "sender = { rtt_noise = { upto = \"1 ms\" } }\ncc = {", "lab.toml:20: flows.ftp.sender.rtt_noise.probability: missing"),
    ("law = \"newreno\", ecn = true", "law = \"cbr\", rate = \"9 Mbit/s\" }\nsender = { rtt_noise = { probability = 1, upto = \"1 s\" }", "lab.toml:21: flows.ftp.sender.rtt_noise: the packets of the law `cbr` are not acknowledged, so `rtt_noise` has no effect"),
    ("cc = {", "sender = { bottleneck = { capacity = 1, buffer = 1 } }\ncc = {", "lab.toml:20: flows.ftp.sender.bottleneck: the law `newreno` observes no bottleneck, so `bottleneck` has no effect"),
    ("cc = { law = \"newreno\", ecn = true }", "sender = { bottleneck = { capacity = 0, buffer = 1 } }\ncc = { law = \"ccp\" }", "lab.toml:20: flows.ftp.sender.bottleneck.capacity: `0` is not a multiple of the true value"),
    ("cc = { law = \"newreno\", ecn = true }", "sender = { bottleneck = { capacity = 1, buffer = \"1 bdp\" } }\ncc = { law = \"ccp\" }", "lab.toml:20: flows.ftp.sender.bottleneck.buffer: `1 bdp` is not a number"),
    ("cc = {", "ack_jitter = { uniform = [\"0 s\", \"1 ms\"] }\ncc = {", "lab.toml:20: flows.ftp.ack_jitter.probability: missing"),
    ("cc = {", "sender = { burst = 0 }\ncc = {", "lab.toml:20: flows.ftp.sender.burst: a burst of `0` is out of range: write `1 packet` to `64 packets`"),
    ("cc = {", "sender = { burst = \"65 packets\" }\ncc = {", "lab.toml:20: flows.ftp.sender.burst: a burst of `65 packets` is out of range"),
    ("cc = {", "sender = { burst = \"64 KiB\" }\ncc = {", "lab.toml:20: flows.ftp.sender.burst: `64 KiB` is not a number of packets"),
    ("cc = {", "sender = { limited_transmit = true }\ncc = {", "lab.toml:20: flows.ftp.sender.limited_transmit: recovery by `sack` includes limited transmit (RFC 6675, section 5), so this has no effect: leave it out"),
    ("cc = {", "sender = { limited_transmit = \"on\" }\ncc = {", "lab.toml:20: flows.ftp.sender.limited_transmit: `on` is not a switch"),
    ("cc = {", "sender = { remember = \"everything\" }\nsize = \"9 kB\"\npage = { rounds = [1], connections = 4 }\ncc = {", "lab.toml:20: flows.ftp.sender.remember: each browser loads one page, so `remember` has no effect: leave it out, or add `idle`"),
    ("cc = {", "sender = { remember = \"everything\" }\nvideo = {}\ncc = {", "lab.toml:20: flows.ftp.sender.remember: the connection of a player stays open, so `remember` has no effect: leave it out"),
    ("cc = {", "sender = { remember = \"everything\" }\ncc = {", "lab.toml:20: flows.ftp.sender.remember: each flow is one transfer, so `remember` has no effect"),
    ("cc = {", "size = \"1 MB\"\nidle = \"0 s\"\nsender = { remember = \"rtt\" }\ncc = {", "lab.toml:22: flows.ftp.sender.remember: `rtt` is not known here: known: `nothing`, `base rtt`, `everything`"),
    ("cc = {", "sender = { rto = \"bsd\" }\ncc = {", "lab.toml:20: flows.ftp.sender.rto: `bsd` is not known here: known: `rfc6298`, `linux`"),
    ("law = \"newreno\", ecn = true", "law = \"cbr\", rate = \"9 Mbit/s\" }\nsender = { rto = \"linux\"", "lab.toml:21: flows.ftp.sender.rto: the packets of the law `cbr` are not acknowledged, so `rto` has no effect: leave it out"),
    ("cc = {", "sender = { profile = \"windows\" }\ncc = {", "lab.toml:20: flows.ftp.sender.profile: `windows` is not known here: known: `ns-2`, `rfc`, `linux`, `quic`"),
    ("cc = {", "sender = { prr = false }\ncc = {", "lab.toml:20: flows.ftp.sender.prr: `prr` is a part of recovery by `rack`, so it has no effect here: leave it out, or write `recovery = \"rack\"`"),
    ("cc = {", "sender = { undo = true, recovery = \"newreno\" }\ncc = {", "lab.toml:20: flows.ftp.sender.undo: `undo` is a part of recovery by `rack`"),
    ("cc = {", "sender = { tail_loss_probe = 1, recovery = \"rack\" }\ncc = {", "lab.toml:20: flows.ftp.sender.tail_loss_probe: `1` is not a switch"),
    ("cc = {", "sender = { limited_transmit = true, recovery = \"rack\" }\ncc = {", "lab.toml:20: flows.ftp.sender.limited_transmit: recovery by `rack` includes limited transmit"),
    ("cc = {", "sender = { sack_blocks = 5 }\ncc = {", "lab.toml:20: flows.ftp.sender.sack_blocks: `5` is out of range: write a whole number from 1 to 4"),
    ("cc = {", "sender = { sack_blocks = 0 }\ncc = {", "lab.toml:20: flows.ftp.sender.sack_blocks: `0` is out of range: write a whole number from 1 to 4"),
    ("cc = {", "sender = { sack_blocks = \"3\" }\ncc = {", "lab.toml:20: flows.ftp.sender.sack_blocks: `3` is not a whole number"),
    ("cc = {", "sender = { sack_blocks = 3, recovery = \"newreno\" }\ncc = {", "lab.toml:20: flows.ftp.sender.sack_blocks: recovery by `newreno` has no selective acknowledgements, so `sack_blocks` has no effect: leave it out, or write `recovery = \"sack\"` or `\"rack\"`"),
    ("cc = {", "sender = { ecn_echo = \"exact\" }\ncc = {", "lab.toml:20: flows.ftp.sender.ecn_echo: `exact` is not known here: known: `per-packet`, `classic`, `accurate`"),
    ("cc = {", "sender = { receiver_ecn = \"classic\" }\ncc = {", "lab.toml:20: flows.ftp.sender.receiver_ecn: `receiver_ecn` is a part of accurate ECN, so it has no effect here: leave it out, or write `ecn_echo = \"accurate\"`"),
    ("cc = {", "sender = { ecn_echo = \"accurate\", receiver_ecn = \"per-packet\" }\ncc = {", "lab.toml:20: flows.ftp.sender.receiver_ecn: `per-packet` is not known here: known: `accurate`, `classic`"),
    ("cc = {", "sender = { ecn_echo = \"classic\", accecn_option = true }\ncc = {", "lab.toml:20: flows.ftp.sender.accecn_option: `accecn_option` is a part of accurate ECN, so it has no effect here"),
    ("cc = {", "sender = { ecn_echo = \"accurate\", accecn_option = 1 }\ncc = {", "lab.toml:20: flows.ftp.sender.accecn_option: `1` is not a switch"),
    ("cc = {", "sender = { ecn_echo = \"accurate\", accecn_option = false, receiver_ecn = \"classic\" }\ncc = {", "lab.toml:20: flows.ftp.sender.accecn_option: a connection that falls back to RFC 3168 has no AccECN Option, so this has no effect: leave it out, or leave `receiver_ecn` out"),
    ("cc = { law = \"newreno\", ecn = true }", "cc = { law = \"dctcp\" }\nsender = { ecn_echo = \"accurate\", receiver_ecn = \"classic\" }", "lab.toml:21: flows.ftp.sender.receiver_ecn: a `classic` ECN echo does not suit the law `dctcp`, which counts marked packets"),
    ("law = \"newreno\", ecn = true", "law = \"cubic\", hystart_rule = \"linux\"", "lab.toml:20: flows.ftp.cc: the law `cubic` cannot run with these parameters: the parameters contradict each other or the scenario: `hystart_rule` has an effect with `hystart = true` only"),
    ("cc = {", "sender = { handshake = 1 }\ncc = {", "lab.toml:20: flows.ftp.sender.handshake: `1` is not a switch"),
    ("cc = {", "sender = { quick_acks = 16 }\ncc = {", "lab.toml:20: flows.ftp.sender.quick_acks: every packet is acknowledged, so `quick_acks` has no effect: leave it out, or write `delayed_ack = 2`"),
    ("cc = {", "sender = { quick_acks = -1, delayed_ack = 2 }\ncc = {", "lab.toml:20: flows.ftp.sender.quick_acks: `-1` is negative: write a whole number"),
    ("cc = {", "sender = { rto = \"rfc9002\" }\ncc = {", "lab.toml:20: flows.ftp.sender.rto: recovery by `sack` has no probe timeout: write `recovery = \"rack\"`, or `rto = \"rfc6298\"` with a `min_rto`"),
    ("cc = {", "sender = { profile = \"quic\", tail_loss_probe = true }\ncc = {", "lab.toml:20: flows.ftp.sender.tail_loss_probe: the probe timeout of `rto = \"rfc9002\"` sends the probes, so `tail_loss_probe` has no effect: leave it out, or write `rto = \"linux\"` or `\"rfc6298\"`"),
    ("cc = {", "sender = { profile = \"quic\", tick = \"100 ms\" }\ncc = {", "lab.toml:20: flows.ftp.sender.tick: QUIC's probe timeout has a clock of its own"),
    ("cc = {", "sender = { max_ack_delay = \"25 ms\" }\ncc = {", "lab.toml:20: flows.ftp.sender.max_ack_delay: every packet is acknowledged, so `max_ack_delay` has no effect: leave it out, or write `delayed_ack = 2`"),
    ("cc = {", "sender = { max_ack_delay = \"0 s\", delayed_ack = 2 }\ncc = {", "lab.toml:20: flows.ftp.sender.max_ack_delay: a delay of nothing: write a duration above zero, or `delayed_ack = 1`"),
    ("cc = {", "sender = { max_ack_delay = \"17 s\", delayed_ack = 2 }\ncc = {", "lab.toml:20: flows.ftp.sender.max_ack_delay: `17 s` is more than an acknowledgement may wait: write at most `16 s`"),
    ("cc = {", "sender = { ack_gap_once = true }\ncc = {", "lab.toml:20: flows.ftp.sender.ack_gap_once: every packet is acknowledged, so `ack_gap_once` has no effect: leave it out, or write `false`"),
    ("cc = {", "sender = { ack_gap_once = true, delayed_ack = 2, recovery = \"newreno\" }\ncc = {", "lab.toml:20: flows.ftp.sender.ack_gap_once: recovery without selective acknowledgements counts one for each packet beyond a gap: leave it out, or write `false`"),
    ("cc = {", "sender = { ack_gap_once = true, delayed_ack = 2, ecn_echo = \"accurate\" }\ncc = {", "lab.toml:20: flows.ftp.sender.ack_gap_once: accurate ECN is of TCP, which acknowledges each packet beyond a gap: leave it out, or write `false`"),
    ("law = \"newreno\", ecn = true", "law = \"cbr\", rate = \"9 Mbit/s\" }\nsender = { profile = \"linux\"", "lab.toml:21: flows.ftp.sender.profile: the packets of the law `cbr` are not acknowledged, so `profile` has no effect"),
    ("cc = {", "sender = { recovery = \"tahoe\" }\ncc = {", "lab.toml:20: flows.ftp.sender.recovery: `tahoe` is not known here: known: `sack`, `rack`, `newreno`, `reno`"),
    ("cc = {", "sender = { delayed_ack = 3 }\ncc = {", "lab.toml:20: flows.ftp.sender.delayed_ack: `3` is out of range: write a whole number from 1 to 2"),
    ("cc = {", "sender = { initial_window = 0.5 }\ncc = {", "lab.toml:20: flows.ftp.sender.initial_window: `0.5` is out of range: write a number of packets, at least 1"),
    ("cc = {", "sender = { initial_window = \"unlimited\" }\ncc = {", "lab.toml:20: flows.ftp.sender.initial_window: `unlimited` is not a number of packets"),
    ("cc = {", "sender = { ssthresh = true }\ncc = {", "lab.toml:20: flows.ftp.sender.ssthresh: `true` is not a number of packets: write a number of packets, or \"unlimited\""),
    ("cc = {", "sender = { receive_window = -1 }\ncc = {", "lab.toml:20: flows.ftp.sender.receive_window: `-1` is out of range"),
    ("cc = {", "sender = { tick = \"0 s\" }\ncc = {", "lab.toml:20: flows.ftp.sender.tick: a tick of nothing"),
    ("cc = {", "sender = { tick = \"1709 h\" }\ncc = {", "lab.toml:20: flows.ftp.sender.tick: `tick` is `1709 h`, and three ticks are more than the longest retransmission timeout, 60 s: write at most `20 s`"),
    ("cc = {", "sender = { tick = \"100 ms\", rto = \"linux\" }\ncc = {", "lab.toml:20: flows.ftp.sender.tick: Linux's timeout has a clock of its own: leave it out"),
    ("cc = {", "sender = { min_rto = \"0 s\" }\ncc = {", "lab.toml:20: flows.ftp.sender.min_rto: a timeout of nothing"),
    ("cc = {", "sender = { arithmetic = \"fixed\" }\ncc = {", "lab.toml:20: flows.ftp.sender.arithmetic: the law `newreno` has no implementation in fixed-point arithmetic: write `\"f64\"`"),
    ("cc = { law = \"newreno\", ecn = true }", "cc = { law = \"leadlag\" }\nsender = { ecn_echo = \"classic\" }", "lab.toml:21: flows.ftp.sender.ecn_echo: a `classic` ECN echo does not suit the law `leadlag`"),
    ("cc = { law = \"newreno\", ecn = true }\n", "", "lab.toml:15: flows.ftp.cc: missing: name the law of its senders"),
    ("\"newreno\", ecn", "\"newrno\", ecn", "lab.toml:20: flows.ftp.cc.law: no controller is named `newrno`: did you mean `newreno`?"),
    ("ecn = true", "ecm = true", "lab.toml:20: flows.ftp.cc.ecm: `newreno` has no parameter `ecm`: did you mean `ecn`?"),
    ("law = \"newreno\", ecn = true", "law = \"cbr\"", "lab.toml:20: flows.ftp.cc: the law `cbr` needs `rate`"),
    ("law = \"newreno\", ecn = true", "law = \"cbr\", rate = \"-9 Mbit/s\"", "lab.toml:20: flows.ftp.cc.rate: `-9 Mbit/s` is outside the range of `rate` of the law `cbr`: write `1 bit/s` to `1 Tbit/s`"),
    ("law = \"newreno\", ecn = true", "law = \"cbr\", rate = \"9 Mbit/s\", spacing_jitter = 1", "lab.toml:20: flows.ftp.cc.spacing_jitter: `1` is not a share of a gap: write a number from 0 to below 1"),
    ("law = \"newreno\", ecn = true", "law = \"cbr\", rate = []", "lab.toml:20: flows.ftp.cc.rate: a schedule without values"),
    ("law = \"newreno\", ecn = true", "law = \"cbr\", rate = [[\"0 s\", \"9 Mbit/s\"], [\"1 s\", \"0 bit/s\"]]", "lab.toml:20: flows.ftp.cc.rate[1][1]: `0 bit/s` is outside the range of `rate` of the law `cbr`"),
    ("law = \"newreno\", ecn = true", "law = \"cbr\", rate = { every = \"5 s\", steps = [\"9 Mbit/s\"] }", "lab.toml:20: flows.ftp.cc.rate.steps: 1 steps are no change"),
    ("law = \"newreno\", ecn = true", "law = \"cbr\", rate = { every = \"1 us\", steps = [\"9 Mbit/s\", \"8 Mbit/s\"] }", "lab.toml:20: flows.ftp.cc.rate.every: a step every `1 us` makes more than 100000 steps: write at least `600 us`"),
    ("law = \"newreno\", ecn = true", "law = \"cbr\", rate = { steps = [\"9 Mbit/s\", \"8 Mbit/s\"] }", "lab.toml:20: flows.ftp.cc.rate.every: missing"),
    ("law = \"newreno\", ecn = true", "law = \"cbr\", rate = \"9 Mbit/s\" }\nsender = { min_rto = \"1 s\"", "lab.toml:21: flows.ftp.sender.min_rto: the packets of the law `cbr` are not acknowledged, so `min_rto` has no effect: leave it out"),
    ("law = \"newreno\", ecn = true", "law = \"cbr\", rate = \"9 Mbit/s\" }\nsender = { ecn_echo = \"classic\"", "lab.toml:21: flows.ftp.sender.ecn_echo: the packets of the law `cbr` are not acknowledged"),
    ("law = \"newreno\", ecn = true", "law = \"cbr\", rate = \"9 Mbit/s\" }\nack_jitter = { probability = 1, uniform = [\"0 s\", \"1 s\"]", "lab.toml:21: flows.ftp.ack_jitter: the packets of the law `cbr` are not acknowledged, so `ack_jitter` has no effect"),
    ("law = \"newreno\", ecn = true", "law = \"cbr\", rate = \"9 Mbit/s\" }\nsize = \"1 MB\"\nidle = { fixed = \"1 s\"", "lab.toml:22: flows.ftp.idle: the packets of the law `cbr` are not acknowledged, so the end of a transfer is unknown: write `on_off`"),
    ("ecn = true", "per_ack = [[\"0 s\", \"1 packets\"]]", "lab.toml:20: flows.ftp.cc.per_ack: the parameter `per_ack` of the law `newreno` cannot change over time: write one value"),
    ("ecn = true", "ecn = [[\"0 s\", true]]", "lab.toml:20: flows.ftp.cc.ecn: `[[\"0 s\", true]]` is not a switch"),
    ("ecn = true", "spacing_jitter = 0.1", "lab.toml:20: flows.ftp.cc.spacing_jitter: the law `newreno` has no parameter `spacing_jitter`: leave it out"),
    ("law = \"newreno\", ecn = true", "law = \"fast\", alpha = \"-5 packets\"", "lab.toml:20: flows.ftp.cc.alpha: `-5 packets` is outside the range of `alpha` of the law `fast`: write `0 packets` to `1000000 packets`"),
    ("law = \"newreno\", ecn = true", "law = \"leadlag\", N = \"1.5 packets\"", "lab.toml:20: flows.ftp.cc: the law `leadlag` cannot run with these parameters"),
    ("law = \"newreno\", ecn = true", "law = 7", "lab.toml:20: flows.ftp.cc.law: `7` is not text"),
    // Classes, customers and the end.
    ("[flows.ftp]", "[classes]\n[flows.ftp]", "lab.toml:15: classes: no classes: write one table a class"),
    ("[flows.ftp]", "[classes.udp]\nshare = 0.3\n[flows.ftp]", "lab.toml:15: classes.udp: no flow has the class `udp`: write `class = \"udp\"` in a group"),
    ("[flows.ftp]", "[customers]\n[flows.ftp]", "lab.toml:15: customers: no customers"),
    ("[flows.ftp]", "[customers.C1]\n[flows.ftp]", "lab.toml:15: customers.C1.flows: missing: write the names of groups of flows"),
    ("[flows.ftp]", "[customers.C1]\nflows = []\n[flows.ftp]", "lab.toml:16: customers.C1.flows: a customer without flows"),
    ("[flows.ftp]", "[customers.C1]\nflows = [\"fpt\"]\n[flows.ftp]", "lab.toml:16: customers.C1.flows[0]: no group of flows is named `fpt`: did you mean `ftp`?"),
    ("[flows.ftp]", "[customers.C1]\nflows = [\"ftp\", \"ftp\"]\n[flows.ftp]", "lab.toml:16: customers.C1.flows[1]: `ftp` belongs to the customer `C1` already"),
    ("[flows.ftp]", "[customers.C1]\nflows = [\"ftp\"]\n[customers.C2]\nflows = [\"ftp\"]\n[flows.ftp]", "lab.toml:18: customers.C2.flows[0]: `ftp` belongs to the customer `C1` already: let each group belong to one customer"),
    ("[flows.ftp]", "[customers.C1]\nflows = [\"ftp\"]\nconditioner = { law = \"early-marking\" }\n[flows.ftp]", "lab.toml:17: customers.C1.conditioner: the law `early-marking` needs `committed_rate`, committed rate of the contract, bits per second on the wire: add it: `1 bit/s` to `1 Tbit/s`"),
    ("[flows.ftp]", "[customers.C1]\nflows = [\"ftp\"]\nconditioner = { law = \"early-marker\" }\n[flows.ftp]", "lab.toml:17: customers.C1.conditioner.law: no conditioner is named `early-marker`: did you mean `early-marking`?"),
    ("[flows.ftp]", "[customers.C1]\nflows = [\"ftp\"]\nconditioner = { law = \"early-marking\", committed_rate = \"1 Mbit/s\", k1 = 0.1 }\n[flows.ftp]", "lab.toml:17: customers.C1.conditioner: the law `early-marking` cannot run with these parameters: the parameters contradict each other or the scenario: `k1` and `k2` are given with `gain_rule = \"given\"` only"),
    ("[flows.ftp]", "[customers.C1]\nflows = [\"ftp\"]\nconditioner = { law = \"token-bucket\", committed_rate = \"0 bit/s\" }\n[flows.ftp]", "lab.toml:17: customers.C1.conditioner.committed_rate: `0 bit/s` is outside the range of `committed_rate` of the law `token-bucket`: write `1 bit/s` to `1 Tbit/s`"),
    ("[flows.ftp]", "[stop]\n[flows.ftp]", "lab.toml:15: stop.when: missing: write `when = \"transfers complete\"`"),
    ("[flows.ftp]", "[stop]\nwhen = \"bored\"\n[flows.ftp]", "lab.toml:16: stop.when: `bored` is not known here: known: `transfers complete`"),
    ("[flows.ftp]", "[stop]\nwhen = \"transfers complete\"\n[flows.ftp]", "lab.toml:16: stop.when: no transfer is ever complete: give a group of flows a `size`"),
    ("[flows.ftp]", "[classes.udp]\nfloor = \"2 Mbit/s\"\nceiling = \"1 Mbit/s\"\n[flows.ftp]", "lab.toml:17: classes.udp.ceiling: the ceiling is below the floor, 2 Mbit/s: write at least `2 Mbit/s`"),
    ("[flows.ftp]", "[classes.udp]\nceiling = \"0 bit/s\"\n[flows.ftp]", "lab.toml:16: classes.udp.ceiling: a class that may have nothing"),
    ("[flows.ftp]", "[classes.udp]\nshare = 1.5\n[flows.ftp]", "lab.toml:16: classes.udp.share: `1.5` is not a share: write a number above 0 and at most 1"),
    ("[flows.ftp]", "[classes.tcp]\n[flows.x]\nfrom = \"left\"\nto = \"right\"\ncc = { law = \"fast\" }\nclass = \"tcp\"\n[flows.ftp]\nclass = \"tpc\"", "lab.toml:22: flows.ftp.class: no class is named `tpc`: did you mean `tcp`? Known: `tcp`"),
    ("[flows.ftp]", "[classes.a]\nshare = 0.6\n[classes.b]\nshare = 0.5\n[flows.x]\nfrom = \"left\"\nto = \"right\"\ncc = { law = \"fast\" }\nclass = \"a\"\n[flows.ftp]\nclass = \"b\"", "lab.toml:15: classes: the shares of the classes add up to 1.1: write shares of one whole"),
    // Laws that treat classes apart.
    ("duplex = true", "duplex = true\naqm = { law = \"bat\" }\nscheduler = { law = \"drr\" }", "lab.toml:15: links.bottleneck.scheduler: the AQM `bat` separates classes in one queue, so it cannot run under a scheduler with several queues"),
    ("duplex = true", "duplex = true\naqm = { law = \"clcc\" }", "lab.toml:14: links.bottleneck.aqm: the law `clcc` cannot run with these parameters: the parameters contradict each other or the scenario: no class whose flows cross the link has a `share`"),
    // Windows.
    ("[flows.ftp]", "[windows]\na = [\"5 s\", \"5 s\"]\n[flows.ftp]", "lab.toml:16: windows.a: the window `[\"5 s\", \"5 s\"]` is empty"),
    ("[flows.ftp]", "[windows]\na = [\"5 s\", \"61 s\"]\n[flows.ftp]", "lab.toml:16: windows.a: the window ends at 61 s, after the run: end it at 60 s"),
    ("[flows.ftp]", "[windows]\na = [\"5 s\"]\n[flows.ftp]", "lab.toml:16: windows.a: `[\"5 s\"]` is not a pair of durations"),
];

#[test]
fn every_refusal_names_line_key_what_was_found_and_what_would_do() {
    let mut wrong = Vec::new();
    for (old, new, expected) in REFUSED {
        let errors = refusals(&with(old, new));
        let said: Vec<_> = errors.all().iter().map(without_column).collect();
        // Both entries of a list may be wrong, and a class that is wrong may be of no use besides.
        let two = new.starts_with('[') && (new.contains("[classes.") || !new.contains('\n'));
        if !said.iter().any(|said| said.starts_with(expected)) || said.len() > 1 + usize::from(two) {
            wrong.push(format!("{new}\n  said:     {}\n  expected: {expected}\n", said.join("\n            ")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A sweep at the end of `LAB`, which has 20 lines, and what the refusal says.
const SWEEPS: &[(&str, &str)] = &[
    ("seed = { count = 0 }", "lab.toml:22: sweep.seed.count: `0` is out of range: write a whole number from 1"),
    ("seed = []", "lab.toml:22: sweep.seed: a list without seeds"),
    ("seed = [1, 1]", "lab.toml:22: sweep.seed[1]: `1` appears twice"),
    ("seed = 3", "lab.toml:22: sweep.seed: `3` is not a list"),
    ("\"flows.ftp.count\" = []", "lab.toml:22: sweep.\"flows.ftp.count\": a list without values: write at least one"),
    ("\"flows.ftp.count\" = 3", "lab.toml:22: sweep.\"flows.ftp.count\": `3` is not a list"),
    ("\"flows.ftp.count\" = [3, 3]", "lab.toml:22: sweep.\"flows.ftp.count\"[1]: `3` appears twice"),
    (
        "\"flows.ftp.count\" = [3, 0]",
        "lab.toml:22: flows.ftp.count: `0` is out of range: write a whole number from 1 to 10000000 (first in the cell flows.ftp.count = 0)",
    ),
    (
        "\"flows.fpt.count\" = [3]",
        "lab.toml:22: flows.fpt.count: no group of flows is named `fpt`: did you mean `ftp`? Known: `ftp` (first in the cell",
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
        "lab.toml:23: sweep.\"flows.ftp.cc.alpha\": `flows.ftp.cc.alpha` and `flows.ftp.cc` set the same key, or a part of it",
    ),
    ("case = []", "lab.toml:22: sweep.case: a list without a case"),
    ("[[sweep.case]]\n\"flows.ftp.count\" = 3", "lab.toml:22: sweep.case[0]: a case without a name: add `name`"),
    (
        "[[sweep.case]]\nname = \"A\"\n[[sweep.case]]\nname = \"A\"",
        "lab.toml:25: sweep.case[1].name: the name `A` appears twice in `[[sweep.case]]`",
    ),
    (
        "[[sweep.case]]\nname = \"A\"\n\"flows.ftp.rtt\" = \"1 ms\"",
        "lab.toml:24: flows.ftp.rtt: `1 ms` is less than the 20 ms that the links on the way there and back take: write at least `20 ms`, or shorten the links (first in the cell case = A)",
    ),
    (
        "seed = { count = 2 }\n[[sweep.case]]\nname = \"A\"\nseed = 3",
        "lab.toml:25: sweep.case[0].seed: `seed` and `seed` set the same key, or a part of it",
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
fn a_trace_is_refused_by_its_own_lines_and_where_there_are_no_files() {
    let text = with("\"622 Mbit/s\"", "{ trace = \"bad.trace\" }");
    let said = Document::parse_with(&text, "lab.toml", |_| Ok("1\n0\n".into())).unwrap().cells().unwrap_err();
    assert_eq!(
        said.to_string(),
        "bad.trace:2: `0` is earlier than the line before: write one whole number of milliseconds a line, none smaller \
         than the one before (the trace of links.bottleneck.rate.trace in lab.toml:10)"
    );
    let said = only(&Document::parse(&text, "lab.toml").unwrap().cells().unwrap_err());
    assert!(
        said.starts_with(
            "lab.toml:10: links.bottleneck.rate.trace: the trace `bad.trace` is a file, and this program reads no files"
        ),
        "{said}"
    );
}

#[test]
fn a_way_back_is_changed_in_five_keys_only() {
    let over = |text: &str| with("[flows.ftp]", &format!("[links.\"bottleneck/back\"]\n{text}\n[flows.ftp]"));
    let said = refusal(&over("from = \"right\""));
    assert!(said.starts_with("lab.toml:16: links.\"bottleneck/back\".from: the key `from` is unknown here"), "{said}");
    // Without `duplex` it is a link like any other.
    let all = refusals(&over("loss = 0.1").replacen("duplex = true\n", "", 1));
    let lacks: Vec<_> =
        all.all().iter().map(|error| (error.key.rsplit('.').next().unwrap(), &error.found[..])).collect();
    assert_eq!(lacks, ["from", "to", "rate", "delay", "buffer"].map(|key| (key, "missing")));
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
    assert!(
        refusal(&unused)
            .contains("links.unused.buffer: a buffer of `1 bdp` needs the round-trip time of a flow, and no flow crosses the link `unused`")
    );
}

#[test]
fn a_setting_that_cannot_be_is_refused_by_its_own_text() {
    let set = |key: &str, value: &str| {
        let mut document = Document::parse(LAB, "lab.toml").unwrap();
        let refused = document.set(key, value).and_then(|()| document.cells().map(|_| ()));
        only(&refused.expect_err(key))
    };
    for (key, value, expected) in [
        (
            "links.bottleneck.rate",
            "fast",
            "lab.toml: links.bottleneck.rate: `fast` is not a rate: write a number and a unit, as in `10 Mbit/s` (known: bit/s, kbit/s, Mbit/s, Gbit/s, Tbit/s) (from `--set links.bottleneck.rate=fast`)",
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
    for text in [LAB, EVERYTHING] {
        for end in 0..text.len() {
            if let Err(error) = cells(&text[..end]) {
                assert!(error.to_string().starts_with("lab.toml:"), "{error}");
            }
        }
    }
}

/// The contracts of classes count where their flows go: guarantees beyond a line are refused there, and a share is something
/// to be held to there.
#[test]
fn contracts_of_classes_are_held_against_the_links_they_cross() {
    let classes = "[classes.udp]\nfloor = \"400 Mbit/s\"\nshare = 0.5\n[classes.tcp]\nfloor = \"300 Mbit/s\"\n[flows.udp]\nfrom = \"left\"\nto = \"right\"\n\
                   rtt = \"100 ms\"\nclass = \"udp\"\ncc = { law = \"cbr\", rate = \"90 Mbit/s\" }\n[flows.ftp]\nclass = \"tcp\"";
    let over = with("[flows.ftp]", classes);
    assert!(cells(&over).is_ok(), "nobody asked the law");
    let said = refusal(&over.replacen("duplex = true", "duplex = true\naqm = { law = \"bat\" }", 1));
    let expected = "lab.toml:14: links.bottleneck.aqm: the law `bat` cannot run with these parameters: the parameters contradict each other or \
                    the scenario: the floors of its classes add up to 700000000 bit/s, which is more than the line's 622000000 bit/s";
    assert_eq!(said, expected);
    let said = refusal(&over.replacen("duplex = true", "duplex = true\naqm = { law = \"aimd\" }", 1));
    assert!(
        said.ends_with(
            "`aimd` does not keep rate floors or ceilings, but the class `udp` has one; leave it out, or use `bat`"
        ),
        "{said}"
    );
    let fits = over.replacen("300 Mbit/s", "222 Mbit/s", 1).replacen(
        "duplex = true",
        "duplex = true\naqm = { law = \"clcc\" }",
        1,
    );
    assert!(cells(&fits).is_ok());
    let elsewhere = "\n[links.side]\nfrom = \"left\"\nto = \"aside\"\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\nbuffer = \"1 MB\"\naqm = { law = \"bat\" }\n";
    assert!(cells(&format!("{fits}{elsewhere}")).is_ok(), "no class goes there");
}
