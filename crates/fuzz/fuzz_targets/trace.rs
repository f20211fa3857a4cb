#![no_main]
#![allow(missing_docs, unsafe_code, reason = "the macro defines libFuzzer's entry point")]

libfuzzer_sys::fuzz_target!(|data: &[u8]| penstock_fuzz::trace::check(data));
