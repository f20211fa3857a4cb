//! Scenarios by struct literals, for the tests of this folder.
#![allow(dead_code, reason = "each test uses some of these")]

use indexmap::IndexMap;
use penstock_law::aqm::{AQMS, Aqm};
use penstock_law::cc::{CONTROLLERS, Controller};
use penstock_law::law::find;
use penstock_law::quantity::{Bytes, Rate, Time};
use penstock_law::{Entry, Values};
use penstock_scenario::model::{
    Arithmetic, Buffer, Chosen, EcnOnLine, Group, Link, LossSpacing, Packet, Rtt, Scenario, Scheduler, SenderOptions,
    Service, Start,
};
use penstock_scenario::seed::Seed;

/// The relative difference between two numbers.
pub(crate) fn off(is: f64, should: f64) -> f64 {
    (is / should - 1.0).abs()
}

fn values(parameters: &'static [penstock_law::Parameter], set: &[(&str, f64)]) -> Values {
    let mut values = Values::defaults(parameters);
    for (name, value) in set {
        values.set(parameters.iter().find(|p| p.name == *name).unwrap(), *value).unwrap();
    }
    values
}

/// A controller with some parameters set.
pub(crate) fn entry_of(law: &'static Entry<Controller>, set: &[(&str, f64)]) -> Chosen<Controller> {
    Chosen { law, values: values(law.parameters, set) }
}

/// A controller of the registry.
pub(crate) fn cc(name: &str, set: &[(&str, f64)]) -> Chosen<Controller> {
    entry_of(find(CONTROLLERS, name).unwrap(), set)
}

/// An AQM of the registry.
pub(crate) fn aqm(name: &str, set: &[(&str, f64)]) -> Chosen<Aqm> {
    let law = find(AQMS, name).unwrap();
    Chosen { law, values: values(law.parameters, set) }
}

/// A group that crosses the link `bottleneck`.
pub(crate) fn group(count: u32, rtt_s: f64, cc: Chosen<Controller>) -> Group {
    Group {
        count,
        from: "left".into(),
        to: "right".into(),
        forward: vec!["bottleneck".into()],
        backward: vec!["bottleneck/back".into()],
        rtt: Rtt::Each(Time::from_seconds(rtt_s)),
        packet: None,
        cc,
        start: Start::At(Time::ZERO),
        stop: None,
        size: None,
        series: false,
        steps: Vec::new(),
        spacing_jitter: 0.0,
        repeats: None,
        application: None,
        on_off: None,
        class: None,
        access: None,
        jitter: None,
        ack_jitter: None,
        loss: 0.0,
        sender: SenderOptions::default(),
    }
}

/// One duplex link of packets of `packet` bytes, and what crosses it.
pub(crate) fn dumbbell(rate: f64, packet: u64, aqm: &Chosen<Aqm>, groups: Vec<Group>) -> Scenario {
    let link = |from: &str, to: &str| Link {
        from: from.into(),
        to: to.into(),
        rate: Rate(rate as u64),
        service: Service::Constant,
        scheduler: Scheduler::Fifo,
        delay: Time::from_seconds(0.01),
        buffer: Buffer::Unlimited,
        aqm: aqm.clone(),
        loss: 0.0,
        delays: Vec::new(),
        loss_spacing: LossSpacing::Random,
        lose_transmission: None,
        loss_burst: None,
        reorder: None,
        policer: None,
        aggregation: None,
        duplicate: 0.0,
        ecn: EcnOnLine::Keep,
        arithmetic: Arithmetic::Real,
    };
    let links = [("bottleneck", link("left", "right")), ("bottleneck/back", link("right", "left"))];
    let groups = groups.into_iter().enumerate().map(|(i, g)| (format!("group{i}"), g));
    Scenario {
        title: "a dumbbell".into(),
        duration: Time::from_seconds(200.0),
        warmup: Time::ZERO,
        seed: Seed(1),
        packet: Packet { wire: Bytes(packet), payload: Bytes(packet - 40), ack: Bytes(40) },
        sample: Time::from_seconds(0.1),
        links: links.into_iter().map(|(n, l)| (n.to_owned(), l)).collect(),
        groups: groups.collect(),
        windows: IndexMap::new(),
        classes: IndexMap::new(),
        customers: IndexMap::new(),
        stop: None,
        dynamics: None,
    }
}

/// Count, round trip [s] and start [s] of the groups of Fig. 8 of fast-aqm.
pub(crate) const FIG8: [(u32, f64, f64); 5] =
    [(32, 0.04, 0.0), (32, 0.08, 40.0), (64, 0.12, 80.0), (128, 0.16, 120.0), (256, 0.20, 160.0)];

/// Fig. 8 of fast-aqm: 2 Gbit/s, a group more every 40 s.
pub(crate) fn fig8(controller: &Chosen<Controller>, aqm: &Chosen<Aqm>) -> Scenario {
    let groups = FIG8.map(|(count, rtt_s, start_s)| Group {
        start: Start::At(Time::from_seconds(start_s)),
        ..group(count, rtt_s, controller.clone())
    });
    dumbbell(2e9, 1000, aqm, groups.into())
}
