//! The committed vectors, inside the running kernel.
//!
//! On a machine that cannot run BPF programs a test here prints the missing part and counts as not run. Run it as root,
//! with clang and libbpf's headers there when it is built: `cargo test -p penstock-kernel --test kernel`.

#[path = "../../cli/tests/optional/mod.rs"]
mod optional;

use std::fs;
use std::path::PathBuf;

use penstock_kernel::generators;
use penstock_kernel::kernel_laws::{KERNEL_LAWS, KernelLaw, copa};
use penstock_kernel::replay::{self, Build, Error, Report};
use penstock_kernel::vectors::Vectors;

type Test = Box<dyn Fn()>;

fn committed(kernel_law: &'static KernelLaw) -> Vectors {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../vectors").join(format!("{}.txt", kernel_law.name));
    let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    Vectors::parse(kernel_law, &format!("vectors/{}.txt", kernel_law.name), &text).unwrap()
}

fn in_kernel(build: Build, vectors: &Vectors, judge: impl FnOnce(&Report) -> bool) {
    let report = replay::in_kernel(build, vectors).unwrap_or_else(|error| {
        let source = std::error::Error::source(&error).map_or(String::new(), |source| format!(": {source:#}"));
        panic!("{error}{source}")
    });
    let cost = report.kernel.map_or(String::new(), |cost| {
        let (instructions, ns) = (cost.verified_instructions, cost.nanoseconds_a_call);
        format!("; {instructions} instructions verified, {ns:.0} ns a call")
    });
    println!("{report}{cost}");
    assert!(judge(&report), "{report}");
}

fn the_kernel_implementation_computes_the_vectors(kernel_law: &'static KernelLaw) {
    in_kernel(Build::Faithful, &committed(kernel_law), |report| report.holds() && report.vectors >= 20_000);
}

/// The same for one event, for the sake of its cost.
fn the_kernel_implementation_computes_the_vectors_of(kernel_law: &'static KernelLaw, event: &'static str) {
    in_kernel(Build::Faithful, &committed(kernel_law).of_event(event), |report| report.holds() && report.vectors > 0);
}

fn a_slip_in_the_kernel_implementation_is_noticed(kernel_law: &'static KernelLaw) {
    in_kernel(Build::PlantedSlip, &committed(kernel_law), |report| report.mismatches.len() > 1000);
}

fn a_wrong_digit_in_a_vector_is_noticed(kernel_law: &'static KernelLaw) {
    let (vector, right, wrong) = match kernel_law.name {
        "fast" => (
            "params 0 2147483648 2147483648 0 4294967296 4294967296\nround 8589934592 8589934592 0 0 1 1 ->",
            "17179869184 8589934592 8589934592 0",
            "17179869184 8589934592 8589934593 0",
        ),
        "leadlag" => {
            ("params 0 0 0 4294967296 0 0 0 0\nack 4294967296 8 9 0 0 2 0 ->", "4294967296 8 9", "4294967296 8 8")
        }
        "price" => {
            ("params 4294967296 4294967296 0\ntick 0 7 8589934592 4294967296 ->", "4294967296 0", "4294967295 0")
        }
        "avq" => (
            "params 4294967296 0 4294967296 0 0\narrival 4294967296 4294967296 0 0 1500 4294967296 0 ->",
            "4294967296 4294967296 0 1",
            "4294967296 4294967296 0 0",
        ),
        "ccp" => (
            "params 4294967296 1\nack 4294967296 0 0 1 51539607552 0 0 0 0 1 ->",
            "25769803776 0 0 0",
            "25769803776 0 0 1",
        ),
        "ccpd" => (
            "params 4294967296 1 4294967296\nack 4294967296 0 0 1 51539607552 0 0 0 4294967296 1 ->",
            "17179869184 0 0 0",
            "17179869183 0 0 0",
        ),
        "bat" => (
            "params 4294967296 4294967296 0 0 0 4294967296 -1 9223372036854775807 0 0\ntick 9 0 0 0 1 3 ->",
            "9 3 0 1",
            "9 4 0 1",
        ),
        "clcc" => (
            "params 4294967296 0 0 0 0 4294967296 -1 9223372036854775807 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1 2\n\
             tick 9 0 0 0 7 0 0 0 1 2 3 4 0 1 3 0 10 20 30 ->",
            "9 3 0 1 7 0 0 0 4 22 13 34 1",
            "9 3 0 1 7 0 0 0 4 22 13 34 2",
        ),
        "token-bucket" => (
            "params 4294967296 12884901888\narrival 4294967296 0 2 3 4294967296 0 ->",
            "8589934592 4294967296 2",
            "8589934592 4294967296 0",
        ),
        "srtcm" => {
            ("params 0 0 4294967296\ncoloured 7 8589934592 0 1 1 0 1 ->", "7 4294967296 0 1", "7 4294967297 0 1")
        }
        "trtcm" => {
            ("params 0 0 0 4294967296\narrival 0 4294967296 0 0 1 0 0 ->", "0 4294967296 0 1", "0 4294967296 0 2")
        }
        "early-marking" => (
            "params 0 0 4294967296 4611686018427387904 0 1\narrival 0 0 0 0 0 0 0 0 ->",
            "0 2305843009213693952 0 0 1",
            "0 2305843009213693951 0 0 1",
        ),
        // By v / (delta W): 1 / (1/2 4) packets.
        "copa" => (
            "params 2147483648 0 0 0 0\n\
             ack 17179869184 4294967296 2147483648 1 1 0 0 0 0 1 0 0 0 0 0 0 0 1 1 0 ->",
            "19327352832 4294967296 2147483648 1 1 0 0 0 0 1 0 0",
            "19327352832 4294967296 2147483648 1 1 0 0 0 0 1 0 1",
        ),
        // By alpha / 2 down from 4 packets, and by the packet without a mark up.
        "prague" => (
            "params 2147483648 4294967296 0 8589934592 0\n\
             ack 17179869184 8589934592 2147483648 0 0 0 0 0 0 0 0 0 0 2 1 ->",
            "14316557653 12884901888 2147483648 0 8589934592 4294967296 0 0 0 1 1",
            "14316557653 12884901888 2147483649 0 8589934592 4294967296 0 0 0 1 1",
        ),
        other => panic!("write a vector of `{other}`"),
    };
    let replay = |after: &str, mismatches: usize| {
        let vectors = Vectors::parse(kernel_law, "text", &format!("{vector} {after}\n")).unwrap();
        in_kernel(Build::Faithful, &vectors, |report| report.mismatches.len() == mismatches);
    };
    replay(right, 0);
    replay(wrong, 1);
}

/// Whole connections of Copa, with the round trips that it remembers.
fn connections_are_those_of_rust() {
    let calls = generators::connections();
    let states = copa::connections(&calls);
    let kernel = replay::connections_in_kernel(Build::Faithful, &calls).unwrap();
    for (at, (got, want)) in kernel.iter().zip(&states).enumerate() {
        assert_eq!(got, want, "step {at}: {:?}", calls[at]);
    }
    assert_eq!(kernel.len(), states.len());
    let slip = replay::connections_in_kernel(Build::PlantedSlip, &calls).unwrap();
    let other = slip.iter().zip(&states).filter(|(got, want)| got != want).count();
    assert!(other > 1000, "a slip changes {other} of {} states", states.len());
}

fn tests() -> Vec<(String, Test)> {
    let mut tests: Vec<(String, Test)> = Vec::new();
    for kernel_law in KERNEL_LAWS {
        let mut add = |name: &str, test: Test| tests.push((format!("{}::{name}", kernel_law.name), test));
        add(
            "the_kernel_implementation_computes_the_vectors",
            Box::new(|| the_kernel_implementation_computes_the_vectors(kernel_law)),
        );
        for event in kernel_law.events {
            let name = format!("the_kernel_implementation_computes_the_vectors_of_{event}");
            add(&name, Box::new(|| the_kernel_implementation_computes_the_vectors_of(kernel_law, event)));
        }
        add(
            "a_slip_in_the_kernel_implementation_is_noticed",
            Box::new(|| a_slip_in_the_kernel_implementation_is_noticed(kernel_law)),
        );
        add("a_wrong_digit_in_a_vector_is_noticed", Box::new(|| a_wrong_digit_in_a_vector_is_noticed(kernel_law)));
    }
    tests.push(("copa::connections_are_those_of_rust".to_owned(), Box::new(connections_are_those_of_rust)));
    tests
}

fn main() {
    let missing = match replay::in_kernel(Build::Faithful, &committed(&KERNEL_LAWS[0])) {
        Err(Error::Missing(missing)) => Some(missing),
        _ => None,
    };
    optional::run_groups(&[optional::Group { tests: &tests(), missing: optional::kernel(missing) }]);
}
