//! A tc program that is attached nowhere: packets are given to it by hand, with the time and the random draw.

use std::time::Duration;

use libbpf_rs::{Object, ProgramInput};

use super::books::Books;
use super::loaded::{self, Place, Use};
use super::program::Wanted;
use crate::attach::attachment::Direction;
use crate::attach::error::Error;

/// A loaded program.
#[derive(Debug)]
pub struct Trial {
    wanted: Wanted,
    object: Object,
}

/// The arrival of a packet.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Arrival {
    /// Its time, on the program's clock [ns]. Time zero is no time.
    pub at_ns: u64,
    /// The random draw, uniform over all 32 bits: a probability p chooses draws below p 2^32.
    pub coin: u32,
    /// The number of its segments and the payload of each [B]; none is a packet of its own.
    pub segments: Option<(u32, u32)>,
    /// Bytes with the headers of all segments, where the kernel has counted them.
    pub wire_bytes: Option<u32>,
}

/// The verdict on a packet, for the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The next program goes on with it, or the device.
    Next,
    /// It is dropped.
    Drop,
    /// A verdict that no program of ours returns.
    Other(u32),
}

const WITHOUT_LOCK: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/tc_token_bucket_without_lock.bpf.z"));
/// `TC_ACT_UNSPEC` and `TC_ACT_SHOT`.
const NEXT: u32 = u32::MAX;
const DROP: u32 = 2;
/// `struct __sk_buff`, and the offsets of its fields here.
const CONTEXT: usize = 192;
const CB: usize = 48;
const WIRE_LEN: usize = 160;
const GSO_SEGS: usize = 164;
const GSO_SIZE: usize = 176;

impl Trial {
    /// Loads the program.
    ///
    /// # Errors
    /// A missing part of the machine; an error of the kernel.
    pub fn new(wanted: Wanted) -> Result<Self, Error> {
        Self::load(wanted, true)
    }

    /// The same with the kernel's clock and random draw, for measurements of its cost.
    ///
    /// # Errors
    /// As [`Trial::new`].
    pub fn of_its_own(wanted: Wanted) -> Result<Self, Error> {
        Self::load(wanted, false)
    }

    /// The token bucket with the kernel's clock, compiled without the lock that keeps processors apart: for a test of the
    /// lock. `settings` as in [`Wanted::read`].
    ///
    /// # Errors
    /// As [`Wanted::read`] and [`Trial::new`].
    pub fn without_lock(settings: &[String]) -> Result<Self, Error> {
        let wanted = Wanted::read("token-bucket", settings)?;
        Self::load_from(WITHOUT_LOCK, wanted, false)
    }

    fn load(wanted: Wanted, supplied: bool) -> Result<Self, Error> {
        Self::load_from(wanted.program.object, wanted, supplied)
    }

    fn load_from(object: &[u8], wanted: Wanted, supplied: bool) -> Result<Self, Error> {
        if let Some(missing) = loaded::missing().into_iter().next() {
            return Err(missing.into());
        }
        let place = Place { link_header: 14, supplied, direction: Direction::Egress };
        let object = loaded::load_from(object, &wanted, place, Use::Packets)?;
        Ok(Self { wanted, object })
    }

    /// Gives it an Ethernet frame; returns the verdict, and the frame then.
    ///
    /// # Errors
    /// An error of the kernel.
    pub fn give(&self, frame: &[u8], arrival: Arrival) -> Result<(Verdict, Vec<u8>), Error> {
        let mut context = [0; CONTEXT];
        let mut put = |at: usize, word: u32| context[at..at + 4].copy_from_slice(&word.to_ne_bytes());
        put(CB, arrival.coin);
        put(CB + 4, arrival.at_ns as u32);
        put(CB + 8, (arrival.at_ns >> 32) as u32);
        if let Some((segments, bytes)) = arrival.segments {
            put(GSO_SEGS, segments);
            put(GSO_SIZE, bytes);
        }
        put(WIRE_LEN, arrival.wire_bytes.unwrap_or(0));
        let mut after = vec![0; frame.len()];
        let input = ProgramInput {
            context_in: Some(&mut context),
            data_in: Some(frame),
            data_out: Some(&mut after),
            ..ProgramInput::default()
        };
        let verdict = match self.run(input)?.0 {
            NEXT => Verdict::Next,
            DROP => Verdict::Drop,
            other => Verdict::Other(other),
        };
        Ok((verdict, after))
    }

    /// The cost of a packet: gives a frame so many times, one right after the other.
    ///
    /// # Errors
    /// An error of the kernel.
    pub fn cost(&self, frame: &[u8], times: u32) -> Result<Duration, Error> {
        let input = ProgramInput { data_in: Some(frame), repeat: times, ..ProgramInput::default() };
        Ok(self.run(input)?.1)
    }

    fn run(&self, input: ProgramInput<'_>) -> Result<(u32, Duration), Error> {
        let program = loaded::program(&self.object)?;
        let output = program.test_run(input).map_err(|source| Error::Kernel {
            what: format!("the kernel did not run `{}`", self.wanted.program.name),
            source,
            verifier: String::new(),
        })?;
        Ok((output.return_value, output.duration))
    }

    /// Gives it other parameters.
    ///
    /// # Errors
    /// An error of the kernel.
    pub fn tell(&mut self, wanted: Wanted) -> Result<(), Error> {
        loaded::tell(&loaded::map(&self.object, "settings")?, &wanted)?;
        self.wanted = wanted;
        Ok(())
    }

    /// The visible numbers of the law's state: names, and words over 2^32.
    ///
    /// # Errors
    /// An error of the kernel.
    pub fn observables(&self) -> Result<Vec<(String, i64)>, Error> {
        let words = loaded::state(&loaded::map(&self.object, "state")?)?;
        let program = &self.wanted.program;
        let ours = program.state.iter().map(|(at, name, _)| (*at, (*name).to_owned()));
        let own = program.own_state().into_iter().enumerate().map(|(at, (name, _))| (at, name));
        Ok(ours.chain(own).map(|(at, name)| (name, words.get(at).copied().unwrap_or_default())).collect())
    }

    /// Its books.
    ///
    /// # Errors
    /// An error of the kernel.
    pub fn books(&self) -> Result<Books, Error> {
        loaded::books(&loaded::map(&self.object, "books")?)
    }
}
