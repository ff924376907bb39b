//! Arguments against schemas: what is let through is valid, what is valid is let through.
#![no_main]

use fuzz::{arguments, end_on_panics};
use libfuzzer_sys::{Corpus, fuzz_mutator, fuzz_target, fuzzer_mutate};

fuzz_target!(init: end_on_panics(), |input: &[u8]| -> Corpus {
    let Some(faults) = arguments::judge(input) else { return Corpus::Reject };
    assert!(faults.is_empty(), "\n{}\n--- which is wrong:\n{}", String::from_utf8_lossy(input), faults.join("\n"));
    Corpus::Keep
});

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| { arguments::changed(data, size, max_size, seed, fuzzer_mutate) });
