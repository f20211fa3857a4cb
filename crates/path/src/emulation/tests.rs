use penstock_law::conditioner::Colour;
use penstock_scenario::read::Document;

use super::*;
use crate::packet::Direction;

const MS: u64 = 1_000_000_000;

fn scenario(links: &str, flows: &str) -> Scenario {
    let text = format!("format = 1\nduration = \"10 s\"\npacket = \"1000 B\"\n{links}\n{flows}");
    let cells = Document::parse(&text, "test.toml").and_then(|document| document.cells()).unwrap();
    cells[0].scenario.clone()
}

const LINK: &str = r#"links.l = { from = "a", to = "b", rate = "8 Mbit/s", delay = "5 ms", buffer = "2 packets" }"#;
const FLOW: &str =
    r#"flows.f = { count = 2, from = "a", to = "b", rtt = ["20 ms", "40 ms"], cc = { law = "newreno" } }"#;

fn data(flow: u32, burst: u32) -> Packet {
    Packet { burst, flow, bytes: 1000, data: true, markable: true, ..Packet::default() }
}

fn exits(emulation: &mut Emulation) -> Vec<(u64, u32)> {
    emulation.exits().map(|exit| (exit.wanted.0, exit.packet.burst)).collect()
}

/// 1000 B take 1 ms; what the link's 5 ms do not account for follows the last link; two may wait; the way back is ideal.
#[test]
fn packets_come_out_when_rate_delay_and_buffer_say() {
    let mut path = Emulation::of(&scenario(LINK, FLOW)).unwrap();
    for burst in 0..4 {
        path.offer(Time::ZERO, data(burst & 1, burst));
    }
    path.offer(Time::ZERO, Packet { direction: Direction::Reverse, ..data(0, 9) });
    assert_eq!(exits(&mut path), [(0, 9)], "nothing delays it");
    assert_eq!(path.next(), Time(21 * MS));
    path.advance(Time(100 * MS));
    assert_eq!(exits(&mut path), [(21 * MS, 0), (23 * MS, 2), (42 * MS, 1)]);
    assert_eq!(path.dropped().map(|p| p.burst).collect::<Vec<_>>(), [3], "the fourth does not fit");
    let [first, second] = path.passed().try_into().unwrap();
    let all = Passed { sent: 2, lost: 0, delivered: 2, marked: 0, sent_bytes: 2000, delivered_bytes: 2000 };
    assert_eq!(first, all);
    assert_eq!(second, Passed { lost: 1, delivered: 1, delivered_bytes: 1000, ..all });
    assert_eq!((path.unaccounted(Time(100 * MS)), path.crossed(), path.next()), (0, 3, Time::NEVER));
}

/// However rarely the caller looks, each packet's time is its own: over two links, with a law that decides at the head of
/// its queue, and a period that goes by.
#[test]
fn how_often_one_looks_changes_nothing() {
    let links = r#"
        links.l = { from = "a", to = "b", rate = "8 Mbit/s", delay = "5 ms", buffer = "30 packets", duplex = true }
        links.m = { from = "b", to = "c", rate = "6 Mbit/s", delay = "3 ms", buffer = "40 packets",
                    aqm = { law = "codel", ecn = true }, loss = 0.01 }
        links.n = { from = "c", to = "d", rate = "5 Mbit/s", delay = "1 ms", buffer = "90 packets", aqm = { law = "pi", qref = "20 packets" } }
    "#;
    let flows = r#"flows.f = { count = 3, from = "a", to = "d", rtt = "40 ms", cc = { law = "newreno", ecn = true } }"#;
    let scenario = scenario(links, flows);
    let run = |step: u64| {
        let mut path = Emulation::of(&scenario).unwrap();
        let (mut out, mut looked) = (Vec::new(), 0);
        for n in 0..5000u64 {
            let at = n * MS + n * n % 7 * 100_000_000;
            while step > 0 && looked + step < at {
                looked += step;
                path.advance(Time(looked));
                out.extend(path.exits());
            }
            path.advance(Time(at));
            path.offer(Time(at), data((n % 3) as u32, n as u32));
            out.extend(path.exits());
        }
        path.advance(Time(7000 * MS));
        out.extend(path.exits());
        assert_eq!(path.unaccounted(Time(7000 * MS)), 0);
        let passed = path.passed();
        let (sent, lost, delivered) =
            passed.iter().fold((0, 0, 0), |(s, l, d), p| (s + p.sent, l + p.lost, d + p.delivered));
        assert_eq!((sent, sent - lost), (5000, delivered), "what was sent came out or was lost");
        assert!(lost > 1000, "three Mbit/s are too many: {lost}");
        let marked = out.iter().filter(|exit| exit.packet.marked).count();
        assert!(marked > 20, "{marked}");
        assert!(out.is_sorted_by_key(|exit| exit.wanted));
        (out, path.dropped().map(|p| p.burst).collect::<Vec<_>>())
    };
    let often = run(MS / 10);
    assert_eq!(often, run(0));
    assert_eq!(often, run(3 * MS + 1));
}

/// Laws of every host: at the head of a queue, per flow, in coupled queues, on departure. None loses count.
#[test]
fn every_queue_keeps_its_books() {
    for aqm in ["fq-codel", "dualpi2", "red", "pie", "price", "avq", "rem"] {
        let links = format!(
            r#"links.l = {{ from = "a", to = "b", rate = "8 Mbit/s", delay = "5 ms", buffer = "60 packets", aqm = {{ law = "{aqm}" }} }}"#
        );
        let mut path = Emulation::of(&scenario(&links, FLOW)).unwrap();
        let mut out = 0;
        for n in 0..20_000u64 {
            let at = Time(n * 7 * MS / 10);
            path.advance(at);
            path.offer(at, Packet { low_latency: n % 3 == 0, ..data((n % 2) as u32, 0) });
            out += path.exits().count() as u64;
            assert_eq!(path.unaccounted(at), 0, "{aqm}");
        }
        path.advance(Time(20_000 * MS));
        out += path.exits().count() as u64;
        let lost = path.dropped().count() as u64;
        assert_eq!(out + lost, 20_000, "{aqm}");
        let marked: u64 = path.passed().iter().map(|p| p.marked).sum();
        let (counters, _) = path.counters(0, Time(20_000 * MS));
        assert!(marked + lost > 100 && marked == counters.marks, "{aqm}: {marked} marked, {lost} lost, {counters:?}");
    }
}

/// A loss of a tenth loses a tenth, and another seed another tenth.
#[test]
fn loss_is_a_share_of_packets() {
    let links = LINK.replace("buffer = \"2 packets\"", "buffer = \"unlimited\", loss = 0.1");
    let mut path = Emulation::of(&scenario(&links, FLOW)).unwrap();
    for n in 0..50_000u64 {
        path.advance(Time(n * MS));
        path.offer(Time(n * MS), data(0, 0));
    }
    let lost = path.passed()[0].lost as f64 / 50_000.0;
    assert!((lost - 0.1).abs() < 0.005, "{lost}");
}

/// Even losses are one in so many of each flow, to the packet, and flows do not lose in step.
#[test]
fn even_losses_are_one_in_so_many() {
    let even = "buffer = \"unlimited\", loss = 0.01, loss_spacing = \"even\"";
    let links = LINK.replace("buffer = \"2 packets\"", even);
    let mut path = Emulation::of(&scenario(&links, FLOW)).unwrap();
    for n in 0..20_000u64 {
        path.advance(Time(n * MS));
        path.offer(Time(n * MS), data((n % 2) as u32, n as u32));
    }
    let lost: Vec<u32> = path.dropped().map(|packet| packet.burst).collect();
    for flow in 0..2 {
        let own: Vec<u32> = lost.iter().copied().filter(|n| n % 2 == flow).collect();
        assert_eq!(own.len(), 100);
        assert!(own.windows(2).all(|w| w[1] - w[0] == 200), "each hundredth of a flow's: {own:?}");
    }
    assert!(lost.windows(2).any(|w| w[1] - w[0] > 1 && w[1] - w[0] < 199), "{:?}", &lost[..4]);
}

/// Marks and losses are drawn from streams of their own: of what was marked the line loses the share that it loses of all,
/// and a mark tells nothing of the losses before and after it.
#[test]
fn marks_and_losses_are_drawn_apart() {
    // The queue of the moment, of 30 packets, has each marked with a chance of a fifth.
    let wred = "aqm = { law = \"wred\", ecn = true, average = false, green_min = \"10 packets\", \
                green_max = \"110 packets\", green_max_p = 1 }";
    let links = LINK.replace("buffer = \"2 packets\"", &format!("buffer = \"unlimited\", loss = 0.1, {wred}"));
    let mut path = Emulation::of(&scenario(&links, FLOW)).unwrap();
    let count = 20_000_u64;
    for n in 0..count {
        let at = Time(n.saturating_sub(30) * MS);
        path.advance(at);
        path.offer(at, data(0, n as u32));
    }
    path.advance(Time(count * 2 * MS));
    let (mut marked, mut lost) = (vec![false; count as usize], vec![false; count as usize]);
    for exit in path.exits().filter(|exit| exit.packet.marked) {
        marked[exit.packet.burst as usize] = true;
    }
    for packet in path.dropped() {
        lost[packet.burst as usize] = true;
    }
    let (all, _) = path.counters(0, Time(count * 2 * MS));
    let arrived = marked.iter().filter(|marked| **marked).count() as f64;
    assert!((arrived / all.marks as f64 - 0.9).abs() < 0.02, "{arrived} of {}", all.marks);
    for apart in 1..200 {
        for (first, second) in [(&marked, &lost), (&lost, &marked)] {
            let pairs = first.iter().zip(&second[apart..]).filter(|(a, b)| **a && **b).count() as f64;
            assert!((pairs / arrived - 0.1).abs() < 0.04, "{apart} apart: {pairs} of {arrived}");
        }
    }
}

/// A flow's interface of 4 Mbit/s takes 2 ms a packet and holds one besides; what it refuses is lost; nobody else waits.
#[test]
fn an_interface_is_its_flows_own() {
    let link = LINK.replace("buffer = \"2 packets\"", "buffer = \"unlimited\", duplex = true");
    let flows = r#"
        flows.f = { from = "a", to = "b", cc = { law = "newreno" }, access = { rate = "4 Mbit/s", queue = "1 packets" } }
        flows.g = { from = "a", to = "b", cc = { law = "newreno" } }
    "#;
    let mut path = Emulation::of(&scenario(&link, flows)).unwrap();
    for burst in 0..3 {
        path.offer(Time::ZERO, data(0, burst));
    }
    path.offer(Time::ZERO, data(1, 9));
    path.advance(Time(100 * MS));
    assert_eq!(exits(&mut path), [(6 * MS, 9), (8 * MS, 0), (10 * MS, 1)], "1 ms on the link, and 5 ms of it");
    let [f, g] = path.passed().try_into().unwrap();
    assert_eq!((f.sent, f.lost, f.delivered, g.delivered), (3, 1, 2, 1));
}

/// A packet read late and taken to have come earlier waits and is dropped by its arrival, and comes out by when it was read.
#[test]
fn what_was_seen_late_comes_out_no_earlier_than_it_was_there() {
    let mut path = Emulation::of(&scenario(LINK, FLOW)).unwrap();
    let read = 10 * MS;
    for n in 1..=8 {
        // Eight packets in a gap of 8 ms, one a millisecond: the link's pace.
        let at = Time(2 * MS + u64::from(n) * MS);
        path.advance(at);
        path.offer(at, Packet { unseen: Time(read - at.0), ..data(0, n) });
    }
    path.advance(Time(read));
    path.offer(Time(read), data(0, 9));
    path.advance(Time(100 * MS));
    assert_eq!(path.dropped().count(), 0, "there was room for each when it came");
    let out = 31 * MS;
    assert_eq!(exits(&mut path)[..8], [1, 2, 3, 4, 5, 6, 7, 8].map(|n| (out, n)), "1 ms on the link, and 20 ms");
    assert_eq!(path.passed()[0].delivered, 9);
}

/// On a way without links the receiver's own delay is counted from when a packet was read too, and none overtakes.
#[test]
fn what_was_seen_late_is_delayed_from_then_on() {
    let link = LINK.replace("buffer = \"2 packets\"", "buffer = \"unlimited\", duplex = false");
    let flow = r#"flows.f = { from = "a", to = "b", cc = { law = "newreno" },
                              ack_jitter = { probability = 1, uniform = ["10 ms", "10.000001 ms"] } }"#;
    let mut path = Emulation::of(&scenario(&link, flow)).unwrap();
    let ack = |n, unseen| Packet { direction: Direction::Reverse, data: false, unseen: Time(unseen), ..data(0, n) };
    path.offer(Time(2 * MS), ack(0, 8 * MS));
    path.offer(Time(6 * MS), ack(1, 4 * MS));
    path.offer(Time(10 * MS), ack(2, 0));
    path.advance(Time(15 * MS));
    assert_eq!(exits(&mut path), [], "10 ms after they were read");
    path.advance(Time(21 * MS));
    let out = exits(&mut path);
    assert_eq!(out.iter().map(|(_, n)| *n).collect::<Vec<_>>(), [0, 1, 2]);
    assert!(out.iter().all(|(at, _)| at / 1000 == 20 * MS / 1000), "{out:?}");
}

/// A packet is marked by the law's output when it left the link, not by the one when the packet was read.
#[test]
fn what_was_seen_late_is_marked_by_when_it_left() {
    let link = r#"links.l = { from = "a", to = "b", rate = "8 Mbit/s", delay = "5 ms", buffer = "900 packets",
                              aqm = { law = "price", phi = 1e9 } }"#;
    let marked = |unseen: u64| {
        let mut path = Emulation::of(&scenario(link, FLOW)).unwrap();
        path.offer(Time(10 * MS), Packet { unseen: Time(unseen), ..data(0, 0) });
        // Nothing up to 40 ms, and then twice what the link carries: the price, by which with this base a mark is certain, is
        // zero up to then.
        for n in 0..200u64 {
            let at = Time((40 + n / 2) * MS);
            path.advance(at);
            path.offer(at, data(1, 1));
        }
        path.advance(Time(1000 * MS));
        let out: Vec<_> = path.exits().map(|exit| (exit.packet.burst, exit.packet.marked)).collect();
        (out.contains(&(1, true)), out.contains(&(0, true)))
    };
    assert_eq!(marked(0), (true, false));
    assert_eq!(marked(100 * MS), (true, false));
}

/// Data spend their time in the sender before the first link, acknowledgements in the receiver, and keep their order.
#[test]
fn ends_delay_what_they_send() {
    let link =
        LINK.replace("8 Mbit/s", "8 Gbit/s").replace("buffer = \"2 packets\"", "buffer = \"unlimited\", duplex = true");
    let flow = r#"flows.f = { from = "a", to = "b", cc = { law = "newreno" }, jitter = { uniform = ["2 ms", "4 ms"] },
                 ack_jitter = { probability = 0.5, uniform = ["10 ms", "20 ms"] } }"#;
    let mut path = Emulation::of(&scenario(&link, flow)).unwrap();
    let count = 2000;
    for n in 0..count {
        let at = Time(u64::from(n) * 30 * MS);
        path.advance(at);
        path.offer(at, data(0, n));
        path.offer(at, Packet { direction: Direction::Reverse, data: false, ..data(0, n) });
    }
    path.advance(Time(100_000 * MS));
    let exits: Vec<Exit> = path.exits().collect();
    for direction in Direction::BOTH {
        let own = exits.iter().filter(|exit| exit.packet.direction == direction);
        let late: Vec<f64> =
            own.map(|exit| exit.wanted.seconds() * 1e3 - f64::from(exit.packet.burst) * 30.0 - 5.0).collect();
        assert_eq!(late.len(), count as usize);
        let (least, most) = late.iter().fold((f64::MAX, 0.0f64), |(a, b), x| (a.min(*x), b.max(*x)));
        if direction == Direction::Forward {
            assert!(least > 2.0 && least < 2.1 && most > 3.9 && most < 4.01, "{least} {most}");
        } else {
            let share = late.iter().filter(|x| **x > 5.0).count() as f64 / f64::from(count);
            assert!(least < 0.01 && most > 19.0 && most < 20.1 && (share - 0.5).abs() < 0.05, "{least} {most} {share}");
        }
    }
}

/// A customer's data are held against its contract, packet by packet, and nobody else's: half of twice the committed rate is
/// out of profile, and the books of bytes agree with those of packets.
#[test]
fn a_contract_colours_its_customers_data() {
    let link = LINK
        .replace("8 Mbit/s", "80 Mbit/s")
        .replace("buffer = \"2 packets\"", "buffer = \"unlimited\", duplex = true");
    let flows = r#"
        flows.f = { from = "a", to = "b", cc = { law = "newreno" }, class = "gold" }
        flows.g = { from = "a", to = "b", cc = { law = "newreno" } }
        customers.c = { flows = ["f"], conditioner = { law = "token-bucket", committed_rate = "4 Mbit/s", bucket = "2 kB" } }
    "#;
    let mut path = Emulation::of(&scenario(&link, flows)).unwrap();
    let count = 10_000;
    for n in 0..count {
        let at = Time(n * MS);
        path.advance(at);
        path.offer(at, data(0, 0));
        path.offer(at, data(1, 1));
        path.offer(at, Packet { direction: Direction::Reverse, ..data(0, 2) });
    }
    path.advance(Time(20_000 * MS));
    let colours =
        |burst| path.exits.iter().filter(move |exit| exit.packet.burst == burst).map(|exit| exit.packet.colour);
    let red = colours(0).filter(|colour| *colour == Some(Colour::Red)).count() as f64 / count as f64;
    assert!((red - 0.5).abs() < 0.001, "{red}");
    assert!(colours(1).chain(colours(2)).all(|colour| colour.is_none()), "others are under no contract");
    let [(customer, passed)] = path
        .contracts
        .iter_mut()
        .map(|contract| (contract.customer, contract.conditioner.read(Time(20_000 * MS))))
        .collect::<Vec<_>>()
        .try_into()
        .unwrap();
    assert_eq!((customer, passed.packets.iter().sum::<u64>()), (0, count));
    let of_flow = path.passed()[0];
    assert_eq!((of_flow.sent_bytes, of_flow.delivered_bytes), (count * 1000, count * 1000));
}

/// No program can be held back, so `penstock linux path` refuses the queue that does.
#[test]
fn a_queue_that_holds_its_sender_back_is_refused() {
    let flow = |access: &str| FLOW.replace("cc = {", &format!("access = {access}, cc = {{"));
    let of = |full: &str| {
        let access = format!("{{ rate = \"1 Mbit/s\", queue = \"9 packets\"{full} }}");
        Emulation::of(&scenario(LINK, &flow(&access)))
    };
    assert!(of("").is_ok());
    let refused = of(", full = \"wait\"").unwrap_err();
    assert!(refused.what.starts_with("flows.f.access.full: "), "{refused:?}");
}

/// Of 10,000 packets of a lossy group a fifth is lost behind the link, to three standard errors; of what its receivers send, and of
/// the other group, nothing is.
#[test]
fn losses_of_a_group_come_behind_its_last_link() {
    let link = LINK.replace("2 packets", "unlimited").replace("8 Mbit/s", "8 Gbit/s");
    let flows = format!("{}\n{}", FLOW.replace("cc = {", "loss = 0.2, cc = {"), FLOW.replace("flows.f", "flows.g"));
    let mut path = Emulation::of(&scenario(&link, &flows)).unwrap();
    for n in 0..30_000u32 {
        let now = Time(u64::from(n) * MS);
        path.advance(now);
        let direction = if n % 3 == 2 { Direction::Reverse } else { Direction::Forward };
        path.offer(now, Packet { direction, ..data(if n % 3 == 0 { n % 2 } else { 2 * (n % 3 % 2) }, n) });
    }
    path.advance(Time(60_000 * MS));
    let passed = path.passed();
    let lost: Vec<u64> = passed.iter().map(|of| of.lost).collect();
    assert!((lost[0] + lost[1]).abs_diff(2000) < 120 && lost[0] > 800 && lost[1] > 800, "{lost:?}");
    assert_eq!(lost[2..], [0, 0]);
    assert!(passed.iter().all(|of| of.sent == of.lost + of.delivered));
    assert_eq!((path.crossed(), path.unaccounted(Time(60_000 * MS))), (20_000, 0), "each had its place on the line");
    let gone = path.dropped().map(|packet| packet.direction).collect::<Vec<_>>();
    assert_eq!((gone.len() as u64, gone.contains(&Direction::Reverse)), (lost[0] + lost[1], false));
}

/// The link's delay rises from 5 to 30 ms at 100 ms and falls to 1 ms at 200 ms; the flows have 15 and 35 ms of their own
/// behind it. No packet leaves the link before one that came first, of any flow.
#[test]
fn a_delay_that_changes_keeps_the_order() {
    let link = LINK.replace("\"5 ms\"", "[[\"0 s\", \"5 ms\"], [\"100 ms\", \"30 ms\"], [\"200 ms\", \"1 ms\"]]");
    let mut path = Emulation::of(&scenario(&link, FLOW)).unwrap();
    for (at, flow) in [(0, 0), (100, 1), (199, 0), (201, 1), (300, 0)] {
        path.advance(Time(at * MS));
        path.offer(Time(at * MS), data(flow, at as u32));
    }
    path.advance(Time(1000 * MS));
    // A millisecond of transmission, the link's delay, and the flow's own. What leaves at 200 has 1 ms, and so has what leaves
    // at 202: it waits for nobody.
    assert_eq!(exits(&mut path), [(21 * MS, 0), (166 * MS, 100), (216 * MS, 199), (238 * MS, 201), (317 * MS, 300)]);
    let mut path = Emulation::of(&scenario(&link, FLOW)).unwrap();
    for (at, flow) in [(198, 0), (200, 1), (230, 0)] {
        path.advance(Time(at * MS));
        path.offer(Time(at * MS), data(flow, at as u32));
    }
    path.advance(Time(1000 * MS));
    // The one before comes out of the link at 229.
    assert_eq!(exits(&mut path), [(244 * MS, 198), (247 * MS, 230), (264 * MS, 200)]);
}

/// Features that the emulated path lacks, by name.
#[test]
fn what_it_does_not_do_is_refused_by_name() {
    for (key, value) in [("aggregation", "{ time = \"1 ms\" }"), ("duplicate", "0.1"), ("lose_transmission", "3")] {
        let link = LINK.replace("buffer =", &format!("{key} = {value}, buffer ="));
        let refused = Emulation::of(&scenario(&link, FLOW)).unwrap_err();
        assert!(refused.what.starts_with(&format!("links.l.{key}: ")), "{refused:?}");
    }
}

/// A bucket of three packets that fills by one in 8 ms: of ten packets at once three pass, and of one each 2 ms one in four.
#[test]
fn a_policer_drops_what_does_not_conform() {
    let link = LINK.replace("\"2 packets\"", "\"unlimited\", policer = { rate = \"1 Mbit/s\", burst = \"3000 B\" }");
    let mut path = Emulation::of(&scenario(&link, FLOW)).unwrap();
    for n in 0..50u32 {
        let at = Time(u64::from(n.saturating_sub(9)) * 2 * MS);
        path.advance(at);
        path.offer(at, data(0, n));
    }
    path.advance(Time(1000 * MS));
    let passed: Vec<u32> = exits(&mut path).into_iter().map(|(_, n)| n).collect();
    assert_eq!(passed, [0, 1, 2, 13, 17, 21, 25, 29, 33, 37, 41, 45, 49]);
    let [first, _] = path.passed().try_into().unwrap();
    assert_eq!((first.sent, first.lost, first.delivered), (50, 37, 13));
    assert_eq!(path.unaccounted(Time(1000 * MS)), 0);
}

/// The ECN field behind a line for each value, with and without marks of its link's law.
#[test]
fn the_ecn_field_is_what_the_line_leaves() {
    let left = |ecn: &str, marks: bool| {
        let aqm = if marks { ", aqm = { law = \"price\" }" } else { "" };
        let link = LINK.replace("\"2 packets\"", &format!("\"unlimited\", ecn = \"{ecn}\"{aqm}"));
        let flow = FLOW.replace("{ law = \"newreno\" }", "{ law = \"dctcp\", l4s = true }");
        let mut path = Emulation::of(&scenario(&link, &flow)).unwrap();
        // Five hundred at once are a high price when they leave.
        for _ in 0..if marks { 500 } else { 0 } {
            path.offer(Time::ZERO, Packet { ecn: 1, markable: true, low_latency: true, ..data(0, 0) });
        }
        for field in 0..4u8 {
            let packet = Packet { ecn: field, markable: field != 0, low_latency: field & 1 == 1, ..data(0, 0) };
            path.offer(Time::ZERO, packet);
        }
        path.advance(Time(1000 * MS));
        let marked = path.passed()[0].marked;
        let fields: Vec<u32> = path.exits().map(|exit| exit.packet.ecn.into()).collect();
        (if marks { fields[10..500].to_vec() } else { fields }, marked)
    };
    assert_eq!(left("keep", false), (vec![0, 1, 2, 3], 0));
    assert_eq!(left("bleach", false), (vec![0, 0, 0, 0], 0));
    assert_eq!(left("erase-ce", false), (vec![0, 1, 2, 2], 0));
    assert_eq!(left("ect0", false), (vec![0, 2, 2, 3], 0));
    // What was marked on the way is marked where it still says so.
    for (ecn, ce, other) in [("keep", true, 1), ("bleach", false, 0), ("erase-ce", false, 1), ("ect0", true, 2)] {
        let (fields, marked) = left(ecn, true);
        let count = |field: u32| fields.iter().filter(|f| **f == field).count();
        assert!(if ce { marked > 100 && count(3) > 100 } else { marked == 0 && count(3) == 0 }, "{ecn}: {marked}");
        assert!(count(other) > 10 || ecn == "bleach" && count(0) == 490, "{ecn}: {fields:?}");
        assert!(ecn != "erase-ce" || count(2) > 100, "{fields:?}");
    }
}
