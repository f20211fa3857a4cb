//! Chunked video whose rate follows the buffer of the player, and the summary of sessions.
//!
//! Source: T.-Y. Huang et al., "A Buffer-Based Approach to Rate Adaptation", SIGCOMM 2014: algorithm 1 with the linear map of
//! section 4.1 (BBA-0). Below the reservoir the lowest rate, above reservoir and cushion the highest, a line between; the
//! rate changes only where the line reaches the next rate up or down.
//! Differs: a chunk has its rate times its length, as if every second took the same. The paper stops playback where the buffer
//! is empty and does not say when it begins: here with the first chunk, and after a stall with the next. Without a free
//! slot for a chunk the player waits until there is one.

use std::collections::BTreeMap;

use penstock_law::quantity::{Bytes, Rate, Time};

use crate::model::Video;
use crate::summary::Videos;
use crate::world::{Cells, Column, Kind, Table};

impl Video {
    /// The index of the next chunk's rate, for this buffer level and the rate of the last chunk.
    pub fn choose(&self, held: Time, last: usize) -> usize {
        let top = self.rates.len() - 1;
        if held <= self.reservoir {
            return 0;
        }
        if held >= self.reservoir + self.cushion {
            return top;
        }
        let (least, most) = (self.rates[0].bit_per_s(), self.rates[top].bit_per_s());
        let map = least + (most - least) * ((held - self.reservoir).0 as f64 / self.cushion.0 as f64);
        let (up, down) = (self.rates[(last + 1).min(top)].bit_per_s(), self.rates[last.saturating_sub(1)].bit_per_s());
        if map >= up {
            self.rates.partition_point(|rate| rate.bit_per_s() < map).saturating_sub(1)
        } else if map <= down {
            self.rates.partition_point(|rate| rate.bit_per_s() <= map).min(top)
        } else {
            last
        }
    }

    /// The size of a chunk of a rate, at least a byte.
    pub fn size(&self, rate: usize) -> Bytes {
        Bytes(self.rates[rate].bytes_in(self.chunk).0.max(1))
    }
}

/// The player of one session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Player {
    /// Buffer level when a chunk last came, and the time of that.
    held: Time,
    since: Time,
    /// The rate of the chunk under way, or of the last.
    rate: usize,
}

impl Player {
    /// Buffer level at `now`.
    pub fn held(&self, now: Time) -> Time {
        self.held.since(now.since(self.since))
    }

    /// Time of the request for the next chunk: at once, or when there is a slot for it.
    pub fn request_time(&self, video: &Video, now: Time) -> Time {
        now + (self.held(now) + video.chunk).since(video.buffer)
    }

    /// Requests a chunk and returns the index of its rate.
    pub fn request(&mut self, video: &Video, now: Time) -> usize {
        self.rate = video.choose(self.held(now), self.rate);
        self.rate
    }

    /// Adds a chunk that has come; returns the buffer level.
    pub fn chunk_arrived(&mut self, video: &Video, now: Time) -> Time {
        self.held = self.held(now) + video.chunk;
        self.since = now;
        self.held
    }
}

/// A chunk that has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chunk {
    /// The flow, counted over all groups in the order of the file.
    pub flow: u32,
    /// Chunks of the flow before it.
    pub number: u32,
    /// When the player requested it.
    pub requested: Time,
    /// When its last byte was acknowledged.
    pub arrived: Time,
    /// Its rate.
    pub rate: Rate,
    /// Buffer level of the player then, the chunk included.
    pub held: Time,
}

/// Summary of the sessions of a group between two times. `chunks` are theirs, in the order in which they came; each of
/// `sessions` begins with a flow at a time. A session is over at `stop`.
pub fn sum_up(chunks: &[Chunk], sessions: &[(u32, Time)], (from, to): (Time, Time), stop: Time) -> Videos {
    let to = to.min(stop);
    let mut sum = Videos {
        sessions: 0,
        chunks: 0,
        switches: 0,
        rebuffers: 0,
        rebuffer_s: 0.0,
        rate_mean_bit_per_s: None,
        startup_mean_s: None,
    };
    let (mut rates, mut startups) = (0.0, Vec::new());
    let mut of_flow: BTreeMap<u32, Vec<&Chunk>> = BTreeMap::new();
    for chunk in chunks.iter().filter(|chunk| chunk.arrived <= to) {
        of_flow.entry(chunk.flow).or_default().push(chunk);
    }
    for (flow, start) in sessions {
        if *start >= to {
            continue;
        }
        sum.sessions += 1;
        let mut last: Option<&Chunk> = None;
        for chunk in of_flow.get(flow).into_iter().flatten() {
            if chunk.arrived >= from {
                sum.chunks += 1;
                rates += chunk.rate.bit_per_s();
                match last {
                    None => startups.push(chunk.arrived.since(*start).seconds()),
                    Some(last) => sum.switches += u64::from(last.rate != chunk.rate),
                }
            }
            if let Some(last) = last {
                sum.stall(last, chunk.arrived, from);
            }
            last = Some(chunk);
        }
        if let Some(last) = last {
            sum.stall(last, to, from);
        }
    }
    let mean = |sum: f64, n: usize| (n > 0).then(|| sum / n as f64);
    sum.rate_mean_bit_per_s = mean(rates, sum.chunks as usize);
    sum.startup_mean_s = mean(startups.iter().sum(), startups.len());
    sum
}

impl Videos {
    /// Adds the time in which nothing played between a chunk and the next, from a moment on.
    fn stall(&mut self, last: &Chunk, next: Time, from: Time) {
        let stalled = next.since((last.arrived + last.held).max(from));
        self.rebuffers += u64::from(stalled > Time::ZERO);
        self.rebuffer_s += stalled.seconds();
    }
}

/// One row a chunk, in the order in which they came; `flows` are names.
pub fn table(rows: &[Chunk], flows: Vec<String>) -> Table {
    let seconds = |f: fn(&Chunk) -> Time| Cells::Number(rows.iter().map(|chunk| f(chunk).seconds()).collect());
    let column = |name: &str, kind, values| Column { name: name.to_owned(), kind, values };
    Table {
        name: "chunks".to_owned(),
        columns: vec![
            column(
                "flow",
                Kind::Key,
                Cells::Name { names: flows, rows: rows.iter().map(|chunk| chunk.flow).collect() },
            ),
            column("number", Kind::Key, Cells::Count(rows.iter().map(|chunk| u64::from(chunk.number)).collect())),
            column("requested_s", Kind::Instant, seconds(|chunk| chunk.requested)),
            column("arrived_s", Kind::Instant, seconds(|chunk| chunk.arrived)),
            column(
                "rate_bit_per_s",
                Kind::Instant,
                Cells::Number(rows.iter().map(|chunk| chunk.rate.bit_per_s()).collect()),
            ),
            column("held_s", Kind::Instant, seconds(|chunk| chunk.held)),
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = Time::PER_SECOND;

    /// The player of the paper: 90 s of reservoir, 126 s of cushion, 240 s in all.
    fn video() -> Video {
        Video {
            rates: [1, 2, 3, 4, 5].map(|rate| Rate(rate * 1_000_000)).into(),
            chunk: Time(4 * S),
            buffer: Time(240 * S),
            reservoir: Time(90 * S),
            cushion: Time(126 * S),
        }
    }

    /// Algorithm 1: the ends of the map, and a rate that holds until the line reaches the next one up or down. The line is
    /// 1 Mbit/s more each 31.5 s from 90 s on.
    #[test]
    fn the_rate_follows_the_buffer_with_hysteresis() {
        let video = video();
        let at = |held_s: f64, last| video.choose(Time::from_seconds(held_s), last);
        for last in 0..5 {
            assert_eq!((at(0.0, last), at(90.0, last), at(216.0, last), at(240.0, last)), (0, 0, 4, 4), "{last}");
        }
        // Up: not before 121.5 s, where the line reaches 2 Mbit/s, and then to the highest rate below it.
        assert_eq!((at(121.0, 0), at(122.0, 0), at(170.0, 0)), (0, 1, 2));
        // Down from 3 Mbit/s: not before the line is at 2 Mbit/s, and then to the lowest rate above it.
        assert_eq!((at(122.0, 2), at(121.0, 2), at(91.0, 4)), (2, 1, 1));
        // Between the rates beside it nothing changes.
        assert_eq!((at(140.0, 1), at(140.0, 2)), (1, 2));
    }

    /// A player that gets a chunk each 4 s keeps its level; it requests a chunk when there is a slot, and never exceeds its capacity.
    #[test]
    fn a_player_waits_for_a_place() {
        let (video, mut player) = (video(), Player::default());
        for _ in 0..60 {
            player.chunk_arrived(&video, Time::ZERO);
        }
        assert_eq!(player.held(Time::ZERO), Time(240 * S));
        assert_eq!(player.request_time(&video, Time::ZERO), Time(4 * S));
        assert_eq!(player.request_time(&video, Time(S)), Time(4 * S));
        assert_eq!(player.request_time(&video, Time(5 * S)), Time(5 * S));
        assert_eq!(player.chunk_arrived(&video, Time(6 * S)), Time(238 * S));
        assert_eq!(player.held(Time(1000 * S)), Time::ZERO, "an empty buffer stays empty");
    }

    /// Chunks of 4 s at 1 s, 2 s and 20 s: from 9 s to 20 s nothing plays, and from 24 s on. Of two sessions one never had any.
    #[test]
    fn stalls_are_what_is_not_covered() {
        let chunk = |number, arrived, rate, held| Chunk {
            flow: 3,
            number,
            requested: Time::ZERO,
            arrived: Time(arrived * S),
            rate: Rate(rate),
            held: Time(held * S),
        };
        let chunks = [chunk(0, 1, 100, 4), chunk(1, 2, 100, 7), chunk(2, 20, 400, 4)];
        let of = |from, to, stop| {
            sum_up(&chunks, &[(3, Time::ZERO), (4, Time(8 * S))], (Time(from * S), Time(to * S)), Time(stop))
        };
        let whole = of(0, 30, u64::MAX);
        assert_eq!((whole.sessions, whole.chunks, whole.switches, whole.rebuffers), (2, 3, 1, 2));
        assert!((whole.rebuffer_s - 17.0).abs() < 1e-9 && whole.startup_mean_s == Some(1.0), "{whole:?}");
        assert_eq!(whole.rate_mean_bit_per_s, Some(200.0));
        // A window has its part of a stall, and what stops stalls no longer.
        assert!((of(10, 15, u64::MAX).rebuffer_s - 5.0).abs() < 1e-9);
        assert!((of(0, 30, 25 * S).rebuffer_s - 12.0).abs() < 1e-9);
        let early = of(2, 8, u64::MAX);
        assert_eq!((early.sessions, early.chunks, early.rebuffers, early.startup_mean_s), (1, 1, 0, None));
    }
}
