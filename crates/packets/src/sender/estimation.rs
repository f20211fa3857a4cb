//! Estimation: round-trip samples and echoes in, the observation of a law out.

use penstock_law::cc::{self, Event, Marks};
use penstock_law::estimate::{AverageRtt, BaseRtt, Clocked, MarkRegister, PriceTable};
use penstock_law::quantity::Time;

use super::bottleneck::{Bottleneck, Known, Probe};

/// Requirements of a group's law.
#[derive(Debug)]
pub(crate) struct Wanted<N> {
    needs: cc::Requirements,
    /// Length of the mark register and the price for each count of marks.
    price: Option<(u32, PriceTable<N>)>,
    /// Time of a packet on the sender's own line.
    interface: Time,
    /// Bottleneck that the law observes instead of estimates.
    bottleneck: Option<Known>,
}

impl<N: Clocked> Wanted<N> {
    pub(crate) fn by(needs: cc::Requirements, interface: Time, bottleneck: Option<Known>) -> Self {
        let price = if let Marks::Price(by) = needs.marks { Some((by.packets, PriceTable::new(by))) } else { None };
        Self { needs, price, interface, bottleneck }
    }

    /// The law requires the time.
    pub(crate) fn asks_now(&self) -> bool {
        self.needs.now
    }
}

/// One flow's estimates.
#[derive(Debug, Clone)]
pub(crate) struct Estimates<N> {
    base: BaseRtt<N>,
    average: AverageRtt<N>,
    marks: MarkRegister,
    /// Whether there was a sample at all.
    pub(crate) known: bool,
    pub(crate) path: cc::Observation<N>,
    /// Where the law requires it.
    pub(crate) bottleneck: Option<Box<Bottleneck<N>>>,
}

impl<N: Clocked> Estimates<N> {
    pub(crate) fn new(wanted: &Wanted<N>) -> Self {
        let bottleneck =
            wanted.needs.bottleneck.map(|by| Box::new(Bottleneck::new(by, wanted.interface, wanted.bottleneck)));
        Self {
            base: BaseRtt::UNKNOWN,
            average: AverageRtt::UNKNOWN,
            marks: MarkRegister::default(),
            known: false,
            path: cc::Observation::zero(),
            bottleneck,
        }
    }

    /// A round trip was measured under `window`.
    #[expect(clippy::inline_always, reason = "measured: on the way of every packet")]
    #[inline(always)]
    pub(crate) fn sample(&mut self, wanted: &Wanted<N>, rtt: Time, window: f64) {
        let rtt = N::span(rtt);
        self.known = true;
        self.path.base_rtt_s = self.base.take(rtt);
        self.path.rtt_s = match &wanted.needs.average_rtt {
            Some(by) => self.average.take(by, rtt, N::of(window)),
            None => rtt,
        };
    }

    /// An acknowledgement for a law that requires the bottleneck: only samples beyond doubt are taken.
    #[cold]
    pub(crate) fn probe(&mut self, wanted: &Wanted<N>, now: Time, probe: &Probe, rtt: Option<Time>, window: f64) {
        let rtt = rtt.filter(|_| probe.sure);
        if let Some(rtt) = rtt {
            self.sample(wanted, rtt, window);
        }
        if let Some(bottleneck) = &mut self.bottleneck {
            bottleneck.hear(now, probe, rtt.map(N::span), &mut self.path);
        }
    }

    /// A loss when `packets` were sent and not acknowledged: the samples that the law requires of it.
    #[cold]
    pub(crate) fn lost(&mut self, wanted: &Wanted<N>, packets: u64) {
        if wanted.needs.flight_size {
            self.path.in_flight = N::of(packets as f64);
        }
    }

    /// Before the host calls the law for an event.
    #[inline]
    pub(crate) fn before(&mut self, wanted: &Wanted<N>, now: Time, event: Event) {
        if event == Event::Timeout {
            self.timeout();
        }
        if wanted.needs.now {
            self.path.now_s = N::span(now);
        }
        if let Some(bottleneck) = &mut self.bottleneck {
            let lookback = wanted.needs.bottleneck.and_then(|by| by.lookback);
            match (event, lookback) {
                (Event::Ack { .. }, Some(lookback)) => bottleneck.look_back(lookback, now, &mut self.path),
                (Event::Congestion | Event::Timeout, _) => bottleneck.forget(&mut self.path),
                _ => {}
            }
        }
    }

    /// After the law allowed `window` in response to an event.
    #[inline]
    pub(crate) fn after(&mut self, wanted: &Wanted<N>, now: Time, event: Event, window: N) {
        if let (Some(bottleneck), Event::Ack { .. }) = (&mut self.bottleneck, event)
            && let Some(by) = wanted.needs.bottleneck.filter(|by| by.lookback.is_some())
        {
            bottleneck.commit(by.committed, now, window, &self.path);
        }
    }

    /// Acknowledgements covered `packets` packets, `marked` of them marked.
    #[expect(clippy::inline_always, reason = "measured: on the way of every packet")]
    #[inline(always)]
    pub(crate) fn echo(&mut self, wanted: &Wanted<N>, packets: u32, marked: u32) {
        if let Some((length, table)) = &wanted.price {
            self.path.price_s = table.price_s(self.marks.take(*length, packets, marked));
        }
    }

    /// A new connection begins; it may know the smallest round trip of those before.
    pub(crate) fn restart(&mut self, wanted: &Wanted<N>, keep_base: bool) {
        let (base, base_rtt_s) = (self.base, self.path.base_rtt_s);
        *self = Self::new(wanted);
        if keep_base {
            self.base = base;
            self.path.base_rtt_s = base_rtt_s;
        }
    }

    /// After a timeout the average starts over; the base stays.
    fn timeout(&mut self) {
        self.average.forget();
    }
}
