mod arbitrary;
mod declared;
mod dynamics;
mod hosts;
mod limits;
mod refusals;
mod several;
mod sweeps;

use penstock_law::aqm::AQMS;
use penstock_law::cc::CONTROLLERS;
use penstock_law::conditioner::CONDITIONERS;
use penstock_law::parameter::Default as Silent;
use penstock_law::quantity::{Bytes, Rate, Time};
use penstock_law::{Entry, Role};

use super::*;
use crate::model::Profile;
use crate::model::{
    Access, AckJitter, Buffer, By, Class, EcnEcho, Full, Group, Limit, Origin, Policer, RackOptions, Recovery,
    Remember, Repeats, Rto, Rtt, Scheduler, Service, Size, Span, Start, StopRule,
};

/// 20 lines; the tests of refusals count them.
const LAB: &str = r#"format = 1
title = "a lab"
duration = "60 s"
warmup = "20 s"
packet = "1000 B"

[links.bottleneck]
from = "left"
to = "right"
rate = "622 Mbit/s"
delay = "10 ms"
buffer = "1 bdp"
duplex = true

[flows.ftp]
count = 100
from = "left"
to = "right"
rtt = "100 ms"
cc = { law = "newreno", ecn = true }
"#;

const PARKING_LOT: &str = r#"format = 1
duration = "10 s"
[defaults.links]
rate = "10 Mbit/s"
delay = "5 ms"
buffer = "100 packets"
duplex = true
[links.first]
from = "a"
to = "b"
[links."first/back"]
rate = "1 Mbit/s"
loss = 0.01
[links.second]
from = "b"
to = "c"
aqm = { law = "red", ecn = true, max_p = 0.2 }
[links.detour]
from = "a"
to = "d"
delay = "1 ms"
[links.detour2]
from = "d"
to = "c"
delay = "1 ms"
[defaults.flows]
cc = { law = "fast", alpha = "50 packets" }
sender = { initial_window = 4, min_rto = "1 s" }
[flows.long]
count = 3
from = "a"
to = "c"
via = ["first", "second"]
rtt = ["40 ms", "50 ms", "60.5 ms"]
start = { every = "1 s", from = "500 ms" }
stop = "8 s"
series = true
sender = { recovery = "newreno", ssthresh = 64 }
[flows.short]
from = "b"
to = "c"
size = "1 MB"
start = "0 s"
[flows.other]
from = "a"
to = "c"
[windows]
early = ["0 s", "2 s"]
"late, rest" = ["2 s", "10 s"]
"#;

/// Every key of the format at least once, but for those that exclude each other.
const EVERYTHING: &str = include_str!("../../examples/everything.toml");

/// 3 opportunities in 12 ms: 3 Mbit/s.
const TRACE: &str = "0\n5\n12\n";

/// 5 Mbit/s, and half of it from 10 s on.
const RATES: &str = "time,rate\n0,5e6\n10,2500000\n";
/// 27 ms, and 40 ms from 15 s on.
const DELAYS: &str = "time,delay\n0,0.027\n15,0.04\n";
/// Half of the transfers are a packet.
const SIZES: &str = "1460,0.5\n1460000,1\n";

fn document(text: &str) -> Result<Document, ReadErrors> {
    let load = |file: &str| match file {
        "cellular.trace" => Ok(TRACE.to_owned()),
        "recorded.csv" => Ok(RATES.to_owned()),
        "delays.csv" => Ok(DELAYS.to_owned()),
        "sizes.csv" => Ok(SIZES.to_owned()),
        _ => Err("there is none".to_owned()),
    };
    Document::parse_with(text, "lab.toml", load)
}

fn cells(text: &str) -> Result<Vec<Cell>, ReadErrors> {
    document(text)?.cells()
}

fn scenario(text: &str) -> Scenario {
    cells(text).unwrap_or_else(|e| panic!("{e}")).remove(0).scenario
}

/// The errors of a text.
fn refusals(text: &str) -> ReadErrors {
    match cells(text) {
        Ok(_) => panic!("read without complaint:\n{text}"),
        Err(errors) => errors,
    }
}

/// The only error of a text, without its column. Errors that follow from an error are none.
fn refusal(text: &str) -> String {
    only(&refusals(text))
}

fn only(errors: &ReadErrors) -> String {
    let [error] = errors.all() else { panic!("{errors}") };
    without_column(error)
}

fn without_column(error: &ReadError) -> String {
    ReadError { column: None, ..error.clone() }.to_string()
}

/// `LAB` with one piece of text replaced.
fn with(old: &str, new: &str) -> String {
    assert!(LAB.contains(old), "{old}");
    LAB.replacen(old, new, 1)
}

#[test]
fn every_default_is_filled_in() {
    let s = scenario(LAB);
    assert_eq!((s.title.as_str(), s.seed.0, s.sample), ("a lab", 1, Time(100_000_000_000)));
    assert_eq!((s.packet.wire, s.packet.payload, s.packet.ack), (Bytes(1000), Bytes(960), Bytes(40)));
    assert_eq!(s.links.keys().collect::<Vec<_>>(), ["bottleneck", "bottleneck/back"]);
    let link = &s.links["bottleneck"];
    assert_eq!((link.rate, link.delay, link.loss), (Rate(622_000_000), Time(10_000_000_000), 0.0));
    assert_eq!(link.aqm.law.name, "droptail");
    let group = &s.groups["ftp"];
    assert_eq!(group.rtt, Rtt::Each(Time(100_000_000_000)));
    assert_eq!(
        (&group.forward[..], &group.backward[..]),
        (&["bottleneck".into()][..], &["bottleneck/back".into()][..])
    );
    assert_eq!(group.start, Start::Uniform(Time::ZERO, Time(Time::PER_SECOND)));
    assert_eq!((group.stop, group.size.clone(), group.series), (None, None, false));
    assert_eq!((group.sender.initial_window, group.sender.initial_ssthresh), (2.0, f64::INFINITY));
    assert_eq!((group.sender.recovery, group.sender.delayed_ack), (Recovery::Sack, 1));
    assert_eq!((group.sender.ecn_echo, group.sender.min_rto), (EcnEcho::PerPacket, Time(200_000_000_000)));
}

#[test]
fn everything_in_the_format_is_read() {
    let ms = |ms: u64| Time(ms * (Time::PER_SECOND / 1000));
    let s = scenario(EVERYTHING);
    let first = &s.links["first"];
    assert_eq!(first.rate, Rate(10_000_000));
    let changes = vec![(ms(5000), Rate(0)), (ms(5500), Rate(20_000_000))];
    assert_eq!(first.service, Service::Schedule(changes));
    assert_eq!(
        (first.delay, &first.delays[..]),
        (ms(5), &[(ms(8000), ms(9))][..]),
        "what changes nothing is no change"
    );
    assert_eq!(first.scheduler, Scheduler::Drr { by: By::Class, quantum: Bytes(1500) });
    // 10 Mbit/s, the rate at the start, times the largest round trip, 50 ms, are 42 packets of 1500 B, rounded up.
    assert_eq!(first.buffer, Buffer::Packets(42));
    let back = &s.links["first/back"];
    assert_eq!((back.rate, back.scheduler), (Rate(5_000_000), Scheduler::Fifo));
    assert_eq!(back.service.changes(), [(ms(10_000), Rate(2_500_000))]);
    assert!(matches!(&back.service, Service::Rates(rates) if rates.file == "recorded.csv"), "{:?}", back.service);
    assert_eq!((back.delay, &back.delays[..]), (ms(5), &[(ms(15_000), ms(4))][..]));
    let second = &s.links["second"];
    assert_eq!(second.rate, Rate(3_000_000));
    assert_eq!(second.policer, Some(Policer { rate: Rate(8_000_000), burst: Bytes(30_000) }));
    let Service::Trace(trace) = &second.service else { panic!("{:?}", second.service) };
    assert_eq!((&trace.opportunities[..], trace.period), (&[ms(0), ms(5), ms(12)][..], ms(12)));
    assert_eq!(second.scheduler, Scheduler::Drr { by: By::Flow, quantum: Bytes(3000) });

    let late = Some(AckJitter { probability: 0.001, between: (ms(0), ms(9)) });
    let web = &s.groups["web"];
    assert_eq!(web.size, Some(Size::Pareto { mean: Bytes(100_000), shape: 1.2 }));
    assert_eq!((web.repeats, web.class.as_deref()), (Some(Repeats::Poisson(20.0)), Some("tcp")));
    assert_eq!(web.access, Some(Access { rate: Rate(1_000_000_000), queue: Buffer::Packets(100), full: Full::Wait }));
    assert_eq!((web.jitter, web.ack_jitter), (Some((Time(100_000_000), Time(500_000_000))), late));
    let options = &web.sender;
    assert_eq!((options.recovery, options.limited_transmit, options.burst), (Recovery::Reno, true, 2));
    assert_eq!((options.remember, options.min_rto, options.rto), (Remember::BaseRtt, ms(1000), Rto::Linux));
    let files = &s.groups["files"].sender;
    // The profile gives what no key of the group or of the defaults says.
    assert_eq!((files.profile, files.recovery, files.initial_window), (Profile::Linux, Recovery::Rack, 10.0));
    assert_eq!((files.delayed_ack, files.quick_acks, files.min_rto, files.burst), (2, 4, ms(1000), 4));
    assert_eq!(files.rack, RackOptions { prr: false, tail_loss_probe: false, dsack: false, undo: false });
    let Some(Size::Measured(sizes)) = &s.groups["files"].size else { panic!("{:?}", s.groups["files"].size) };
    assert_eq!(&sizes.points[..], [(1460.0, 0.5), (1_460_000.0, 1.0)]);
    assert!(matches!(&sizes.origin, Origin::File { file, sha256 } if file == "sizes.csv" && sha256.len() == 64));
    let pages = &s.groups["pages"];
    assert_eq!(
        (pages.repeats, pages.sender.remember),
        (Some(Repeats::Idle(Span::Exponential(ms(500)))), Remember::Everything)
    );
    assert_eq!((pages.sender.rto, pages.sender.tick, web.sender.tick), (Rto::Rfc6298, Some(ms(500)), None));
    // What defaults say of transfers means nothing to a single one, and what they say of acknowledgements nothing to
    // those who get none.
    assert_eq!((s.groups["files"].sender.remember, s.groups["files"].ack_jitter), (Remember::Nothing, late));
    assert_eq!((s.groups["files"].sender.limit, options.limit), (Limit::Pace, Limit::Window));
    let udp = &s.groups["udp"];
    assert_eq!(
        (udp.sender.rto, udp.sender.min_rto, udp.ack_jitter, udp.sender.burst),
        (Rto::Rfc6298, ms(200), None, 4)
    );
    let rates = |group: &Group| group.steps.iter().map(|(at, v)| (*at, v.number("rate"))).collect::<Vec<_>>();
    assert_eq!((udp.cc.values.number("rate"), udp.spacing_jitter), (1e6, 0.05));
    assert_eq!(rates(udp), [(ms(10_000), 2e6), (ms(20_000), 1e6)]);
    let on = Span::Pareto { mean: ms(1000), shape: 1.5 };
    assert_eq!(udp.on_off, Some((on, Span::Uniform(ms(0), ms(2000)))));
    let video = &s.groups["video"];
    assert_eq!(
        (rates(video), video.on_off),
        (vec![(ms(8000), 1.5e6)], Some((Span::Fixed(ms(1000)), Span::Fixed(ms(1000)))))
    );
    let queue = Buffer::Bytes(Bytes(625_000));
    assert_eq!(video.access, Some(Access { rate: Rate(10_000_000), queue, full: Full::Drop }));

    let tcp = Class { floor: Rate(1_000_000), ceiling: Some(Rate(100_000_000)), share: None };
    assert_eq!(
        (&s.classes["tcp"], &s.classes["udp"]),
        (&tcp, &Class { floor: Rate(0), ceiling: None, share: Some(0.3) })
    );
    assert_eq!(s.customers["C1"].flows, ["web", "udp"]);
    assert_eq!(s.stop, Some(StopRule::TransfersComplete));
}

/// Bytes at 622 Mbit/s in 50 ms, rounded up; the way back has its own rate, and an interface too.
#[test]
fn a_buffer_of_a_time_is_bytes_at_its_rate() {
    let access = "access = { rate = \"9 Mbit/s\", queue = \"10 ms\" }\ncc = {";
    let text = with("\"1 bdp\"", "\"50 ms\"").replace("cc = {", access);
    let s = scenario(&format!("{text}\n[links.\"bottleneck/back\"]\nrate = \"10 Mbit/s\"\n"));
    let buffer = |name: &str| s.links[name].buffer;
    assert_eq!(buffer("bottleneck"), Buffer::Bytes(Bytes(3_887_500)));
    assert_eq!(buffer("bottleneck/back"), Buffer::Bytes(Bytes(62_500)));
    assert_eq!(s.groups["ftp"].access.unwrap().queue, Buffer::Bytes(Bytes(11_250)));
    let odd = scenario(&with("\"1 bdp\"", "\"50.00000001 ms\""));
    assert_eq!(odd.links["bottleneck"].buffer, Buffer::Bytes(Bytes(3_887_501)));
}

/// A way back that no flow with a class crosses has no use for the scheduler over classes of the way there, and what is printed of
/// it is read again.
#[test]
fn a_way_back_without_classes_has_no_scheduler_over_them() {
    let without = EVERYTHING.replace("scheduler = { law = \"fifo\" }\n", "");
    let s = scenario(&without);
    assert_eq!(s.links["first/back"].scheduler, Scheduler::Fifo);
    assert_eq!(print(&scenario(&print(&s))), print(&s));
}

/// A trace's content is part of what is run, and so of its identity.
#[test]
fn another_trace_under_the_same_name_is_another_scenario() {
    let of = |file: &str, trace: &str| match file {
        "recorded.csv" => RATES.to_owned(),
        "delays.csv" => DELAYS.to_owned(),
        "sizes.csv" => SIZES.to_owned(),
        _ => trace.to_owned(),
    };
    let cell = |trace: &'static str| {
        let document = Document::parse_with(EVERYTHING, "lab.toml", move |file| Ok(of(file, trace))).unwrap();
        document.cells().unwrap().remove(0)
    };
    let (here, there) = (cell(TRACE), cell("0\n5\n12\n12\n"));
    assert_ne!(here.id, there.id);
    let printed = print(&here.scenario);
    let refused = Document::parse_with(&printed, "lab.toml", move |file| Ok(of(file, "0\n5\n12\n12\n")))
        .unwrap()
        .cells()
        .unwrap_err();
    assert!(refused.to_string().contains("is not the file that was meant"), "{refused}");
    assert_eq!(here.id, cells(&printed).unwrap()[0].id);
    // Each cell of a sweep has it, and each file is read once.
    let reads = Arc::new(std::sync::atomic::AtomicU32::new(0));
    let counted = reads.clone();
    let load = move |file: &str| {
        counted.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        Ok(of(file, TRACE))
    };
    let swept = format!("{EVERYTHING}[sweep]\nseed = {{ count = 3 }}\n");
    assert_eq!(Document::parse_with(&swept, "lab.toml", load).unwrap().cells().unwrap().len(), 3);
    assert_eq!(reads.load(std::sync::atomic::Ordering::Relaxed), 3, "a trace, rates, and sizes");
}

/// Steps written out and steps of equal length are the same scenario.
#[test]
fn steps_of_equal_length_begin_again() {
    let cbr = |rate: &str| with("law = \"newreno\", ecn = true", &format!("law = \"cbr\", rate = {rate}"));
    let id = |text: &str| cells(text).unwrap_or_else(|e| panic!("{e}")).remove(0).id;
    let every = id(&cbr("{ every = \"25 s\", steps = [\"1 Mbit/s\", \"2 Mbit/s\"] }"));
    assert_eq!(every, id(&cbr("[[\"0 s\", \"1 Mbit/s\"], [\"25 s\", \"2 Mbit/s\"], [\"50 s\", \"1 Mbit/s\"]]")));
    assert_eq!(id(&cbr("[[\"0 s\", \"1 Mbit/s\"]]")), id(&cbr("\"1 Mbit/s\"")));
}

/// A recorded delay is the list of its lines, and what changes nothing is no change.
#[test]
fn a_recorded_delay_is_a_list() {
    let id = |delay: &str| scenario(&with("\"10 ms\"", delay)).links["bottleneck"].delays.clone();
    let listed = id("[[\"0 s\", \"27 ms\"], [\"15 s\", \"40 ms\"]]");
    assert_eq!(listed, [(Time(15 * Time::PER_SECOND), Time(Time::PER_SECOND / 25))]);
    assert_eq!(id("{ trace = \"delays.csv\" }"), listed);
}

/// 622 Mbit/s times 100 ms are 7775 packets of 1000 B; half a packet more is a packet more.
#[test]
fn a_bandwidth_delay_product_is_packets_rounded_up() {
    assert_eq!(scenario(LAB).links["bottleneck"].buffer, Buffer::Packets(7775));
    assert_eq!(scenario(LAB).links["bottleneck/back"].buffer, Buffer::Packets(7775));
    assert_eq!(scenario(&with("1 bdp", "0.5 bdp")).links["bottleneck"].buffer, Buffer::Packets(3888));
    // 622 Mbit/s for 0.1 s; a buffer of bytes holds one packet at least.
    let bytes = |text| scenario(&with("1 bdp", text)).links["bottleneck"].buffer;
    assert_eq!(bytes("1 bdp of bytes"), Buffer::Bytes(Bytes(7_775_000)));
    assert_eq!(bytes("0.00001 bdp of bytes"), Buffer::Bytes(Bytes(1000)));
    assert_eq!(scenario(&with("1 bdp", "8 MB")).links["bottleneck"].buffer, Buffer::Bytes(Bytes(8_000_000)));
    let spread = with("\"100 ms\"", "{ uniform = [\"40 ms\", \"200 ms\"] }");
    assert_eq!(scenario(&spread).links["bottleneck"].buffer, Buffer::Packets(15550));
}

/// Delays and start times that are drawn have a stream each: over a hundred flows, who is far away is not who starts late.
#[test]
fn delays_and_start_times_are_drawn_apart() {
    let s = scenario(&with("\"100 ms\"", "{ uniform = [\"40 ms\", \"200 ms\"] }"));
    let flows = &s.groups["ftp"];
    let off_mean = |times: Vec<Time>| {
        let mean = times.iter().map(|t| t.seconds()).sum::<f64>() / times.len() as f64;
        times.into_iter().map(|t| t.seconds() - mean).collect::<Vec<_>>()
    };
    let (delays, starts) = (off_mean(flows.rtts("ftp", s.seed)), off_mean(flows.starts("ftp", s.seed)));
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let correlation = product(&delays, &starts) / (product(&delays, &delays) * product(&starts, &starts)).sqrt();
    assert!(correlation.abs() < 0.35, "{correlation}");
}

#[test]
fn routes_ways_back_and_defaults() {
    let s = scenario(PARKING_LOT);
    assert_eq!(s.links["first/back"].rate, Rate(1_000_000));
    assert_eq!(s.links["first/back"].loss, 0.01);
    assert_eq!((&s.links["first/back"].from[..], &s.links["first/back"].to[..]), ("b", "a"));
    assert_eq!(s.links["second/back"].aqm.values.number("max_p"), 0.2);
    let long = &s.groups["long"];
    assert_eq!(long.forward, ["first", "second"]);
    // Two links either way, of which the detour is the quicker.
    assert_eq!(long.backward, ["detour2/back", "detour/back"]);
    assert_eq!(s.groups["other"].forward, ["detour", "detour2"]);
    assert_eq!(s.groups["other"].rtt, Rtt::Each(Time(4_000_000_000)));
    assert_eq!(long.start, Start::Every(Time(500_000_000_000), Time(Time::PER_SECOND)));
    assert_eq!(long.cc.values.number("alpha"), 50.0);
    assert_eq!((long.sender.initial_window, long.sender.min_rto), (4.0, Time(Time::PER_SECOND)));
    assert_eq!((long.sender.initial_ssthresh, long.sender.recovery), (64.0, Recovery::NewReno));
    assert_eq!(s.groups["short"].size, Some(Size::Each(Bytes(1_000_000))));
    assert_eq!(s.windows["late, rest"], (Time(2 * Time::PER_SECOND), Time(10 * Time::PER_SECOND)));
    assert_eq!(s.title, "lab");
}

#[test]
fn a_pair_of_nodes_without_a_way_back_has_an_ideal_one() {
    let s = scenario(&with("duplex = true", ""));
    assert!(s.groups["ftp"].backward.is_empty());
}

#[test]
fn a_way_back_can_differ() {
    let over = "[links.\"bottleneck/back\"]\nrate = \"1 Mbit/s\"\ndelay = \"20 ms\"\nbuffer = \"2 packets\"\nloss = 0.5\n\
                aqm = { law = \"red\" }\n[flows.ftp]";
    let s = scenario(&with("[flows.ftp]", over));
    assert_eq!(s.links.keys().collect::<Vec<_>>(), ["bottleneck", "bottleneck/back"]);
    let back = &s.links["bottleneck/back"];
    assert_eq!((back.rate, back.delay, back.loss), (Rate(1_000_000), Time(20_000_000_000), 0.5));
    assert_eq!((back.buffer, back.aqm.law.name), (Buffer::Packets(2), "red"));
    assert_eq!(s.links["bottleneck"].aqm.law.name, "droptail");
}

const SWEEP: &str = r#"[sweep]
seed = { count = 2 }
"links.bottleneck.rate" = ["155 Mbit/s", "622 Mbit/s"]
flows.ftp.count = [10, 20]
[[sweep.case]]
name = "NewReno/RED"
"flows.ftp.cc" = { law = "newreno", ecn = true }
"links.bottleneck.aqm" = { law = "red", ecn = true }
[[sweep.case]]
name = "FAST"
flows.ftp.cc = { law = "fast", alpha = "50 packets" }
"#;

/// The identity of a cell depends on what is run and on nothing else.
#[test]
fn an_identity_survives_comments_units_and_order_of_keys() {
    let id = |text: &str| cells(text).unwrap().remove(0).id;
    assert_eq!(id(LAB), id(&with("\"60 s\"", "\"1 min\" # a comment")));
    assert_eq!(id(LAB), id(&with("\"1 bdp\"", "\"7775 packets\"")));
    assert_ne!(id(LAB), id(&with("count = 100", "count = 101")));
    let swept = format!("{LAB}[sweep]\nseed = [1, 2]\n");
    assert_eq!(id(LAB), id(&swept));
    // The identity itself is part of the contract: finished cells are found by it.
    assert_eq!(id(LAB), PINNED);
}
const PINNED: &str = "2f1e008ea969f7ad";

#[test]
fn settings_win_over_the_file_and_over_the_sweep() {
    let mut document = Document::parse(&format!("{LAB}{SWEEP}"), "lab.toml").unwrap();
    document.set("links.bottleneck.rate", "1 Gbit/s").unwrap();
    document.set("seed", "9").unwrap();
    document.set("title", "'quoted'").unwrap();
    document.set("flows.ftp.sender.min_rto", "1 s").unwrap();
    document.set("links.bottleneck/back.loss", "0.25").unwrap();
    document.set("windows.late", "[\"30 s\", \"60 s\"]").unwrap();
    let cells = document.cells().unwrap();
    assert_eq!(cells.len(), 4);
    for cell in &cells {
        let s = &cell.scenario;
        assert_eq!((s.links["bottleneck"].rate, s.seed.0, s.title.as_str()), (Rate(1_000_000_000), 9, "quoted"));
        assert_eq!(s.groups["ftp"].sender.min_rto, Time(Time::PER_SECOND));
        assert_eq!(s.links["bottleneck/back"].loss, 0.25);
        assert_eq!(s.windows["late"].1, Time(60 * Time::PER_SECOND));
        assert!(cell.labels.iter().all(|(key, _)| key == "flows.ftp.count" || key == "case"));
    }
}

#[test]
fn settings_reach_into_the_laws_of_cases_and_of_defaults() {
    let mut document = Document::parse(PARKING_LOT, "lab.toml").unwrap();
    document.set("flows.other.cc.alpha", "7 packets").unwrap();
    document.set("defaults.flows.sender.initial_window", "3").unwrap();
    document.set("sweep.seed", "[4, 5]").unwrap();
    let cells = document.cells().unwrap();
    assert_eq!(cells.iter().map(|cell| cell.scenario.seed.0).collect::<Vec<_>>(), [4, 5]);
    let s = &cells[0].scenario;
    assert_eq!(s.groups["other"].cc.values.number("alpha"), 7.0);
    assert_eq!(s.groups["short"].cc.values.number("alpha"), 50.0);
    assert_eq!(s.groups["other"].sender.initial_window, 3.0);
}

/// Every law is readable by its name alone, and by name with its defaults written out as the printer writes them.
#[test]
fn every_law_is_readable_with_its_defaults() {
    fn spelled<R: Role>(entry: &Entry<R>) -> String {
        let mut text = format!("law = \"{}\"", entry.name);
        for parameter in entry.parameters {
            if parameter.default == Silent::Required {
                let value = crate::quantity::print_real(parameter.least, parameter.unit);
                text = format!("{text}, {} = \"{value}\"", parameter.name);
            }
        }
        text
    }
    for entry in CONTROLLERS {
        let s = scenario(&with("law = \"newreno\", ecn = true", &spelled(entry)));
        assert_eq!(s.groups["ftp"].cc.law.name, entry.name);
        assert_round_trip(&s);
    }
    for entry in AQMS {
        let text = with("duplex = true", &format!("duplex = true\naqm = {{ {} }}", spelled(entry)));
        // A law that treats classes apart may ask for one that has a share.
        let udp = "[classes.udp]\nshare = 0.3\n[flows.udp]\nfrom = \"left\"\nto = \"right\"\nrtt = \"100 ms\"\n\
                   class = \"udp\"\ncc = { law = \"cbr\", rate = \"90 Mbit/s\" }\n";
        let s = scenario(&format!("{text}{udp}"));
        assert_eq!(s.links["bottleneck"].aqm.law.name, entry.name);
        assert_round_trip(&s);
    }
    for entry in CONDITIONERS {
        let customer = format!("[customers.c]\nflows = [\"ftp\"]\nconditioner = {{ {} }}\n[flows.ftp]", spelled(entry));
        let s = scenario(&with("[flows.ftp]", &customer));
        assert_eq!(s.customers["c"].conditioner.as_ref().unwrap().law.name, entry.name);
        assert_round_trip(&s);
    }
}

fn assert_round_trip(s: &Scenario) {
    let text = print(s);
    let again = scenario(&text);
    assert_eq!(print(&again), text);
    assert!(format!("{again:?}") == format!("{s:?}"), "prints the same and is not:\n{text}");
}

#[test]
fn a_resolved_scenario_reads_as_itself() {
    assert_round_trip(&scenario(LAB));
    assert_round_trip(&scenario(PARKING_LOT));
    assert_round_trip(&scenario(EVERYTHING));
    assert_round_trip(&scenario(&with("\"100 ms\"", "{ spread = [\"40 ms\", \"200 ms\"] }")));
    assert_round_trip(&scenario(&with("\"100 ms\"", "{ uniform = [\"40.000000000001 ms\", \"200 ms\"] }")));
    assert_round_trip(&scenario(&with("\"a lab\"", "'a \"lab\" \\ \u{e9}'")));
    assert_round_trip(&scenario(&with("bottleneck]", "\"the \\\"neck\\\"\"]")));
    for cell in cells(&format!("{LAB}{SWEEP}")).unwrap() {
        assert_round_trip(&cell.scenario);
    }
}

/// The resolved text; a change of it changes every identity.
#[test]
fn the_resolved_text_is_pinned() {
    assert_eq!(print(&scenario(LAB)), RESOLVED);
}
const RESOLVED: &str = r#"format = 1
title = "a lab"
duration = "60 s"
warmup = "20 s"
seed = 1
packet = { wire = "1000 B", payload = "960 B" }
sample = "100 ms"

[links.bottleneck]
from = "left"
to = "right"
rate = "622 Mbit/s"
delay = "10 ms"
buffer = "7775 packets"
aqm = { law = "droptail" }
scheduler = { law = "fifo" }
loss = 0

[links."bottleneck/back"]
from = "right"
to = "left"
rate = "622 Mbit/s"
delay = "10 ms"
buffer = "7775 packets"
aqm = { law = "droptail" }
scheduler = { law = "fifo" }
loss = 0

[flows.ftp]
count = 100
from = "left"
to = "right"
via = ["bottleneck"]
rtt = "100 ms"
cc = { law = "newreno", ecn = true, grow_on_echo = false, per_ack = "1 packets", search = "off", flight_size = false }
start = { uniform = ["0 s", "1 s"] }
size = "unlimited"
series = false
sender = { initial_window = 2, ssthresh = "unlimited", receive_window = "unlimited", min_rto = "200 ms", rto = "rfc6298", recovery = "sack", delayed_ack = 1, ecn_echo = "per-packet", pacing = "law", burst = "1 packet", limited_transmit = false, arithmetic = "f64" }
"#;
