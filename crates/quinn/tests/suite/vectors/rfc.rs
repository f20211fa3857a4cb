//! RFC 9002 and RFC 9438 once more, from their text and in bytes, so that a slip of ours does not become a vector.

use super::driver::Stack;
use super::sequences::DATAGRAM;

const SIZE: f64 = DATAGRAM as f64;

/// NewReno: the pseudocode of RFC 9002, appendix B.
pub(crate) struct Rfc9002 {
    congestion_window: f64,
    ssthresh: f64,
    congestion_recovery_start_time: Option<u64>,
}

impl Rfc9002 {
    pub(crate) fn new(window_bytes: u64) -> Self {
        let congestion_window = window_bytes as f64;
        Self { congestion_window, ssthresh: f64::INFINITY, congestion_recovery_start_time: None }
    }

    fn in_recovery(&self, sent_us: u64) -> bool {
        self.congestion_recovery_start_time.is_some_and(|start| sent_us <= start)
    }

    fn on_congestion_event(&mut self, at_us: u64, sent_us: u64) {
        if self.in_recovery(sent_us) {
            return;
        }
        self.congestion_recovery_start_time = Some(at_us);
        self.ssthresh = self.congestion_window * 0.5;
        self.congestion_window = self.ssthresh.max(2.0 * SIZE);
    }
}

impl Stack for Rfc9002 {
    fn sent(&mut self, _: u64, _: u64) {}
    fn acked(&mut self, _: u64, sent_us: u64, bytes: u64, _: u64, _: u64, limited: bool) {
        if limited || self.in_recovery(sent_us) {
            return;
        }
        let bytes = bytes as f64;
        if self.congestion_window < self.ssthresh {
            self.congestion_window += bytes;
        } else {
            self.congestion_window += SIZE * bytes / self.congestion_window;
        }
    }
    fn lost(&mut self, at_us: u64, sent_us: u64, _: u64, persistent: bool) {
        self.on_congestion_event(at_us, sent_us);
        if persistent {
            self.congestion_window = 2.0 * SIZE;
            self.congestion_recovery_start_time = None;
        }
    }
    fn echo(&mut self, at_us: u64, sent_us: u64) {
        self.on_congestion_event(at_us, sent_us);
    }
    fn outputs(&self) -> [Option<f64>; 3] {
        [Some(self.congestion_window), self.ssthresh.is_finite().then_some(self.ssthresh), None]
    }
}

/// CUBIC, in segments: RFC 9438, section 4, figure by figure.
#[derive(Default)]
pub(crate) struct Rfc9438 {
    cwnd: f64,
    ssthresh: Option<f64>,
    w_max: f64,
    cwnd_prior: f64,
    w_est: f64,
    k: f64,
    /// t, since this stage began; none before the first acknowledgement of a stage.
    t: Option<f64>,
    after_timeout: bool,
    first: bool,
    last_us: u64,
    recovery_us: Option<u64>,
    /// Whether t goes on by more than a round trip between two acknowledgements.
    all_time: bool,
}

const C: f64 = 0.4;
const BETA: f64 = 0.7;

impl Rfc9438 {
    pub(crate) fn new(window_bytes: u64) -> Self {
        Self { cwnd: window_bytes as f64 / SIZE, first: true, ..Self::default() }
    }

    /// The same with the whole time between acknowledgements in t.
    pub(crate) fn with_all_time(window_bytes: u64) -> Self {
        Self { all_time: true, ..Self::new(window_bytes) }
    }

    fn in_recovery(&self, sent_us: u64) -> bool {
        self.recovery_us.is_some_and(|start| sent_us <= start)
    }

    /// Figure 1.
    fn w_cubic(&self, t: f64) -> f64 {
        C * libm::pow(t - self.k, 3.0) + self.w_max
    }

    /// Sections 4.6 and 4.7.
    fn reduce(&mut self) {
        self.w_max = if self.cwnd < self.w_max { self.cwnd * (1.0 + BETA) / 2.0 } else { self.cwnd };
        self.cwnd_prior = self.cwnd;
        self.ssthresh = Some((self.cwnd * BETA).max(2.0));
        self.cwnd = (self.cwnd * BETA).max(2.0);
        (self.t, self.after_timeout, self.first) = (None, false, false);
    }
}

impl Stack for Rfc9438 {
    fn sent(&mut self, _: u64, _: u64) {}
    fn acked(&mut self, at_us: u64, sent_us: u64, _: u64, datagrams: u64, _: u64, limited: bool) {
        let rtt = (at_us - sent_us) as f64 * 1e-6;
        if limited || self.in_recovery(sent_us) {
            return;
        }
        let longest = if self.all_time { f64::INFINITY } else { rtt };
        let since = ((at_us - self.last_us) as f64 * 1e-6).min(longest);
        self.last_us = at_us;
        let acked = datagrams as f64;
        if self.ssthresh.is_none_or(|ssthresh| self.cwnd < ssthresh) {
            self.cwnd += acked;
            return;
        }
        let t = if let Some(t) = self.t {
            t + since
        } else {
            // Section 4.2; 4.8 after a timeout.
            if self.after_timeout || self.w_max <= self.cwnd {
                (self.k, self.w_max) = (0.0, self.cwnd);
            } else {
                self.k = libm::cbrt((self.w_max - self.cwnd) / C);
            }
            self.w_est = self.cwnd;
            self.after_timeout = false;
            0.0
        };
        self.t = Some(t);
        // Figure 4.
        let alpha = if self.w_est >= self.cwnd_prior { 1.0 } else { 3.0 * (1.0 - BETA) / (1.0 + BETA) };
        self.w_est += alpha * acked / self.cwnd;
        if self.w_cubic(t) < self.w_est {
            self.cwnd = self.cwnd.max(self.w_est);
        } else {
            let target = self.w_cubic(t + rtt).clamp(self.cwnd, 1.5 * self.cwnd);
            self.cwnd += acked * (target - self.cwnd) / self.cwnd;
        }
    }
    fn lost(&mut self, at_us: u64, sent_us: u64, _: u64, persistent: bool) {
        let counts = !self.in_recovery(sent_us);
        if persistent {
            self.cwnd_prior = self.cwnd;
            if counts {
                self.ssthresh = Some((self.cwnd * BETA).max(2.0));
            }
            self.cwnd = 2.0;
            (self.t, self.after_timeout, self.recovery_us) = (None, true, None);
        } else if counts {
            self.recovery_us = Some(at_us);
            self.reduce();
        }
    }
    fn echo(&mut self, at_us: u64, sent_us: u64) {
        self.lost(at_us, sent_us, 0, false);
    }
    fn outputs(&self) -> [Option<f64>; 3] {
        [Some(self.cwnd * SIZE), self.ssthresh.map(|ssthresh| ssthresh * SIZE), None]
    }
}

/// Prague, in segments: the equations of the draft, section 2.4.2, on a path where the virtual round trip is the real one.
pub(crate) struct PragueDraft {
    cwnd: f64,
    ssthresh: Option<f64>,
    alpha: f64,
    acked: f64,
    marked: f64,
    any: bool,
    reduced: bool,
    round_us: u64,
    recovery_us: Option<u64>,
    /// The same for each datagram of a sequence, so the smoothed one too.
    rtt_us: Option<u64>,
}

impl PragueDraft {
    pub(crate) fn new(window_bytes: u64) -> Self {
        let cwnd = window_bytes as f64 / SIZE;
        let (any, reduced, round_us) = (false, false, 0);
        let (ssthresh, recovery_us, rtt_us) = (None, None, None);
        Self { cwnd, ssthresh, alpha: 1.0, acked: 0.0, marked: 0.0, any, reduced, round_us, recovery_us, rtt_us }
    }
}

impl Stack for PragueDraft {
    fn sent(&mut self, _: u64, _: u64) {}
    fn acked(&mut self, at_us: u64, sent_us: u64, _: u64, datagrams: u64, marked: u64, _: bool) {
        self.rtt_us = Some(at_us - sent_us);
        if self.recovery_us.is_some_and(|start| sent_us <= start) {
            return;
        }
        if at_us - self.round_us >= at_us - sent_us {
            if self.any && self.acked > 0.0 {
                self.alpha += (self.marked / self.acked - self.alpha) / 16.0;
            }
            (self.acked, self.marked, self.reduced, self.round_us) = (0.0, 0.0, false, at_us);
        }
        let (datagrams, marked) = (datagrams as f64, marked as f64);
        self.acked += datagrams;
        self.marked += marked;
        if marked > 0.0 {
            self.any = true;
            if !self.reduced {
                self.reduced = true;
                self.cwnd = (self.cwnd * (1.0 - self.alpha / 2.0)).max(2.0);
                self.ssthresh = Some(self.cwnd);
            }
        }
        let slow_start = self.ssthresh.is_none_or(|ssthresh| self.cwnd < ssthresh);
        let unmarked = datagrams - marked;
        self.cwnd += if slow_start { unmarked } else { unmarked / self.cwnd };
    }
    fn lost(&mut self, at_us: u64, _: u64, _: u64, _: bool) {
        self.recovery_us = Some(at_us);
        self.cwnd = (self.cwnd / 2.0).max(2.0);
        self.ssthresh = Some(self.cwnd);
    }
    fn echo(&mut self, _: u64, _: u64) {}
    /// The rate as in tcp_prague.c: the window in a round trip, and twice that below half the threshold.
    fn outputs(&self) -> [Option<f64>; 3] {
        let faster = if self.ssthresh.is_none_or(|ssthresh| self.cwnd < ssthresh / 2.0) { 2.0 } else { 1.0 };
        let rate = self.rtt_us.map(|rtt_us| faster * 8.0 * SIZE * self.cwnd / (rtt_us as f64 * 1e-6));
        [Some(self.cwnd * SIZE), self.ssthresh.map(|ssthresh| ssthresh * SIZE), rate]
    }
}
