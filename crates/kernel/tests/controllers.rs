//! Controllers in the running kernel: attached, replaced, detached, and refused. Needs root and a kernel with struct_ops;
//! without those the tests print so and count as not run.
//!
//! The duties and refusals of a kernel's struct_ops are in its own selftests (tools/testing/selftests/bpf, `bpf_tcp_ca`);
//! each case there has one here, over the programs of this project and over `controllers/wrong.bpf.c`.

#[path = "controllers/bench.rs"]
mod bench;
#[path = "controllers/defaults.rs"]
mod defaults;
#[path = "../../cli/tests/optional/mod.rs"]
mod optional;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::{env, fs};

use bench::{Bench, Objects, ends, link_of, wrong};
use libbpf_rs::MapCore;
use optional::available;
use penstock_kernel::attach::pins::Pins;
use penstock_kernel::attach::{self, Error, Place, Request, Scope, Which, controller, settings};
use penstock_law::cc::copa::{Acknowledged, Copa};
use penstock_law::cc::fast::{Fast, State};
use penstock_law::cc::{self, Controller, Event};
use penstock_law::estimate::Clocked;
use penstock_law::quantity::{Bytes, Time};
use penstock_law::{Fix, Law, Number, Registry};
use penstock_scenario::model::Chosen;

fn controller_of_ours(law: &str, settings: &[String]) -> Result<Chosen<Controller>, Error> {
    settings::controller(&Arc::new(Registry::standard()), law, settings)
}

const SOCKETS: Place<'_> = Place::Sockets { default: None, trace: false };

/// Case 1: Every controller carries data, and its counters grow.
fn every_controller_carries_data() {
    for law in controller::names() {
        let bench = Bench::new();
        let attached = bench.attach(law, SOCKETS, &[]).unwrap();
        assert_eq!(attached.name, law);
        ends(|ends| {
            assert_eq!(ends.send(law, 20_000_000).unwrap(), law);
        });
        assert!(bench.figure("connections") >= 1.0);
        assert_eq!(bench.figure("timeouts"), 0.0);
    }
}

/// Case 2: A licence that is not the kernel's is refused, with the verifier's log.
fn a_licence_that_does_not_fit_is_refused() {
    let error = wrong("LICENCE").unwrap_err();
    assert!(matches!(error, Error::Kernel { .. } | Error::Missing(_)), "{error}");
    assert!(error.to_string().contains("GPL"), "{error}");
}

/// Case 3: A field that is not a controller's to write is refused with the line of our source.
fn a_field_that_is_not_ours_is_refused_with_its_line() {
    let said = wrong("CLAMP").unwrap_err().to_string();
    assert!(said.contains("snd_cwnd_clamp = 1") && said.contains("the verifier"), "{said}");
}

/// Case 4: The spacing of packets is.
fn the_spacing_is_ours_to_write() {
    wrong("PACING").unwrap();
}

/// A socket's own limit (SO_MAX_PACING_RATE) holds, as under the kernel's own controllers: 4 MB at 4 MB/s take a second.
fn the_limit_of_a_socket_bounds_the_spacing() {
    for law in ["fast", "ccpd", "copa"] {
        let bench = Bench::new();
        bench.attach(law, SOCKETS, &[]).unwrap();
        ends(|ends| {
            let took = ends.send_at_most(law, 4_000_000, 4_000_000).unwrap().as_secs_f64();
            assert!(took > 0.8, "{law}: {took} s");
        });
    }
}

/// Case 5: An operation that is missing keeps a controller from being registered, not from being loaded.
fn a_missing_operation_is_refused() {
    let object = wrong("INCOMPLETE").unwrap();
    let error = link_of(object).map(|_| ()).unwrap_err();
    assert_eq!(error.kind(), libbpf_rs::ErrorKind::InvalidInput, "{error}");
    assert!(!available().contains(&"wrong".to_owned()));
}

/// Case 6: An operation that struct_ops does not have is refused.
fn an_operation_that_is_not_supported_is_refused() {
    let said = wrong("UNSUPPORTED").unwrap_err().to_string();
    assert!(said.contains("get_info") || said.contains("-524") || said.contains("524"), "{said}");
}

/// Case 7: While a socket gives its controller back it cannot choose another.
fn a_socket_option_in_release_is_refused() {
    let said = wrong("RELEASE").unwrap_err().to_string();
    assert!(said.contains("bpf_setsockopt") || said.contains("#49"), "{said}");
}

/// Case 8: Where the other end does not speak ECN a controller that needs it gives the connection to another, by a socket option.
fn without_ecn_the_connection_gets_another_controller() {
    let bench = Bench::new();
    bench.attach("leadlag", SOCKETS, &[]).unwrap();
    ends(|ends| {
        ends.refuse_ecn();
        assert_eq!(ends.send_to_others("leadlag", 2_000_000).unwrap(), "cubic");
    });
}

/// Case 9: Replaced while attached: connections that are open keep what they have, new ones have the new, and a default that was
/// made stays one.
fn other_parameters_replace_the_controller_in_one_step() {
    let bench = Bench::new();
    bench.attach("fast", SOCKETS, &["law.alpha=20 packets"]).unwrap();
    ends(|ends| {
        let (open, _listener) = ends.connect("fast").unwrap();
        let first = Objects::pinned(&bench.pins);
        let attached = bench.attach("fast", SOCKETS, &["law.alpha=30 packets"]).unwrap();
        assert_eq!(attached.parameters[0], ("alpha".to_owned(), "30 packets".to_owned()));
        let second = Objects::pinned(&bench.pins);
        assert!(first.links == second.links && !first.programs.is_empty());
        assert!(first.programs.is_disjoint(&second.programs), "{first:?} {second:?}");
        assert_eq!(first.left(), first, "the open connection keeps what was there before");
        assert_eq!(bench::controller_of(&open), "fast");
        assert_eq!(ends.send("fast", 2_000_000).unwrap(), "fast");
    });
    assert_eq!(attach::status(&bench.pins).unwrap().len(), 1);
}

/// Case 10: A link takes no controller of another name.
fn a_link_takes_no_controller_of_another_name() {
    let link = link_of(wrong("PACING").unwrap()).unwrap();
    let other = wrong("OTHER").unwrap();
    let map = other.maps().find(|map| map.name() == "wrong").unwrap();
    assert!(bench::update(&link, &map).is_err());
    assert!(available().contains(&"wrong".to_owned()) && !available().contains(&"other".to_owned()));
    drop(link);
    bench::eventually(|| !available().contains(&"wrong".to_owned()));
}

/// Case 11: A name is taken once, by whatever link, and also when another program has it.
fn a_name_is_taken_once() {
    let link = link_of(wrong("FAST").unwrap()).unwrap();
    let bench = Bench::new();
    let error = bench.attach("fast", SOCKETS, &[]).unwrap_err();
    assert!(matches!(error, Error::Input(_)) && error.to_string().contains("a controller `fast` already"), "{error}");
    assert!(bench.pins.names().unwrap().is_empty());
    drop(link);
    bench::eventually(|| !available().contains(&"fast".to_owned()));
}

/// Case 12: A link that goes takes the name with it, and the next may have it: links one after the other.
fn several_links_one_after_the_other() {
    for _ in 0..3 {
        let link = link_of(wrong("PACING").unwrap()).unwrap();
        assert!(available().contains(&"wrong".to_owned()));
        drop(link);
        bench::eventually(|| !available().contains(&"wrong".to_owned()));
    }
}

/// Case 13: A map that is not made for links registers without one, and cannot replace one that is.
fn maps_with_and_without_links_do_not_mix() {
    let link = link_of(wrong("PACING").unwrap()).unwrap();
    let plain = wrong("PLAIN").unwrap();
    let map = plain.maps().find(|map| map.name() == "wrong").unwrap();
    assert!(bench::update(&link, &map).is_err());
    drop(link);
    bench::eventually(|| !available().contains(&"wrong".to_owned()));
}

/// The default of a namespace of ours, and back.
fn a_default_is_made_and_given_back() {
    let bench = Bench::new();
    ends(|ends| {
        let before = ends.default();
        let place = Place::Sockets { default: Some(Scope::Namespace), trace: false };
        let attached = ends.within(|| bench.attach("fast", place, &[])).unwrap();
        assert!(attached.place.contains(&format!("before: {before}")), "{attached:?}");
        assert_eq!(ends.default(), "fast");
        ends.within(|| bench.attach("fast", place, &["law.alpha=7 packets"])).unwrap();
        assert_eq!(ends.default(), "fast");
        assert_eq!(ends.send_by_default(1_000_000).unwrap(), "fast");
        ends.within(|| attach::detach(&bench.pins, Which::default())).unwrap();
        assert_eq!(ends.default(), before);
    });
    bench::eventually(|| !available().contains(&"fast".to_owned()));
}

/// An unknown attachment is refused, and nothing has changed.
fn what_is_not_there_is_refused_before_anything_changes() {
    let bench = Bench::new();
    let device = |name| Place::Device { name, direction: None };
    for (law, place, settings, said) in [
        ("fest", SOCKETS, &[][..], "no law for this kernel is named `fest`; there are fast"),
        ("fast", device("lo"), &[], "leave out --device"),
        ("fast", SOCKETS, &["law.alphq=1"], "no parameter `alphq`"),
        ("fast", SOCKETS, &["law.alpha=-1 packets"], "outside the range"),
        ("leadlag", SOCKETS, &["law.fairness=2"], "the utility K log x only"),
    ] {
        let error = bench.attach(law, place, settings).unwrap_err();
        assert!(matches!(error, Error::Input(_)) && error.to_string().contains(said), "{error}");
        assert!(!bench.folder().exists());
    }
    let error = attach::detach(&bench.pins, Which { name: Some("fast"), device: None }).unwrap_err();
    assert!(error.to_string().contains("`fast` is not attached"), "{error}");
}

/// A directory, and the pin of a map, among the pins: reported, and in nobody's way.
fn what_is_none_of_ours_stops_nobody() {
    let bench = Bench::new();
    bench.attach("fast", SOCKETS, &[]).unwrap();
    fs::create_dir(bench.pins.path("cc-directory")).unwrap();
    fs::create_dir(bench.pins.path("tc-1-2-egress")).unwrap();
    let mut map = wrong("PACING").unwrap();
    map.maps_mut().find(|map| map.name() == "wrong").unwrap().pin(bench.pins.path("cc-map")).unwrap();
    let strangers = ["cc-directory", "cc-map", "tc-1-2-egress"];
    let status = attach::status(&bench.pins).unwrap();
    let kinds: BTreeMap<&str, &str> = status.iter().map(|one| (one.name.as_str(), one.kind)).collect();
    assert_eq!(kinds.get("fast"), Some(&"controller"), "{status:?}");
    assert!(strangers.iter().all(|name| kinds.get(name) == Some(&"unknown")), "{status:?}");
    // Another may still come.
    bench.attach("ccpd", SOCKETS, &[]).unwrap();
    let detached = attach::detach(&bench.pins, Which::default()).unwrap();
    assert_eq!(detached.gone, ["cc-ccpd", "cc-fast"]);
    assert!(strangers.iter().all(|name| detached.notes.iter().any(|note| note.contains(name))), "{detached:?}");
    assert_eq!(bench.pins.names().unwrap(), strangers);
    fs::remove_file(bench.pins.path("cc-map")).unwrap();
    for folder in ["cc-directory", "tc-1-2-egress"] {
        fs::remove_dir(bench.pins.path(folder)).unwrap();
    }
    fs::remove_dir(bench.folder()).unwrap();
}

/// A test that is killed leaves its controller registered. The next test removes it, and leaves those of tests that live.
fn what_a_killed_test_left_is_removed() {
    let mut over = std::process::Command::new("true").spawn().unwrap();
    let (dead, alive) = (over.id(), std::process::id());
    over.wait().unwrap();
    let at = |id: u32| Pins::at(format!("/sys/fs/bpf/penstock-other-{id}"));
    for (pins, name) in [(at(dead), "ccpd"), (at(alive), "leadlag")] {
        let request = Request { laws: &Arc::new(Registry::standard()), name, place: SOCKETS, settings: &[] };
        attach::attach(&pins, &request).unwrap();
    }
    let bench = Bench::new();
    bench.attach("ccpd", SOCKETS, &[]).unwrap();
    let kept = at(alive).names().unwrap();
    attach::detach(&at(alive), Which::default()).unwrap();
    assert_eq!(kept, ["cc-leadlag"]);
}

/// Four at once, each with a controller that another has too: none fails by what another does, and nothing is left.
fn attaching_and_detaching_at_once_loses_nothing() {
    let bench = Bench::new();
    let cycle = |law: &str| {
        for _ in 0..30 {
            bench.attach(law, SOCKETS, &[]).unwrap();
            attach::status(&bench.pins).unwrap();
            match attach::detach(&bench.pins, Which { name: Some(law), device: None }) {
                // The other one has it already.
                Err(Error::Input(said)) => assert!(said.contains("is not attached"), "{said}"),
                other => drop(other.unwrap()),
            }
        }
    };
    std::thread::scope(|scope| {
        let cycles = ["fast", "fast", "ccpd", "ccpd"].map(|law| scope.spawn(move || cycle(law)));
        for cycle in cycles {
            cycle.join().unwrap();
        }
    });
    assert!(!bench.folder().exists());
}

/// Twenty times on and off: no program, map, link or pin is left.
fn twenty_cycles_leave_nothing() {
    let bench = Bench::new();
    let mut made = Objects::default();
    for _ in 0..10 {
        for law in ["fast", "leadlag"] {
            bench.attach(law, SOCKETS, &[]).unwrap();
            assert!(available().contains(&law.to_owned()));
            made.add(Objects::pinned(&bench.pins));
            attach::detach(&bench.pins, Which { name: Some(law), device: None }).unwrap();
        }
    }
    assert!(!bench.folder().exists());
    assert_eq!((made.links.len(), made.left().links.len()), (20, 0));
    bench::eventually(|| made.left() == Objects::default());
    bench::eventually(|| !available().contains(&"fast".to_owned()));
}

/// A record an acknowledgement, if a trace is on; otherwise none.
fn a_trace_has_a_record_an_acknowledgement() {
    let bench = Bench::new();
    bench.attach("fast", SOCKETS, &[]).unwrap();
    assert!(matches!(controller::trace(&bench.pins, "fast", |_| {}, || false), Err(Error::Input(_))));
    bench.attach("fast", Place::Sockets { default: None, trace: true }, &[]).unwrap();
    let mut records = Vec::new();
    // An acknowledgement may be of all that was sent, where both ends share a busy processor.
    ends(|ends| {
        for _ in 0..50 {
            records.clear();
            ends.send("fast", 2_000_000).unwrap();
            controller::trace(&bench.pins, "fast", |record| records.push(*record), || false).unwrap();
            // The receiver's end has the controller too.
            records.retain(|record| record.remote_port == 5000);
            if records.len() > 10 {
                break;
            }
        }
    });
    assert!(records.len() > 10, "{}", records.len());
    for pair in records.windows(2) {
        assert!(pair[0].time_us <= pair[1].time_us);
    }
    let last = records.last().unwrap();
    assert!(last.window >= 2.0 && last.base_rtt_s > 0.0 && last.base_rtt_s <= last.rtt_s * 1.001, "{last:?}");
    let acked: u64 = records.iter().map(|record| u64::from(record.acked)).sum();
    assert!(acked > 0 && u64::from(last.delivered) >= acked, "{acked} {last:?}");
}

/// Every window that the kernel's FAST went to on real acknowledgements is the one that the law in Rust goes to from its
/// state before, the average and the smallest round trip: bit for bit, since such windows fit a double. With a start that
/// multiplies, too, which remembers more than a record shows: the law in Rust is led through each connection from its
/// beginning.
fn the_windows_of_the_kernel_are_the_laws() {
    for start in [&[][..], &["law.start_growth=1.5", "law.start_qdelay=100 ms"]] {
        let set = [&["law.alpha=8 packets"][..], start].concat();
        let bench = Bench::new();
        bench.attach("fast", Place::Sockets { default: None, trace: true }, &set).unwrap();
        let owned: Vec<String> = set.iter().map(|text| (*text).to_owned()).collect();
        let chosen = controller_of_ours("fast", &owned).unwrap();
        let site = cc::Context { packet: Bytes(1500), initial_window: 10.0, initial_ssthresh: 1e9 };
        let law: Fast<Fix<32>> = Fast::compile(&chosen.values, &site).unwrap();
        let mut plain: Fast<Fix<32>> = Fast::compile(&chosen.values, &site).unwrap();
        plain.start = None;
        let after = |law: &Fast<Fix<32>>, state: &State<Fix<32>>, event, record: &controller::Record| {
            let mut state = *state;
            let seen = cc::Observation {
                rtt_s: Fix::of(record.rtt_s),
                base_rtt_s: Fix::of(record.base_rtt_s),
                ..cc::Observation::zero()
            };
            law.on_event(&mut state, event, &seen);
            state
        };
        let (mut rounds, mut multiplied) = (0, 0);
        // How many round trips a transfer takes is for the processors to say: as many transfers as it takes.
        ends(|ends| {
            for _ in 0..100 {
                ends.send("fast", 8_000_000).unwrap();
                let mut records = Vec::new();
                controller::trace(&bench.pins, "fast", |record| records.push(*record), || false).unwrap();
                records.retain(|record| record.remote_port == 5000);
                let mut states = BTreeMap::new();
                for record in &records {
                    let state = states.entry(record.local_port).or_insert_with(|| law.initial_state());
                    if state.window.value() == record.window {
                        continue;
                    }
                    let [round, cut] = [Event::Round, Event::Congestion].map(|event| after(&law, state, event, record));
                    let alone = after(&plain, state, Event::Round, record);
                    let now = [round, cut].into_iter().find(|now| now.window.value() == record.window);
                    *state = now.unwrap_or_else(|| panic!("{record:?} after {state:?}: {round:?} or {cut:?}"));
                    rounds += u32::from(*state == round);
                    multiplied += u32::from(*state == round && round.window > alone.window);
                }
                if rounds >= 10 && (start.is_empty() || multiplied >= 3) {
                    break;
                }
            }
        });
        assert!(rounds >= 10, "{rounds} rounds");
        // gamma alpha is 4 packets, the most that a round adds without it.
        assert_eq!(
            multiplied >= 3,
            !start.is_empty(),
            "{multiplied} rounds added more than gamma alpha, with {start:?}"
        );
    }
}

/// By delay `leadlag` needs no ECN, and in both of its forms every window that it went to on real acknowledgements is the
/// one that the law in Rust goes to, called with the same acknowledgements and periods from the first: bit for bit.
fn by_delay_the_windows_are_the_laws_and_nobody_else_needs_it() {
    for form in ["exponential", "linearised"] {
        let bench = Bench::new();
        let set = ["law.signal=delay", &format!("law.form={form}"), "law.taubar=10 ms", "law.period=100 us"];
        bench.attach("leadlag", Place::Sockets { default: None, trace: true }, &set).unwrap();
        let chosen = controller_of_ours("leadlag", &set.map(str::to_owned)).unwrap();
        let (mut moves, mut periods) = (0, 0);
        ends(|ends| {
            ends.refuse_ecn();
            for _ in 0..100 {
                let events = bench.figure("congestion_events") + bench.figure("timeouts");
                assert_eq!(ends.send_to_others("leadlag", 8_000_000).unwrap(), "leadlag");
                let mut records = Vec::new();
                controller::trace(&bench.pins, "leadlag", |record| records.push(*record), || false).unwrap();
                records.retain(|record| record.remote_port == 5000);
                // A record does not say that there was one.
                if bench.figure("congestion_events") + bench.figure("timeouts") == events {
                    let (moved, passed) = followed(&chosen, &records);
                    (moves, periods) = (moves + moved, periods + passed);
                }
                if moves >= 50 && periods >= 50 {
                    break;
                }
            }
        });
        assert!(moves >= 50 && periods >= 50, "{form}: {moves} windows, {periods} periods");
    }
}

/// Every window that the kernel's Copa went to on real acknowledgements is the one that the law in Rust goes to, called with the
/// same acknowledgements from the first: bit for bit. A record does not say whether the application was short of data, so that the
/// window may be either; in the default mode nothing else is missing.
fn on_real_acknowledgements_copa_is_the_law() {
    let bench = Bench::new();
    let set = ["law.competitive=false", "law.delta=0.1"];
    bench.attach("copa", Place::Sockets { default: None, trace: true }, &set).unwrap();
    let chosen = controller_of_ours("copa", &set.map(str::to_owned)).unwrap();
    let site = cc::Context { packet: Bytes(1500), initial_window: 10.0, initial_ssthresh: 1e9 };
    let law: Copa<Fix<32>> = Copa::compile(&chosen.values, &site).unwrap();
    let (mut ups, mut downs) = (0, 0);
    ends(|ends| {
        for _ in 0..100 {
            let timeouts = bench.figure("timeouts");
            ends.send("copa", 8_000_000).unwrap();
            let mut records = Vec::new();
            controller::trace(&bench.pins, "copa", |record| records.push(*record), || false).unwrap();
            records.retain(|record| record.remote_port == 5000);
            let mut s = law.initial_state();
            // A record does not say that there was one.
            for record in records.iter().filter(|_| bench.figure("timeouts") == timeouts) {
                let before = s;
                let rtt = record.price_or_capacity;
                let after = [false, true].map(|app_limited| {
                    let mut s = before;
                    let ack = Acknowledged {
                        now_s: Fix::span(Time(record.time_us * 1_000_000)),
                        packets: record.acked,
                        rtt_s: (rtt > 0.0).then(|| Fix::of(rtt)),
                        average_s: Fix::of(record.rtt_s),
                        app_limited,
                    };
                    law.on_ack(&mut s, &ack);
                    s
                });
                let now = after.iter().find(|now| now.window.value() == record.window);
                s = *now.unwrap_or_else(|| panic!("{record:?} after {before:?}: {after:?}"));
                ups += u32::from(s.window > before.window);
                downs += u32::from(s.window < before.window);
            }
            if ups >= 100 && downs >= 100 {
                break;
            }
        }
    });
    assert!(ups >= 100 && downs >= 100, "{ups} times up, {downs} times down");
}

/// After a timeout the average of round trips starts over, and the smallest one stays. The first acknowledgement is of a packet
/// that was sent again. Its sample is by TCP's timestamps (RFC 7323), so in whole milliseconds here, and is all of the new
/// average: any average with the microseconds of before has a remainder.
fn a_timeout_ends_the_average_of_round_trips() {
    let bench = Bench::new();
    bench.attach("fast", Place::Sockets { default: None, trace: true }, &[]).unwrap();
    ends(|ends| ends.send_through_an_outage("fast").unwrap());
    assert!(bench.figure("timeouts") >= 1.0);
    let mut records = Vec::new();
    controller::trace(&bench.pins, "fast", |record| records.push(*record), || false).unwrap();
    records.retain(|record| record.remote_port == 5000);
    let outage = records.windows(2).find(|pair| pair[1].time_us - pair[0].time_us > 400_000).expect("a silence");
    let (before, after) = (&outage[0], &outage[1]);
    assert!(after.base_rtt_s > 0.0 && after.base_rtt_s <= before.base_rtt_s, "{outage:?}");
    let milliseconds = after.rtt_s * 1e3;
    assert!(milliseconds > 0.9 && (milliseconds - milliseconds.round()).abs() < 1e-4, "{outage:?}");
}

/// Follows a connection of `leadlag` by delay, its period 100 us, from its first record; how often its window moved, and
/// how many periods went by.
fn followed(chosen: &Chosen<Controller>, records: &[controller::Record]) -> (u32, u64) {
    let site = cc::Context { packet: Bytes(1500), initial_window: 10.0, initial_ssthresh: 1e9 };
    let mut law = (chosen.law.fixed.unwrap())(&chosen.values, &site).unwrap();
    law.add();
    let seen = |record: &controller::Record| cc::Observation {
        rtt_s: Fix::of(record.rtt_s),
        base_rtt_s: Fix::of(record.base_rtt_s),
        ..cc::Observation::zero()
    };
    let (mut window, mut period_us, mut moves, mut periods) = (1.0, 0, 0, 0);
    for (at, record) in records.iter().enumerate() {
        match at.checked_sub(1).map(|before| &records[before]) {
            Some(before) if before.base_rtt_s > 0.0 => {
                let passed = (record.time_us - period_us) / 100;
                for _ in 0..passed.min(100) {
                    law.on_event(0, Event::Tick, &seen(before));
                }
                period_us = if passed > 100 { record.time_us } else { period_us + 100 * passed };
                periods += passed.min(100);
            }
            // The periods begin with the first round trip.
            _ => period_us = record.time_us,
        }
        // Whether half of the window was in use is not in a record, but then the window stands still.
        if record.window != window {
            let ack = Event::Ack { packets: record.acked, marked: 0 };
            window = law.on_event(0, ack, &seen(record)).window.value();
            assert_eq!(window, record.window, "{record:?}");
            moves += 1;
        }
    }
    (moves, periods)
}

fn main() {
    if let Ok(order) = env::var(defaults::KILLED) {
        defaults::obey(&order);
    }
    let missing = attach::missing(&Bench::new().pins).map(|missing| missing.to_string()).or_else(bench::missing);
    optional::run(
        &[
            ("every_controller_carries_data", every_controller_carries_data),
            ("a_licence_that_does_not_fit_is_refused", a_licence_that_does_not_fit_is_refused),
            ("a_field_that_is_not_ours_is_refused_with_its_line", a_field_that_is_not_ours_is_refused_with_its_line),
            ("the_spacing_is_ours_to_write", the_spacing_is_ours_to_write),
            ("the_limit_of_a_socket_bounds_the_spacing", the_limit_of_a_socket_bounds_the_spacing),
            ("a_missing_operation_is_refused", a_missing_operation_is_refused),
            ("an_operation_that_is_not_supported_is_refused", an_operation_that_is_not_supported_is_refused),
            ("a_socket_option_in_release_is_refused", a_socket_option_in_release_is_refused),
            ("without_ecn_the_connection_gets_another_controller", without_ecn_the_connection_gets_another_controller),
            (
                "other_parameters_replace_the_controller_in_one_step",
                other_parameters_replace_the_controller_in_one_step,
            ),
            ("a_link_takes_no_controller_of_another_name", a_link_takes_no_controller_of_another_name),
            ("a_name_is_taken_once", a_name_is_taken_once),
            ("several_links_one_after_the_other", several_links_one_after_the_other),
            ("maps_with_and_without_links_do_not_mix", maps_with_and_without_links_do_not_mix),
            ("a_default_is_made_and_given_back", a_default_is_made_and_given_back),
            (
                "what_is_not_there_is_refused_before_anything_changes",
                what_is_not_there_is_refused_before_anything_changes,
            ),
            ("two_defaults_are_taken_back_at_once", defaults::two_defaults_are_taken_back_at_once),
            ("defaults_are_taken_back_in_any_order", defaults::defaults_are_taken_back_in_any_order),
            ("a_default_set_by_hand_is_taken_back_too", defaults::a_default_set_by_hand_is_taken_back_too),
            ("what_is_none_of_ours_stops_nobody", what_is_none_of_ours_stops_nobody),
            ("what_a_killed_test_left_is_removed", what_a_killed_test_left_is_removed),
            ("attaching_and_detaching_at_once_loses_nothing", attaching_and_detaching_at_once_loses_nothing),
            ("twenty_cycles_leave_nothing", twenty_cycles_leave_nothing),
            ("a_trace_has_a_record_an_acknowledgement", a_trace_has_a_record_an_acknowledgement),
            ("a_timeout_ends_the_average_of_round_trips", a_timeout_ends_the_average_of_round_trips),
            ("on_real_acknowledgements_copa_is_the_law", on_real_acknowledgements_copa_is_the_law),
            ("the_windows_of_the_kernel_are_the_laws", the_windows_of_the_kernel_are_the_laws),
            (
                "by_delay_the_windows_are_the_laws_and_nobody_else_needs_it",
                by_delay_the_windows_are_the_laws_and_nobody_else_needs_it,
            ),
        ],
        optional::kernel(missing),
    );
}
