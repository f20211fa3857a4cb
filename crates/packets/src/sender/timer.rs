//! The retransmission timer (RFC 6298; or Linux's, or that of a coarse clock, where a scenario has it), or QUIC's probe timeout,
//! in integers.
//!
//! Source: RFC 9002, section 6.2 and appendix A, for the probe timeout.
//! Differs: a probe timeout that an acknowledgement brings closer by more than `max_ack_delay` may be late by so much.

use penstock_law::quantity::Time;
use penstock_scenario::model::Rto;

/// No timeout is longer (RFC 6298, section 2.5, allows a bound of at least 60 s).
const MOST: u64 = 60 * Time::PER_SECOND;
/// Linux's (`TCP_RTO_MAX`).
const MOST_OF_LINUX: u64 = 120 * Time::PER_SECOND;
/// Before the first sample (RFC 6298, section 2.1; Linux's `TCP_TIMEOUT_INIT`).
const FIRST: u64 = Time::PER_SECOND;

/// The probe timeout before the first sample: kInitialRtt is 333 ms, and the variation is half of it (RFC 9002, section 6.2.2).
const FIRST_PROBE: u64 = 3 * 333 * (Time::PER_SECOND / 1000);
/// kPersistentCongestionThreshold (RFC 9002, section 7.6.1).
const PERSISTENT: u64 = 3;

/// It is looked at again after this long at the latest, however short a timeout is allowed.
const LEAST_LOOK: u64 = 1_000_000_000;

/// The retransmission timer of a flow. An acknowledgement moves the deadline and leaves the event on the agenda alone,
/// which looks at the deadline when it comes. A deadline may move closer too, when a sample ends backing off; so the
/// event is never further away than the minimum RTO, and comes in time for any deadline set after it.
#[derive(Debug)]
pub(crate) struct Timer {
    /// In ps; by a coarse clock in eighths of a tick.
    smoothed: u64,
    /// By RFC 6298 the mean deviation; by Linux the term added to the smoothed round trip, which is four of them; by a coarse
    /// clock the mean deviation in quarters of a tick.
    variation: u64,
    /// By Linux four mean deviations, as of the last sample and the largest of this round trip [ps].
    deviation: u64,
    largest: u64,
    rto: u64,
    least: u64,
    rule: Rule,
    doublings: u32,
    /// Of a probe timeout: when it started, with the last packet sent [ps].
    started: u64,
    /// When it expires [ps]; never while nothing is in flight.
    pub(crate) deadline: u64,
    /// Whether an event is on the agenda.
    pub(crate) scheduled: bool,
}

/// The rule from samples to the timeout.
#[derive(Debug, Clone, Copy)]
enum Rule {
    Rfc6298,
    Linux,
    /// In whole ticks of this many ps.
    Ticks(u64),
    /// A probe timeout, with the max_ack_delay of the receiver [ps].
    Probe(u64),
}

impl Timer {
    pub(crate) fn new(rule: Rto, least: Time, tick: Option<Time>, max_ack_delay: Time) -> Self {
        let rule = match (rule, tick) {
            (Rto::Rfc9002, _) => Rule::Probe(max_ack_delay.0),
            (Rto::Linux, _) => Rule::Linux,
            (Rto::Rfc6298, None) => Rule::Rfc6298,
            (Rto::Rfc6298, Some(tick)) => Rule::Ticks(tick.0),
        };
        Self::by(rule, least.0)
    }

    fn by(rule: Rule, least: u64) -> Self {
        Self {
            smoothed: 0,
            variation: 0,
            deviation: 0,
            largest: 0,
            rto: match rule {
                Rule::Rfc6298 => FIRST.max(least),
                Rule::Ticks(tick) => FIRST.max(least).next_multiple_of(tick),
                Rule::Linux => FIRST,
                Rule::Probe(_) => FIRST_PROBE,
            },
            least,
            rule,
            doublings: 0,
            started: 0,
            deadline: u64::MAX,
            scheduled: false,
        }
    }

    /// A round trip that ends `now` was measured, which ends any backing off; `round` means that it is the first of a window.
    #[expect(clippy::inline_always, reason = "measured: on the way of every packet")]
    #[inline(always)]
    pub(crate) fn sample(&mut self, now: u64, rtt: u64, round: bool) {
        self.doublings = 0;
        match self.rule {
            Rule::Rfc6298 => self.rfc6298(rtt),
            Rule::Linux => self.linux(rtt, round),
            Rule::Probe(max_ack_delay) => {
                self.estimate(rtt);
                self.rto = self.smoothed + (4 * self.variation).max(self.least) + max_ack_delay;
            }
            Rule::Ticks(tick) if round => self.ticks(tick, now, rtt),
            Rule::Ticks(_) => {}
        }
    }

    /// Rules 2.2 to 2.5.
    #[expect(clippy::inline_always, reason = "measured: on the way of every packet")]
    #[inline(always)]
    fn rfc6298(&mut self, rtt: u64) {
        self.estimate(rtt);
        self.rto = (self.smoothed + 4 * self.variation).min(MOST).max(self.least);
    }

    /// The same in RFC 9002, section 5.3.
    #[expect(clippy::inline_always, reason = "measured: on the way of every packet")]
    #[inline(always)]
    fn estimate(&mut self, rtt: u64) {
        if self.smoothed == 0 {
            (self.smoothed, self.variation) = (rtt, rtt / 2);
        } else {
            let off = rtt.abs_diff(self.smoothed);
            self.variation = self.variation - self.variation / 4 + off / 4;
            self.smoothed = self.smoothed - self.smoothed / 8 + rtt / 8;
        }
    }

    /// As `tcp_rtt_estimator` and `tcp_set_rto` of Linux's `net/ipv4/tcp_input.c`: the term added to the smoothed round trip
    /// is at least `least`, rises with the deviation at once, and falls towards the largest of each round trip by a quarter
    /// of the difference. A round trip that falls counts an eighth where it would raise the deviation.
    #[inline(never)]
    fn linux(&mut self, rtt: u64, round: bool) {
        if self.smoothed == 0 {
            (self.smoothed, self.deviation) = (rtt, 2 * rtt);
            self.variation = self.deviation.max(self.least);
            self.largest = self.variation;
        } else {
            let (off, mean) = (rtt.abs_diff(self.smoothed), self.deviation / 4);
            self.deviation = match off.checked_sub(mean) {
                Some(more) if rtt < self.smoothed => self.deviation + more / 8,
                Some(more) => self.deviation + more,
                None => self.deviation - (mean - off),
            };
            self.smoothed = self.smoothed - self.smoothed / 8 + rtt / 8;
            self.largest = self.largest.max(self.deviation);
            self.variation = self.variation.max(self.largest);
            if round {
                self.variation -= (self.variation - self.largest) / 4;
                self.largest = self.least;
            }
        }
        self.rto = (self.smoothed + self.variation).min(MOST_OF_LINUX);
    }

    /// As in appendix A of Jacobson and Karels, "Congestion Avoidance and Control" (1988), which RFC 6298 restates without
    /// the clock. A round trip is the ticks of the clock that fall into it, and one at least; of each window one segment is
    /// timed. The smoothed round trip is kept times eight and the mean deviation times four, both in integers, so that what
    /// is less than a whole never leaves the deviation: it stays two quarters at least, and the timeout three ticks.
    #[inline(never)]
    fn ticks(&mut self, tick: u64, now: u64, rtt: u64) {
        let ticks = (now / tick - now.saturating_sub(rtt) / tick).max(1);
        if self.smoothed == 0 {
            (self.smoothed, self.variation) = (8 * ticks, 2 * ticks);
        } else {
            let off = ticks.abs_diff(self.smoothed / 8);
            self.smoothed = self.smoothed - self.smoothed / 8 + ticks;
            self.variation = self.variation - self.variation / 4 + off;
        }
        let ticks = self.smoothed / 8 + self.variation;
        self.rto = ticks.saturating_mul(tick).min(MOST).max(self.least.next_multiple_of(tick));
    }

    /// The smoothed round trip [ps]; zero before the first sample.
    #[inline]
    pub(crate) fn smoothed(&self) -> u64 {
        match self.rule {
            Rule::Rfc6298 | Rule::Linux | Rule::Probe(_) => self.smoothed,
            Rule::Ticks(tick) => self.smoothed * tick / 8,
        }
    }

    /// Starts it at `now`: a packet was sent, or it expired.
    #[inline]
    pub(crate) fn start(&mut self, now: u64) {
        self.started = now;
        self.restart(now);
    }

    /// New data were acknowledged at `now`: it starts again (5.3). A probe timeout goes on, with the newest estimates.
    #[inline]
    pub(crate) fn restart(&mut self, now: u64) {
        let (from, most) = match self.rule {
            Rule::Rfc6298 | Rule::Ticks(_) => (now, MOST),
            Rule::Linux => (now, MOST_OF_LINUX),
            Rule::Probe(_) => (self.started, u64::MAX),
        };
        self.deadline = from.saturating_add((self.rto << self.doublings).min(most));
    }

    /// Whether it is a probe timeout.
    #[inline]
    pub(crate) fn probes(&self) -> bool {
        matches!(self.rule, Rule::Probe(_))
    }

    /// Of a probe timeout: the time for which the receiver may delay an acknowledgement [ps].
    #[inline]
    pub(crate) fn max_ack_delay(&self) -> Option<u64> {
        if let Rule::Probe(max_ack_delay) = self.rule { Some(max_ack_delay) } else { None }
    }

    /// Of a probe timeout: losses without anything delivered between them for longer than this are persistent congestion [ps] (RFC
    /// 9002, section 7.6).
    pub(crate) fn persistent(&self) -> Option<u64> {
        self.probes().then_some(PERSISTENT * self.rto)
    }

    /// A segment was sent: the timer runs, from now unless it did; a probe timeout starts with each. When its event is due, if one
    /// is to go on the agenda.
    #[expect(clippy::inline_always, reason = "measured: on the way of every packet")]
    #[inline(always)]
    pub(crate) fn sent(&mut self, now: u64) -> Option<u64> {
        if self.deadline == u64::MAX || self.probes() {
            self.start(now);
        }
        self.schedule(now)
    }

    /// Where no event is on the agenda, when the one is due that goes there now.
    #[inline]
    pub(crate) fn schedule(&mut self, now: u64) -> Option<u64> {
        if self.scheduled {
            return None;
        }
        self.scheduled = true;
        Some(self.look(now))
    }

    /// When to look at the deadline next.
    pub(crate) fn look(&self, now: u64) -> u64 {
        // A sample may bring a probe timeout closer, but hardly below the time for which an acknowledgement may wait.
        let patience = if let Rule::Probe(max_ack_delay) = self.rule { max_ack_delay } else { self.least };
        self.deadline.min(now.saturating_add(patience.max(LEAST_LOOK)))
    }

    /// Nothing is in flight (5.2).
    pub(crate) fn stop(&mut self) {
        self.deadline = u64::MAX;
    }

    /// Another connection begins: nothing is known of its path.
    pub(crate) fn restart_connection(&mut self) {
        *self = Self { scheduled: self.scheduled, ..Self::by(self.rule, self.least) };
    }

    /// It expired: wait twice as long next time (5.5).
    pub(crate) fn back_off(&mut self) {
        self.doublings = (self.doublings + 1).min(12);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    const MS: u64 = 1_000_000_000;
    /// No sample is older.
    const NOW: u64 = 1000 * MS;

    fn timeout(timer: &mut Timer) -> u64 {
        timer.restart(0);
        timer.deadline
    }

    /// RFC 6298: the first sample R gives RTO = R + 4 R/2, a steady one lets it fall to the round trip, never below
    /// the least; a timeout doubles it up to 60 s, a sample ends that.
    #[test]
    fn the_timeout_follows_rfc_6298() {
        let mut timer = Timer::new(Rto::Rfc6298, Time(200 * MS), None, Time::ZERO);
        assert_eq!(timeout(&mut timer), Time::PER_SECOND);
        timer.sample(NOW, 100 * MS, true);
        assert_eq!(timeout(&mut timer), 300 * MS);
        for _ in 0..100 {
            timer.sample(NOW, 100 * MS, true);
        }
        assert_eq!(timeout(&mut timer), 200 * MS);
        timer.back_off();
        assert_eq!(timeout(&mut timer), 400 * MS);
        for _ in 0..20 {
            timer.back_off();
        }
        assert_eq!(timeout(&mut timer), MOST);
        assert_eq!(timer.look(0), 200 * MS, "a sample may bring the deadline back to 200 ms");
        timer.sample(NOW, 100 * MS, true);
        assert_eq!(timeout(&mut timer), 200 * MS);
    }

    /// RFC 6298, rule 2.3, in numbers worked out by hand: after 100 ms, which gives RTTVAR 50 ms, a sample of 200 ms has
    /// RTTVAR = 3/4 50 + 1/4 |100 - 200| = 62.5 ms and SRTT = 7/8 100 + 1/8 200 = 112.5 ms; one of 100 ms after that has
    /// RTTVAR = 3/4 62.5 + 1/4 12.5 = 50 ms and SRTT = 7/8 112.5 + 1/8 100 = 110.9375 ms. RTO = SRTT + 4 RTTVAR.
    #[test]
    fn the_variation_weighs_a_quarter_and_the_mean_an_eighth() {
        let mut timer = Timer::new(Rto::Rfc6298, Time(MS), None, Time::ZERO);
        timer.sample(NOW, 100 * MS, true);
        timer.sample(NOW, 200 * MS, true);
        assert_eq!((timer.smoothed, timer.variation), (112 * MS + MS / 2, 62 * MS + MS / 2));
        assert_eq!(timeout(&mut timer), 362 * MS + MS / 2);
        timer.sample(NOW, 100 * MS, true);
        assert_eq!((timer.smoothed, timer.variation), (110 * MS + MS / 16 * 15, 50 * MS));
        assert_eq!(timeout(&mut timer), 310 * MS + MS / 16 * 15);
    }

    /// Linux: the first sample R gives R + 2 R, or R + the least; a steady one falls to R + the least, by a quarter of the
    /// rest a round trip, however many samples that has; backing off ends at 120 s.
    #[test]
    fn the_least_timeout_of_linux_is_added_to_the_round_trip() {
        let mut timer = Timer::new(Rto::Linux, Time(200 * MS), None, Time::ZERO);
        assert_eq!(timeout(&mut timer), Time::PER_SECOND);
        timer.sample(NOW, 40 * MS, true);
        assert_eq!(timeout(&mut timer), 240 * MS);
        timer.restart_connection();
        timer.sample(NOW, 400 * MS, true);
        assert_eq!(timeout(&mut timer), 1200 * MS);
        // The deviation is forgotten within the round, what was added because of it is not.
        for _ in 0..100 {
            timer.sample(NOW, 400 * MS, false);
        }
        assert_eq!(timeout(&mut timer), 1200 * MS);
        // The largest of this round is the first deviation still; that of the next is the least.
        timer.sample(NOW, 400 * MS, true);
        assert_eq!(timeout(&mut timer), 1200 * MS);
        timer.sample(NOW, 400 * MS, true);
        assert_eq!(timeout(&mut timer), (400 + 800 - 150) * MS);
        for _ in 0..100 {
            timer.sample(NOW, 400 * MS, true);
        }
        assert!((600 * MS..600 * MS + 100).contains(&timeout(&mut timer)));
        for _ in 0..20 {
            timer.back_off();
        }
        assert_eq!(timeout(&mut timer), MOST_OF_LINUX);
    }

    /// A round trip that leaps up is added four times over a quarter of the deviation; one that leaps down as far, an
    /// eighth of that.
    #[test]
    fn linux_fears_longer_round_trips_more_than_shorter_ones() {
        let after = |rtt: u64| {
            let mut timer = Timer::new(Rto::Linux, Time(MS), None, Time::ZERO);
            timer.sample(NOW, 400 * MS, true);
            for _ in 0..200 {
                timer.sample(NOW, 400 * MS, false);
            }
            timer.sample(NOW, rtt, false);
            timer.deviation
        };
        let (up, down) = (after(480 * MS), after(320 * MS));
        assert!((80 * MS - 100..80 * MS + 100).contains(&up), "{up}");
        assert!((10 * MS - 100..10 * MS + 100).contains(&down), "{down}");
    }

    /// Jacobson and Karels, appendix A, in numbers worked out by hand for ticks of 100 ms. Of a round trip of 20 ms no
    /// tick or one is seen, and both count one: srtt 8/8, deviation 2/4, so 1 + 2 ticks, for good. A round trip of 100 ms
    /// and a little sees two ticks now and then: srtt 9/8, deviation 2 - 0 + 1 = 3/4, so 1 + 3 ticks, and since 3/4 is
    /// rounded to nothing the timeout stays there. Only one segment of a window is timed.
    #[test]
    fn a_coarse_clock_counts_whole_ticks_and_keeps_the_rest() {
        let mut timer = Timer::new(Rto::Rfc6298, Time(200 * MS), Some(Time(100 * MS)), Time::ZERO);
        assert_eq!(timeout(&mut timer), Time::PER_SECOND);
        timer.sample(1010 * MS, 20 * MS, true);
        assert_eq!((timer.smoothed, timer.variation), (8, 2));
        for at in 0..100 {
            timer.sample(1010 * MS + 37 * MS * at, 20 * MS, true);
        }
        assert_eq!(timeout(&mut timer), 300 * MS);
        timer.sample(2001 * MS, 102 * MS, false);
        assert_eq!(timeout(&mut timer), 300 * MS, "not the segment that is timed");
        timer.sample(2001 * MS, 102 * MS, true);
        assert_eq!((timer.smoothed, timer.variation), (9, 3));
        for at in 1..100 {
            timer.sample((2050 + 100 * at) * MS, 102 * MS, true);
        }
        assert_eq!((timer.smoothed, timer.variation), (9, 3));
        assert_eq!(timeout(&mut timer), 400 * MS);
        timer.back_off();
        assert_eq!(timeout(&mut timer), 800 * MS);
        timer.restart_connection();
        timer.sample(2050 * MS, 720 * MS, true);
        assert_eq!(timeout(&mut timer), 2100 * MS, "seven ticks and four times the half of seven");
        let mut careful = Timer::new(Rto::Rfc6298, Time(1000 * MS), Some(Time(100 * MS)), Time::ZERO);
        careful.sample(2050 * MS, 20 * MS, true);
        assert_eq!(timeout(&mut careful), 1000 * MS, "the minimum RTO");
    }

    /// Every timeout is a whole number of ticks, the first and the least too. Of the longest tick three are the longest
    /// timeout.
    #[test]
    fn a_coarse_clock_knows_no_part_of_a_tick() {
        let mut timer = Timer::new(Rto::Rfc6298, Time(250 * MS), Some(Time(300 * MS)), Time::ZERO);
        assert_eq!(timeout(&mut timer), 1200 * MS, "1 s is no number of ticks");
        timer.sample(1000 * MS, 20 * MS, true);
        assert_eq!(timeout(&mut timer), 900 * MS);
        let mut careful = Timer::new(Rto::Rfc6298, Time(1000 * MS), Some(Time(300 * MS)), Time::ZERO);
        careful.sample(1000 * MS, 20 * MS, true);
        assert_eq!(timeout(&mut careful), 1200 * MS);
        let mut slow = Timer::new(Rto::Rfc6298, Time(MS), Some(Time(20_000 * MS)), Time::ZERO);
        assert_eq!(timeout(&mut slow), 20_000 * MS);
        slow.sample(1000 * MS, 20 * MS, true);
        assert_eq!(timeout(&mut slow), MOST);
    }

    /// RFC 9002, section 6.2.1, in numbers worked out by hand: after 100 ms, which gives a variation of 50 ms, the timeout is
    /// 325 ms (100, 200 and 25) after the last packet sent, whatever was acknowledged since. Steady samples leave kGranularity, a millisecond. It
    /// doubles with all its parts, and a sample ends that. Before a sample it is 333 + 4 333/2 ms.
    #[test]
    fn the_probe_timeout_follows_rfc_9002() {
        let mut timer = Timer::new(Rto::Rfc9002, Time(MS), None, Time(25 * MS));
        timer.sent(0);
        assert_eq!(timer.deadline, 999 * MS);
        timer.sample(NOW, 100 * MS, true);
        timer.sent(1000 * MS);
        timer.sent(1010 * MS);
        timer.restart(1090 * MS);
        assert_eq!((timer.deadline, timer.persistent()), (1335 * MS, Some(975 * MS)));
        for _ in 0..200 {
            timer.sample(NOW, 100 * MS, true);
        }
        timer.restart(1091 * MS);
        assert!((1135 * MS..1137 * MS).contains(&timer.deadline), "{}", timer.deadline);
        assert_eq!(timer.rto, timer.smoothed + MS + 25 * MS);
        timer.back_off();
        timer.start(2000 * MS);
        assert_eq!(timer.deadline, 2000 * MS + 2 * timer.rto);
        timer.sample(NOW, 100 * MS, true);
        timer.restart(2100 * MS);
        assert_eq!(timer.deadline, 2000 * MS + timer.rto);
        assert_eq!(Timer::new(Rto::Rfc6298, Time(MS), None, Time(25 * MS)).persistent(), None);
    }
}
