//! Replays vectors in Rust, in C on this processor, and in C inside the running kernel.

use std::fmt;
use std::fs;
use std::os::fd::{AsFd, AsRawFd};

use libbpf_rs::{ErrorKind, MapCore, MapFlags, Object, ObjectBuilder, ProgramInput};
use penstock_machine::Missing;

use crate::kernel_laws::{Call, KERNEL_LAWS, KernelLaw, MOST};
use crate::native;
use crate::packed;
use crate::requirements;
use crate::vectors::{Mismatch, Vectors};

/// Which C text is replayed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Build {
    /// The kernel implementations as they are.
    Faithful,
    /// The same with one rounding left out: a witness that a replay notices.
    PlantedSlip,
}

/// The result of a replay.
#[derive(Debug, Clone)]
pub struct Report {
    /// The file of the vectors, as they were read.
    pub file: String,
    /// The number of replayed vectors.
    pub vectors: usize,
    /// Every word that came out wrong, in the order of the file.
    pub mismatches: Vec<Mismatch>,
    /// The cost by the kernel, if it was a kernel.
    pub kernel: Option<Cost>,
}

/// The cost of a law in a kernel.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cost {
    /// Instructions that the verifier processed, all events and the replay's loop included; zero if it does not report them.
    pub verified_instructions: u32,
    /// Nanoseconds of one call, a mean over the vectors, without the loop around it; the faster of two runs.
    pub nanoseconds_a_call: f64,
}

impl Report {
    /// True if every result is as it must be.
    pub fn holds(&self) -> bool {
        self.mismatches.is_empty()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(first) = self.mismatches.first() else {
            return write!(f, "{}: {} vectors, all as they must be", self.file, self.vectors);
        };
        let (file, wrong) = (&self.file, self.mismatches.len());
        write!(f, "{file}: {} vectors, {wrong} words wrong; the first at {first}", self.vectors)
    }
}

/// The reason why vectors were not replayed in the kernel.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The machine, or the build, lacks something.
    #[error(transparent)]
    Missing(#[from] Missing),
    /// The kernel was expected to do it, and did not.
    #[error("the kernel did not {what} for the replay of `{law}`")]
    Kernel {
        /// The step that failed.
        what: &'static str,
        /// The law.
        law: &'static str,
        /// The cause.
        source: libbpf_rs::Error,
    },
    /// A program ended otherwise than it can.
    #[error("the kernel's replay of `{law}` stopped with {status} after {done} vectors")]
    Stopped {
        /// The law.
        law: &'static str,
        /// The result of the program.
        status: u32,
        /// The number of vectors before the batch in which it stopped.
        done: usize,
    },
}

/// Replays by the law in Rust over fixed point.
pub fn in_rust(vectors: &Vectors) -> Report {
    report(vectors, vectors.iter().map(|vector| vectors.kernel_law.in_rust(&vector.call)), None)
}

/// Replays by the kernel implementation compiled for this processor.
pub fn natively(build: Build, vectors: &Vectors) -> Report {
    report(vectors, call_natively(build, vectors.kernel_law, &calls(vectors)), None)
}

/// The states after `calls`, by the kernel implementation compiled for this processor.
pub fn call_natively(build: Build, kernel_law: &'static KernelLaw, calls: &[Call]) -> Vec<[i64; MOST.state]> {
    let law = KERNEL_LAWS.iter().position(|t| t.name == kernel_law.name).unwrap_or(KERNEL_LAWS.len());
    match build {
        Build::Faithful => native::replay(law, calls),
        Build::PlantedSlip => native::replay_with_slip(law, calls),
    }
}

/// The states after each step of connections of Copa, by the kernel implementation compiled for this processor. `calls` are as
/// in [`connections`](crate::kernel_laws::copa::connections).
pub fn connections_natively(build: Build, calls: &[Call]) -> Vec<[i64; MOST.state]> {
    match build {
        Build::Faithful => native::connections(calls),
        Build::PlantedSlip => native::connections_with_slip(calls),
    }
}

/// The same inside the running kernel.
///
/// # Errors
/// As [`in_kernel`].
pub fn connections_in_kernel(build: Build, calls: &[Call]) -> Result<Vec<[i64; MOST.state]>, Error> {
    if let Some(missing) = missing().into_iter().next() {
        return Err(missing.into());
    }
    let kernel = Kernel { law: "copa", object: load(build, "copa")? };
    let mut outcomes = Vec::with_capacity(calls.len());
    for batch in calls.chunks(BATCH) {
        kernel.put(batch)?;
        kernel.run("run_connection", batch.len(), outcomes.len())?;
        kernel.take(batch.len(), &mut outcomes)?;
    }
    Ok(outcomes)
}

fn calls(vectors: &Vectors) -> Vec<Call> {
    vectors.iter().map(|vector| vector.call).collect()
}

fn report(vectors: &Vectors, outcomes: impl IntoIterator<Item = [i64; MOST.state]>, kernel: Option<Cost>) -> Report {
    let mismatches = vectors.compare(outcomes);
    Report { file: vectors.file.clone(), vectors: vectors.len(), mismatches, kernel }
}

const FAITHFUL: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/replay.bpf.z"));
const PLANTED_SLIP: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/replay_slip.bpf.z"));

/// Slots in the map of `bpf/replay.bpf.c`, and words in a slot.
const BATCH: usize = 4096;
const WORDS: usize = MOST.params + MOST.state + MOST.observation + 1;
const WORD: usize = size_of::<u64>();

/// The oldest kernel that has everything a replay uses (`bpf_loop`).
const OLDEST: (u32, u32) = (5, 17);

/// Everything that keeps this machine from replaying in the kernel; empty if nothing is known to.
///
/// A kernel may still refuse for reasons of its own, which [`in_kernel`] then reports.
pub fn missing() -> Vec<Missing> {
    requirements::missing_from(OLDEST, "the first with bpf_loop")
}

/// Replays by the kernel implementation inside the running kernel.
///
/// # Errors
/// [`Error::Missing`] where this machine or this build cannot; the others where it should have been able to.
pub fn in_kernel(build: Build, vectors: &Vectors) -> Result<Report, Error> {
    if let Some(missing) = missing().into_iter().next() {
        return Err(missing.into());
    }
    let kernel = Kernel { law: vectors.kernel_law.name, object: load(build, vectors.kernel_law.name)? };
    let calls = calls(vectors);
    let mut outcomes = Vec::with_capacity(calls.len());
    let mut loop_ns = 0;
    let mut call_ns = 0;
    for batch in calls.chunks(BATCH) {
        kernel.put(batch)?;
        let first = kernel.run(vectors.kernel_law.program, batch.len(), outcomes.len())?;
        kernel.take(batch.len(), &mut outcomes)?;
        // Once more for the time alone, now that caches are warm. States have moved on, which costs the same.
        let again = kernel.run(vectors.kernel_law.program, batch.len(), outcomes.len())?;
        call_ns += first.min(again);
        let once = || kernel.run("run_nothing", batch.len(), outcomes.len());
        loop_ns += once()?.min(once()?);
    }
    let cost = Cost {
        verified_instructions: kernel.verified_instructions(vectors.kernel_law.program),
        nanoseconds_a_call: (call_ns as f64 - loop_ns as f64) / calls.len().max(1) as f64,
    };
    Ok(report(vectors, outcomes, Some(cost)))
}

fn load(build: Build, law: &'static str) -> Result<Object, Error> {
    let object = match build {
        Build::Faithful => FAITHFUL,
        Build::PlantedSlip => PLANTED_SLIP,
    };
    let refused = |source: libbpf_rs::Error| match source.kind() {
        ErrorKind::PermissionDenied => Missing {
            what: format!("the kernel does not let this process load BPF programs ({source})"),
            remedy: "run it as root, outside of a container that forbids bpf(2) and with kernel lockdown off"
                .to_owned(),
        }
        .into(),
        ErrorKind::Unsupported => Missing {
            what: format!("this kernel has no BPF ({source})"),
            remedy: "run a kernel with CONFIG_BPF_SYSCALL".to_owned(),
        }
        .into(),
        _ => Error::Kernel { what: "load the programs", law, source },
    };
    let object = packed::plain(object);
    ObjectBuilder::default().open_memory(&object).and_then(libbpf_rs::OpenObject::load).map_err(refused)
}

struct Kernel {
    law: &'static str,
    object: Object,
}

impl Kernel {
    fn failed(&self, what: &'static str) -> impl FnOnce(libbpf_rs::Error) -> Error {
        let law = self.law;
        move |source| Error::Kernel { what, law, source }
    }

    fn slots(&self) -> libbpf_rs::Map<'_> {
        self.object.maps().find(|map| map.name() == "slots").expect("bpf/replay.bpf.c has a map of slots")
    }

    fn put(&self, batch: &[Call]) -> Result<(), Error> {
        let mut keys = Vec::with_capacity(batch.len() * size_of::<u32>());
        let mut values = Vec::with_capacity(batch.len() * WORDS * WORD);
        for (at, call) in batch.iter().enumerate() {
            keys.extend((at as u32).to_ne_bytes());
            for word in call.params.iter().chain(&call.state).chain(&call.observation) {
                values.extend(word.to_ne_bytes());
            }
            values.extend((call.event as u64).to_ne_bytes());
        }
        let any = MapFlags::ANY;
        let put = self.slots().update_batch(&keys, &values, batch.len() as u32, any, any);
        put.map_err(self.failed("take the vectors"))
    }

    fn take(&self, count: usize, outcomes: &mut Vec<[i64; MOST.state]>) -> Result<(), Error> {
        let slots = self.slots();
        for at in 0..count as u32 {
            let slot = slots.lookup(&at.to_ne_bytes(), MapFlags::ANY).map_err(self.failed("give the states back"))?;
            let slot = slot.unwrap_or_default();
            let word = |at: usize| {
                let bytes = slot.get(at * WORD..(at + 1) * WORD).and_then(|bytes| bytes.try_into().ok());
                bytes.map_or(0, i64::from_ne_bytes)
            };
            outcomes.push(std::array::from_fn(|at| word(MOST.params + at)));
        }
        Ok(())
    }

    /// Runs a program over the first `count` slots and returns its time [ns].
    fn run(&self, program: &str, count: usize, done: usize) -> Result<u64, Error> {
        let found =
            self.object.progs_mut().find(|p| p.name() == program).expect("bpf/replay.bpf.c has a program a law");
        let mut job = [0; 2 * WORD];
        job[..WORD].copy_from_slice(&(count as u64).to_ne_bytes());
        let input = ProgramInput { context_in: Some(&mut job), ..ProgramInput::default() };
        let status = found.test_run(input).map_err(self.failed("run the program"))?.return_value;
        if status != 0 {
            return Err(Error::Stopped { law: self.law, status, done });
        }
        let mut elapsed_ns = [0; WORD];
        elapsed_ns.copy_from_slice(&job[WORD..]);
        Ok(u64::from_ne_bytes(elapsed_ns))
    }

    /// By /proc, the only door to it that needs no unsafe code.
    fn verified_instructions(&self, program: &str) -> u32 {
        let program = self.object.progs_mut().find(|p| p.name() == program);
        let info =
            program.and_then(|p| fs::read_to_string(format!("/proc/self/fdinfo/{}", p.as_fd().as_raw_fd())).ok());
        let line = info.as_deref().and_then(|info| info.lines().find_map(|line| line.strip_prefix("verified_insns:")));
        line.and_then(|number| number.trim().parse().ok()).unwrap_or(0)
    }
}
