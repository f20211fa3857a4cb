//! The times that real ends of quinn add to quinn-proto, which takes none.

use std::time::Duration;

use crate::sequences::Draws;

/// What real ends add to quinn-proto: each is zero where it adds nothing.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ends {
    /// A timer goes off at a multiple of this, and a thread sleeps for multiples of this: a millisecond in tokio and in epoll.
    pub(crate) tick: Duration,
    /// Datagrams that arrive are read together, at multiples of this.
    pub(crate) batch: Duration,
    /// The machine stands still for so long, once in so long: datagrams that arrive meanwhile are read at its end.
    pub(crate) pause: (Duration, Duration),
    /// How long the client and the server take, at random.
    pub(crate) waits: [Answers; 2],
    /// The part of these times that they take.
    pub(crate) scale: f64,
    /// The seed of these times.
    pub(crate) seed: u64,
}

/// Shares of the answers.
pub(crate) const SHARES: [f64; 14] =
    [0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.995, 0.999, 0.9995, 0.9998, 0.9999, 1.0];

/// A random time: for each of [`SHARES`] the time that this share does not exceed \[us\].
pub(crate) type Waits = &'static [f64; SHARES.len()];

/// The parts of the time from when a datagram is due to the answer of an end. An end that is awake when a datagram comes has no wake-up:
/// it reads the datagram after what it is at.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Answers {
    /// Until the kernel has the datagram. That of the client is most of all the time until the path's program reads an acknowledgement.
    /// What the client begins to send is in the queue as late: that the call takes time is in this time.
    pub(crate) path: Waits,
    /// From there until the end reads it. The controller takes this for the time of arrival. An end that a timer wakes takes as long.
    pub(crate) wake_up: Waits,
    /// From there until the end writes. The controller takes the beginning for the time of departure. quinn takes a time in between, which
    /// nobody has measured.
    pub(crate) work: Waits,
    /// The call that writes, at the client. That of the server is in the path of its acknowledgements.
    pub(crate) send: Waits,
}

impl Answers {
    pub(crate) const NONE: Self = {
        let none = &[0.0; SHARES.len()];
        Self { path: none, wake_up: none, work: none, send: none }
    };
}

impl Ends {
    pub(crate) const EXACT: Self = Self {
        tick: Duration::ZERO,
        batch: Duration::ZERO,
        pause: (Duration::ZERO, Duration::ZERO),
        waits: [Answers::NONE; 2],
        scale: 1.0,
        seed: 0,
    };
}

/// A random time of these.
pub(crate) fn draw(waits: Waits, draws: &mut Draws) -> Duration {
    let share = draws.share();
    let above = SHARES.iter().position(|to| share < *to).unwrap_or(SHARES.len() - 1);
    let (from, least) = if above == 0 { (0.0, 0.0) } else { (SHARES[above - 1], waits[above - 1]) };
    // Between two shares the times are those of an exponential tail. The longest of all is that of one answer in 10^5.
    let beyond = |share: f64| -libm::log(f64::max(1.0 - share, 1e-5));
    let part = (beyond(share) - beyond(from)) / (beyond(SHARES[above]) - beyond(from));
    Duration::from_secs_f64((least + part * (waits[above] - least)) / 1e6)
}

/// A span, rounded up to a multiple of another, if that is not zero.
pub(crate) fn up(span: Duration, multiple: Duration) -> Duration {
    if multiple.is_zero() {
        return span;
    }
    let count = span.as_nanos().div_ceil(multiple.as_nanos()) as u32;
    multiple * count
}

/// A time, or the end of the pause in which it lies. The first pause comes after the handshake.
pub(crate) fn after_pause(at: Duration, (lasts, every): (Duration, Duration)) -> Duration {
    if every.is_zero() || at < every {
        return at;
    }
    let into = Duration::from_nanos((at.as_nanos() % every.as_nanos()) as u64);
    at + lasts.saturating_sub(into)
}
