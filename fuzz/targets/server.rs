//! The whole server: whatever comes, the answer is one that its version allows, and the one that the rulings demand.
#![no_main]

use std::sync::LazyLock;

use fuzz::exchange::{Exchange, doors, send_in_time, tidy};
use fuzz::judge::Case;
use fuzz::{end_on_panics, requests};
use libfuzzer_sys::{Corpus, fuzz_mutator, fuzz_target, fuzzer_mutate};
use library::client::Door;

static OPEN: LazyLock<[Door; 4]> = LazyLock::new(doors);

fuzz_target!(init: end_on_panics(), |input: &[u8]| -> Corpus {
    let Some(exchange) = Exchange::parse(input) else { return Corpus::Reject };
    let door = &OPEN[exchange.door];
    tidy(door, &exchange.situations);
    let Some(request) = exchange.request(door) else { return Corpus::Reject };
    tidy(door, &exchange.situations);
    let response = send_in_time(door, request.clone());
    let case = Case { door, kind: exchange.door, situations: &exchange.situations, request: &request, response: &response };
    let faults = case.judge();
    assert!(
        faults.is_empty(),
        "\n{}\n--- was answered by {} {:?}\n{}\n--- which is wrong:\n{}",
        String::from_utf8_lossy(input),
        response.status(),
        response.headers(),
        String::from_utf8_lossy(response.body()),
        faults.join("\n"),
    );
    Corpus::Keep
});

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| { requests::changed(data, size, max_size, seed, fuzzer_mutate) });
