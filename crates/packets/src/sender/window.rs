//! Window control: the law, in the arithmetic of the scenario.

use std::fmt;

use penstock_law::cc::{self, Controller, Delivery, Event, Timing};
use penstock_law::estimate::Clocked;
use penstock_law::law::Instances;
use penstock_law::quantity::{Time, is_amount};
use penstock_law::{Fix, Number};

use crate::ahead::fetch;

use super::bottleneck::{Estimated, Known, Probe};
use super::estimation::{Estimates, Wanted};

/// The smallest window that is a rate [packets].
const LEAST_WINDOW: f64 = 1e-6;

/// The output of a law, in the engine's units.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Allowed {
    /// Packets in flight at most.
    pub(crate) window: f64,
    /// Least time between two packets; zero where the law leaves it to the acknowledgements [s].
    pub(crate) gap_s: f64,
}

impl Allowed {
    /// Whether it is a valid number.
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
    /// The law requires neither the time nor the bottleneck: nothing is to be done before and after an
    /// acknowledgement is reported.
    simple: bool,
    /// A window below two packets is a rate.
    fractions: bool,
    /// The law's own gaps hold.
    gaps: bool,
    estimates: Vec<Estimates<N>>,
}

impl<N: Clocked> Typed<N> {
    /// `interface` is the time of a packet on the sender's own line, `bottleneck` the law's knowledge without estimates.
    pub(crate) fn new(
        mut law: Box<dyn Instances<N, Controller>>,
        flows: usize,
        interface: Time,
        bottleneck: Option<Known>,
    ) -> Self {
        for _ in 0..flows {
            law.add();
        }
        let needs = law.requirements();
        let wanted = Wanted::by(needs, interface, bottleneck);
        let simple = !needs.now && needs.bottleneck.is_none() && !needs.fractions;
        Self {
            law,
            simple,
            fractions: needs.fractions,
            gaps: true,
            estimates: vec![Estimates::new(&wanted); flows],
            wanted,
        }
    }

    fn on(&mut self, flow: usize, now: Time, event: Event) -> Allowed {
        let estimates = &mut self.estimates[flow];
        estimates.before(&self.wanted, now, event);
        let says = self.law.on_event(flow, event, &estimates.path);
        estimates.after(&self.wanted, now, event, says.window);
        self.allowed(flow, says)
    }

    /// The law's output, in the engine's units.
    #[inline]
    fn allowed(&self, flow: usize, says: cc::Output<N>) -> Allowed {
        let allowed = Allowed { window: says.window.value(), gap_s: says.gap_s.value() };
        if self.fractions { self.spread(flow, allowed) } else { allowed }
    }

    /// A window below two packets is so many a round trip, whatever is in flight.
    fn spread(&self, flow: usize, said: Allowed) -> Allowed {
        let gap_s = if self.gaps { said.gap_s } else { 0.0 };
        if !is_amount(said.window) || said.window >= 2.0 {
            return Allowed { gap_s, ..said };
        }
        // No window is so small that nothing is ever sent.
        let spread_s = self.estimates[flow].path.rtt_s.value() / said.window.max(LEAST_WINDOW);
        Allowed { window: said.window, gap_s: if spread_s > gap_s { spread_s } else { gap_s } }
    }

    #[inline]
    fn on_detail(&mut self, flow: usize, delivery: &Delivery) -> Allowed {
        let path = &mut self.estimates[flow].path;
        if self.wanted.asks_now() {
            path.now_s = N::span(delivery.now);
        }
        let says = self.law.on_detail(flow, delivery, path);
        self.allowed(flow, says)
    }

    #[inline]
    fn on_detail_timed(&mut self, flow: usize, delivery: &Delivery) -> (Allowed, Timing) {
        let path = &mut self.estimates[flow].path;
        if self.wanted.asks_now() {
            path.now_s = N::span(delivery.now);
        }
        let (says, timing) = self.law.on_detail_timed(flow, delivery, path);
        (self.allowed(flow, says), timing)
    }

    fn timing(&self, flow: usize) -> Timing {
        self.law.timing(flow, &self.estimates[flow].path)
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

    fn bring_back(&mut self, flow: usize) -> Allowed {
        self.law.bring_back(flow);
        let output = self.law.output(flow, &self.estimates[flow].path);
        self.allowed(flow, output)
    }

    fn change(&mut self, flow: usize, f: &mut dyn FnMut(&mut f64)) -> Allowed {
        self.law.each(flow, &mut |x| {
            let mut value = x.value();
            f(&mut value);
            *x = N::of(value);
        });
        let output = self.law.output(flow, &self.estimates[flow].path);
        self.allowed(flow, output)
    }

    /// The law has a gap before anything was measured.
    fn paces_at_once(&self) -> bool {
        let needs = self.law.requirements();
        !needs.reliable || needs.delivery
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
    /// Additional observation of laws that require the bottleneck.
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

    /// A congestion event of a flow that has sent `flight` packets and no acknowledgement of them; zero where nothing is lost.
    #[cold]
    pub(crate) fn cut(&mut self, flow: usize, now: Time, event: Event, flight: u64) -> Allowed {
        match self {
            Self::Real(t) => t.estimates[flow].lost(&t.wanted, flight),
            Self::Fixed(t) => t.estimates[flow].lost(&t.wanted, flight),
        }
        self.on(flow, now, event)
    }

    /// An event of the packets of a flow.
    #[inline]
    pub(crate) fn on_detail(&mut self, flow: usize, delivery: &Delivery) -> Allowed {
        match self {
            Self::Real(t) => t.on_detail(flow, delivery),
            Self::Fixed(t) => t.on_detail(flow, delivery),
        }
    }

    /// The same with the timing output.
    #[inline]
    pub(crate) fn on_detail_timed(&mut self, flow: usize, delivery: &Delivery) -> (Allowed, Timing) {
        match self {
            Self::Real(t) => t.on_detail_timed(flow, delivery),
            Self::Fixed(t) => t.on_detail_timed(flow, delivery),
        }
    }

    /// The timing output of the law.
    pub(crate) fn timing(&self, flow: usize) -> Timing {
        match self {
            Self::Real(t) => t.timing(flow),
            Self::Fixed(t) => t.timing(flow),
        }
    }

    /// Shows the numbers of the law's state to `f`, which may change them; returns the law's output then.
    pub(crate) fn change(&mut self, flow: usize, f: &mut dyn FnMut(&mut f64)) -> Allowed {
        match self {
            Self::Real(t) => t.change(flow, f),
            Self::Fixed(t) => t.change(flow, f),
        }
    }

    /// Whether the law's gaps hold, where a window below two packets is a rate anyway.
    pub(crate) fn keep_gaps(&mut self, gaps: bool) {
        match self {
            Self::Real(t) => t.gaps = gaps,
            Self::Fixed(t) => t.gaps = gaps,
        }
    }

    /// A new connection begins, knowing its smallest round trip or nothing; returns its limits then.
    pub(crate) fn restart(&mut self, flow: usize, keep_base: bool) -> Allowed {
        match self {
            Self::Real(t) => t.restart(flow, keep_base),
            Self::Fixed(t) => t.restart(flow, keep_base),
        }
        self.start(flow)
    }

    /// Keeps the law's state, since the event may turn out to be spurious.
    #[cold]
    pub(crate) fn keep(&mut self, flow: usize) {
        match self {
            Self::Real(t) => t.law.keep(flow),
            Self::Fixed(t) => t.law.keep(flow),
        }
    }

    /// The event was spurious: restores the law, and returns its output.
    #[cold]
    pub(crate) fn bring_back(&mut self, flow: usize) -> Allowed {
        match self {
            Self::Real(t) => t.bring_back(flow),
            Self::Fixed(t) => t.bring_back(flow),
        }
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

    /// Estimates of a flow about its bottleneck, where its law requires them.
    pub(crate) fn estimated(&self, flow: usize) -> Option<Estimated> {
        match self {
            Self::Real(t) => t.estimated(flow),
            Self::Fixed(t) => t.estimated(flow),
        }
    }

    /// Limits of a flow before its first event.
    pub(crate) fn start(&self, flow: usize) -> Allowed {
        let window = match self {
            Self::Real(t) => t.law.output(flow, &t.estimates[flow].path).window,
            Self::Fixed(t) => t.law.output(flow, &t.estimates[flow].path).window.value(),
        };
        let gap_s = match self {
            Self::Real(t) if t.paces_at_once() => t.law.output(flow, &t.estimates[flow].path).gap_s,
            Self::Fixed(t) if t.law.requirements().delivery => {
                t.law.output(flow, &t.estimates[flow].path).gap_s.value()
            }
            _ => 0.0,
        };
        // Before the first sample a gap means nothing to most laws; a start is clocked by acknowledgements.
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
