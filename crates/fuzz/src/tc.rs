//! The input of a law at a device, from the kernel: frames, with the clock, the random draw and what is known of a super-packet.
//!
//! The verifier proves that a program stays within the frame; here its books must hold for any frame. Needs root and BPF.

use std::sync::{Mutex, OnceLock, PoisonError};

use penstock_kernel::attach::tc::{Arrival, Trial, Verdict, Wanted};

/// One program a law, loaded once.
static PROGRAMS: OnceLock<Vec<Mutex<Trial>>> = OnceLock::new();

const LAWS: &[(&str, &[&str])] = &[
    ("price", &["link.rate=10 Mbit/s", "aqm.target=0.95"]),
    ("token-bucket", &["conditioner.committed_rate=1 Mbit/s", "conditioner.bucket=10 kB"]),
];

/// The parts that this machine lacks to run it.
pub fn missing() -> Option<String> {
    penstock_kernel::attach::tc::missing().first().map(ToString::to_string)
}

fn programs() -> &'static [Mutex<Trial>] {
    PROGRAMS.get_or_init(|| {
        let load = |(law, settings): &(&str, &[&str])| {
            let settings: Vec<String> = settings.iter().map(|text| (*text).to_owned()).collect();
            let wanted = Wanted::read(law, &settings).unwrap_or_else(|e| panic!("{law}: {e}"));
            Mutex::new(Trial::new(wanted).unwrap_or_else(|e| panic!("{law}: {e}")))
        };
        LAWS.iter().map(load).collect()
    })
}

/// Every frame goes on or is dropped, keeps its length, and stands in the books once.
///
/// # Panics
/// If not, and where the machine lacks something: see [`missing`].
pub fn check(data: &[u8]) {
    let Some((head, frame)) = data.split_first_chunk::<17>() else { return };
    // The kernel gives no program less than the header of the link layer.
    if frame.len() < 14 || frame.len() > 4000 {
        return;
    }
    // Nor does it run one on a frame that says it has a header of IP and ends before that header does.
    let header = match frame[12..14] {
        [0x08, 0x00] => 20,
        [0x86, 0xdd] => 40,
        _ => 0,
    };
    if frame.len() < 14 + header {
        return;
    }
    let word = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
    let programs = programs();
    let trial = programs[usize::from(head[0]) % programs.len()].lock().unwrap_or_else(PoisonError::into_inner);
    let segments = (word(9) % 3 == 0).then(|| (word(9) % 64, word(13) % 9000));
    let arrival = Arrival { at_ns: u64::from(word(1)) + 1, coin: word(5), segments, wire_bytes: None };
    let before = trial.books().expect("books");
    let (verdict, after) = trial.give(frame, arrival).expect("the kernel runs it");
    assert!(matches!(verdict, Verdict::Next | Verdict::Drop), "{verdict:?}");
    assert_eq!(after.len(), frame.len());
    let books = trial.books().expect("books");
    assert_eq!(books.pieces, before.pieces + 1);
    assert_eq!(books.ended(), books.arrived, "{books:?}");
}

/// A frame for each program.
pub fn seeds() -> Vec<Vec<u8>> {
    let ip = [0x45, 1, 0, 46, 0, 1, 0x40, 0, 64, 17, 0x26, 0xbc, 10, 0, 0, 1, 10, 0, 0, 2];
    let frame = [&[0; 12][..], &[8, 0], &ip, &[0; 26]].concat();
    (0..LAWS.len() as u8).map(|law| [&[law][..], &[1; 16], &frame].concat()).collect()
}
