//! Window control: the law, in the arithmetic that the scenario asks for.

use std::fmt;

use penstock_law::cc::{self, Controller, Event};
use penstock_law::estimate::Clocked;
use penstock_law::law::Instances;
use penstock_law::quantity::{Time, is_amount};
use penstock_law::{Fix, Number};

use crate::ahead::fetch;

use super::bottleneck::{Estimated, Probe};
use super::estimation::{Estimates, Wanted};

/// What a law allows, in the engine's units.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Allowed {
    /// Packets in flight at most.
    pub(crate) window: f64,
    /// Least time between two packets; zero where the law leaves it to the acknowledgements [s].
    pub(crate) gap_s: f64,
}

impl Allowed {
    /// Whether anybody can act on it.
    pub(crate) fn is_sound(&self) -> bool {
        is_amount(self.window) && is_amount(self.gap_s)
    }
}

impl fmt::Display for Allowed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a window of {} packets and a gap of {} s", self.window, self.gap_s)
    }
}

/// The law of a group of flows with all their states.
pub(crate) enum Windows {
    Real(Typed<f64>),
    Fixed(Typed<Fix<32>>),
}

pub(crate) struct Typed<N: Number> {
    law: Box<dyn Instances<N, Controller>>,
    wanted: Wanted<N>,
    /// The law asks neither for the time nor about the bottleneck: nothing is to be done before and after an
    /// acknowledgement is told.
    simple: bool,
    estimates: Vec<Estimates<N>>,
}

impl<N: Clocked> Typed<N> {
    /// `interface` is how long a packet takes on the sender's own line.
    pub(crate) fn new(mut law: Box<dyn Instances<N, Controller>>, flows: usize, interface: Time) -> Self {
        for _ in 0..flows {
            law.add();
        }
        let needs = law.requirements();
        let wanted = Wanted::by(needs, interface);
        let simple = !needs.now && needs.bottleneck.is_none();
        Self { law, simple, estimates: vec![Estimates::new(&wanted); flows], wanted }
    }

    fn on(&mut self, flow: usize, now: Time, event: Event) -> Allowed {
        let estimates = &mut self.estimates[flow];
        estimates.before(&self.wanted, now, event);
        let says = self.law.on_event(flow, event, &estimates.path);
        estimates.after(&self.wanted, now, event, says.window);
        Allowed { window: says.window.value(), gap_s: says.gap_s.value() }
    }

    #[expect(clippy::inline_always, reason = "measured: on the way of every acknowledgement")]
    #[inline(always)]
    fn ack(&mut self, flow: usize, now: Time, ack: &Ack) -> Option<Allowed> {
        let estimates = &mut self.estimates[flow];
        if let Some(probe) = ack.probe {
            estimates.probe(&self.wanted, now, probe, ack.rtt, ack.window);
        } else if let Some(rtt) = ack.rtt {
            estimates.sample(&self.wanted, rtt, ack.window);
        }
        estimates.echo(&self.wanted, ack.packets, ack.marked);
        if !ack.grows {
            return None;
        }
        let event = Event::Ack { packets: ack.packets, marked: ack.marked };
        if !self.simple {
            return Some(self.on(flow, now, event));
        }
        let says = self.law.on_event(flow, event, &estimates.path);
        Some(Allowed { window: says.window.value(), gap_s: says.gap_s.value() })
    }

    fn restart(&mut self, flow: usize, keep_base: bool) {
        self.law.restart(flow);
        self.estimates[flow].restart(&self.wanted, keep_base);
    }

    fn observables(&mut self, flow: usize) -> Vec<f64> {
        let mut values = Vec::new();
        self.law.each(flow, &mut |x| values.push(x.value()));
        let path = self.estimates[flow].path;
        values.extend([path.rtt_s.value(), path.base_rtt_s.value(), path.price_s.value()]);
        if let Some(estimated) = self.estimated(flow) {
            values.extend([estimated.capacity, estimated.buffer, path.level.value()]);
        }
        values
    }

    fn estimated(&self, flow: usize) -> Option<Estimated> {
        self.estimates[flow].bottleneck.as_ref().map(|bottleneck| bottleneck.estimated)
    }

    fn names(&self) -> Vec<(&'static str, &'static str)> {
        let mut names = self.law.names().to_vec();
        names.extend([("rtt", "s"), ("base_rtt", "s"), ("price", "s")]);
        if self.law.requirements().bottleneck.is_some() {
            names.extend([("capacity", "packets/s"), ("buffer", "packets"), ("level", "packets")]);
        }
        names
    }
}

/// An acknowledgement, as window control sees it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ack<'a> {
    /// The round trip it measured.
    pub(crate) rtt: Option<Time>,
    /// Packets it reports.
    pub(crate) packets: u32,
    /// Those of them that carry an echo.
    pub(crate) marked: u32,
    /// Whether it is an event of the law: it covers new data outside recovery.
    pub(crate) grows: bool,
    /// The window before it.
    pub(crate) window: f64,
    /// What laws that ask about the bottleneck observe besides.
    pub(crate) probe: Option<&'a Probe>,
}

impl Windows {
    pub(crate) fn requirements(&self) -> cc::Requirements {
        match self {
            Self::Real(t) => t.law.requirements(),
            Self::Fixed(t) => t.law.requirements(),
        }
    }

    /// An event other than an acknowledgement.
    pub(crate) fn on(&mut self, flow: usize, now: Time, event: Event) -> Allowed {
        match self {
            Self::Real(t) => t.on(flow, now, event),
            Self::Fixed(t) => t.on(flow, now, event),
        }
    }

    /// A new connection begins, knowing its smallest round trip or nothing; what it may do then.
    pub(crate) fn restart(&mut self, flow: usize, keep_base: bool) -> Allowed {
        match self {
            Self::Real(t) => t.restart(flow, keep_base),
            Self::Fixed(t) => t.restart(flow, keep_base),
        }
        self.start(flow)
    }

    /// An acknowledgement; the output of the law, if it was an event of it.
    #[expect(clippy::inline_always, reason = "measured: on the way of every acknowledgement")]
    #[inline(always)]
    pub(crate) fn ack(&mut self, flow: usize, now: Time, ack: Ack) -> Option<Allowed> {
        match self {
            Self::Real(t) => t.ack(flow, now, &ack),
            Self::Fixed(_) => self.ack_fixed(flow, now, ack),
        }
    }

    /// The same in fixed point, out of the way of the other.
    #[inline(never)]
    fn ack_fixed(&mut self, flow: usize, now: Time, ack: Ack) -> Option<Allowed> {
        let Self::Fixed(t) = self else { return None };
        t.ack(flow, now, &ack)
    }

    /// Sends for a flow's estimates.
    #[inline]
    pub(crate) fn fetch(&self, flow: usize) {
        match self {
            Self::Real(t) => {
                fetch(&t.estimates[flow]);
                fetch(&t.estimates[flow].path);
            }
            Self::Fixed(t) => fetch(&t.estimates[flow]),
        }
    }

    /// Whether a flow has measured its path.
    pub(crate) fn known(&self, flow: usize) -> bool {
        match self {
            Self::Real(t) => t.estimates[flow].known,
            Self::Fixed(t) => t.estimates[flow].known,
        }
    }

    /// What a flow estimates of its bottleneck, where its law asks.
    pub(crate) fn estimated(&self, flow: usize) -> Option<Estimated> {
        match self {
            Self::Real(t) => t.estimated(flow),
            Self::Fixed(t) => t.estimated(flow),
        }
    }

    /// What a flow may do before anything happened to it.
    pub(crate) fn start(&self, flow: usize) -> Allowed {
        let window = match self {
            Self::Real(t) => t.law.output(flow, &t.estimates[flow].path).window,
            Self::Fixed(t) => t.law.output(flow, &t.estimates[flow].path).window.value(),
        };
        let gap_s = match self {
            Self::Real(t) if !t.law.requirements().reliable => t.law.output(flow, &t.estimates[flow].path).gap_s,
            _ => 0.0,
        };
        // Before the first sample a gap means nothing; a start is clocked by acknowledgements.
        Allowed { window, gap_s }
    }

    /// Names and units of a flow's observables: the law's state, then the estimates.
    pub(crate) fn names(&self) -> Vec<(&'static str, &'static str)> {
        match self {
            Self::Real(t) => t.names(),
            Self::Fixed(t) => t.names(),
        }
    }

    /// Their values now.
    pub(crate) fn observables(&mut self, flow: usize) -> Vec<f64> {
        match self {
            Self::Real(t) => t.observables(flow),
            Self::Fixed(t) => t.observables(flow),
        }
    }
}
