#![no_main]
#![allow(missing_docs, unsafe_code, reason = "the macros define libFuzzer's entry points")]

use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};
use penstock_fuzz::mutate::mutate;
use penstock_scenario::seed::Seed;

fuzz_target!(|data: &[u8]| penstock_fuzz::scenario::check(data));

// Half of the inputs are mutated as bytes, half in the words of the format, which bytes would hardly hit on.
fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    if seed % 2 == 0 {
        return fuzzer_mutate(data, size, max_size);
    }
    let mut text = mutate(&[data[..size].to_vec()], &mut Seed(u64::from(seed)).stream("mutation"));
    text.truncate(max_size);
    data[..text.len()].copy_from_slice(&text);
    text.len()
});
