//! A law as a program at the device of an emulated path, and a flow of TCP that goes by its marks. Needs root, BPF, Linux 6.6 and
//! TUN; where they are missing the tests say so and count as not run.

#[path = "../../kernel/tests/figures/mod.rs"]
mod figures;
#[path = "../../path/tests/laboratory/mod.rs"]
mod laboratory;
#[path = "../../cli/tests/optional/mod.rs"]
mod optional;

use std::net::{Ipv4Addr, SocketAddrV4};
use std::sync::Arc;

use figures::{ce_packets_in, ended, figure, said};
use laboratory::{Laboratory, bulk, line};
use penstock_kernel::attach::pins::Pins;
use penstock_kernel::attach::{self, Place, Request, Which, tc};
use penstock_law::Registry;

/// A directory of pins for this process alone.
fn pins() -> Pins {
    Pins::at(optional::pins("test"))
}

/// One flow of TCP with ECN over a path of 1 Gbit/s and 20 ms, whose sender's device has the program, told of 50 Mbit/s: it
/// is the marks that hold it, and its super-packets are counted by their segments.
fn a_flow_is_held_by_marks(law: &str, settings: &[&str]) {
    let laboratory = Laboratory::new(&line("1 Gbit/s", "20 ms", ""), true);
    let (sender, receiver) = (&laboratory.path.sender, &laboratory.path.receiver);
    let (pins, settings) = (pins(), said(settings));
    let place = Place::Device { name: "penstock0", direction: None };
    let request = Request { laws: &Arc::new(Registry::standard()), name: law, place, settings: &settings };
    sender.within(|| Ok(attach::attach(&pins, &request).unwrap())).unwrap();
    let rate = bulk(
        [&|| sender.enter(), &|| receiver.enter()],
        SocketAddrV4::new(Ipv4Addr::new(10, 78, 0, 1), 5000),
        "reno",
        8,
    );
    let attached = sender.within(|| Ok(attach::status(&pins).unwrap().pop().unwrap())).unwrap();
    sender.within(|| Ok(attach::detach(&pins, Which::default()).unwrap())).unwrap();
    let ce = receiver.within(ce_packets_in).unwrap();
    laboratory.end();
    let [seen, pieces, marked, dropped] =
        ["packets_arrived", "pieces_arrived", "packets_marked", "packets_dropped_not_ect"]
            .map(|name| figure(&attached, name));
    println!(
        "{law}: {:.1} Mbit/s, {seen} packets in {pieces} pieces, {marked} marked, {ce} arrived with CE, {dropped} dropped",
        rate / 1e6
    );
    // The path hands several packets over together, and the receiver's IP counts those as one.
    assert!(ce > 0.0 && ce <= marked);
    assert!(marked > 5.0 && marked < seen / 4.0 && pieces < seen / 1.5, "{attached:?}");
    // Without marks this path carries twenty times that; the virtual capacity is 0.95 or 0.98 of 50 Mbit/s. How near one flow
    // gets from below is its controller's business; a tenth says that it is not cut off.
    assert!(rate > 5e6 && rate < 52e6, "{rate}");
    assert_eq!(ended(&attached), seen);
}

/// A flow that does not ask for ECN, and a program told to let such packets pass: of the many that are chosen none is dropped
/// and none is marked, as long as nobody asks.
fn a_flow_without_ecn_passes_where_it_is_told_to() {
    let laboratory = Laboratory::new(&line("1 Gbit/s", "20 ms", ""), false);
    let (sender, receiver) = (&laboratory.path.sender, &laboratory.path.receiver);
    let (pins, settings) = (pins(), said(&["link.rate=50 Mbit/s", "not_ect=pass"]));
    let place = Place::Device { name: "penstock0", direction: None };
    let request = Request { laws: &Arc::new(Registry::standard()), name: "price", place, settings: &settings };
    let first = sender.within(|| Ok(attach::attach(&pins, &request).unwrap())).unwrap();
    assert!(first.parameters.contains(&("not_ect".to_owned(), "pass".to_owned())), "{first:?}");
    let rate = bulk(
        [&|| sender.enter(), &|| receiver.enter()],
        SocketAddrV4::new(Ipv4Addr::new(10, 78, 0, 1), 5000),
        "reno",
        3,
    );
    let attached = sender.within(|| Ok(attach::status(&pins).unwrap().pop().unwrap())).unwrap();
    sender.within(|| Ok(attach::detach(&pins, Which::default()).unwrap())).unwrap();
    laboratory.end();
    let [seen, passed, marked, dropped] =
        ["packets_arrived", "packets_passed_not_ect", "packets_marked", "packets_dropped_not_ect"]
            .map(|name| figure(&attached, name));
    println!("without ECN: {:.1} Mbit/s, {seen} packets, {passed} chosen and passed", rate / 1e6);
    assert!(passed > 100.0 && marked == 0.0 && dropped == 0.0, "{attached:?}");
    assert_eq!(ended(&attached), seen);
}

fn price_holds_a_flow() {
    a_flow_is_held_by_marks("price", &["link.rate=50 Mbit/s"]);
}

fn avq_holds_a_flow() {
    a_flow_is_held_by_marks("avq", &["link.rate=50 Mbit/s", "aqm.ecn=true"]);
}

fn main() {
    let tests: &[(&str, fn())] = &[
        ("price_holds_a_flow", price_holds_a_flow),
        ("avq_holds_a_flow", avq_holds_a_flow),
        ("a_flow_without_ecn_passes_where_it_is_told_to", a_flow_without_ecn_passes_where_it_is_told_to),
    ];
    let missing = tc::missing().into_iter().chain(attach::missing(&pins())).chain(penstock_path::missing());
    optional::run(tests, optional::kernel(missing));
}
