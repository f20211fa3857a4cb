//! Estimation: round-trip samples and echoes in, what a law sees of its path out.

use penstock_law::cc::{Marks, Needs, Path};
use penstock_law::estimate::{AverageRtt, BaseRtt, Clocked, MarkRegister, PriceTable};
use penstock_law::quantity::Time;

/// What a group's law wants to know.
#[derive(Debug)]
pub(crate) struct Wanted<N> {
    needs: Needs,
    /// Length of the mark register and the price for each count of marks.
    price: Option<(u32, PriceTable<N>)>,
}

impl<N: Clocked> Wanted<N> {
    pub(crate) fn by(needs: Needs) -> Self {
        let price = if let Marks::Price(by) = needs.marks { Some((by.packets, PriceTable::new(by))) } else { None };
        Self { needs, price }
    }

    /// Whether it wants to know the time.
    #[inline]
    pub(crate) fn now(&self) -> bool {
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
    pub(crate) path: Path<N>,
}

impl<N: Clocked> Estimates<N> {
    pub(crate) fn new() -> Self {
        Self {
            base: BaseRtt::UNKNOWN,
            average: AverageRtt::UNKNOWN,
            marks: MarkRegister::default(),
            known: false,
            path: Path::unknown(),
        }
    }

    /// A round trip was measured under `window`.
    #[inline]
    pub(crate) fn sample(&mut self, wanted: &Wanted<N>, rtt: Time, window: f64) {
        let rtt = N::span(rtt);
        self.known = true;
        self.path.base_rtt_s = self.base.take(rtt);
        self.path.rtt_s = match &wanted.needs.average_rtt {
            Some(by) => self.average.take(by, rtt, N::of(window)),
            None => rtt,
        };
    }

    /// Acknowledgements told of `packets` packets, `marked` of them marked.
    #[inline]
    pub(crate) fn echo(&mut self, wanted: &Wanted<N>, packets: u32, marked: u32) {
        if let Some((length, table)) = &wanted.price {
            self.path.price_s = table.price_s(self.marks.take(*length, packets, marked));
        }
    }

    /// A new connection begins; it may know the smallest round trip of those before.
    pub(crate) fn restart(&mut self, keep_base: bool) {
        let (base, base_rtt_s) = (self.base, self.path.base_rtt_s);
        *self = Self::new();
        if keep_base {
            self.base = base;
            self.path.base_rtt_s = base_rtt_s;
        }
    }

    /// After a timeout the average starts over; the base stays.
    pub(crate) fn timeout(&mut self) {
        self.average.forget();
    }
}
