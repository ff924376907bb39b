//! What a call costs: table units and round trips, counted where they arise and read where the call is logged.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use aws_sdk_dynamodb::types::ConsumedCapacity;

tokio::task_local! {
    static METER: Arc<Meter>;
}

/// What was consumed.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Usage {
    /// Read units.
    pub reads: f64,
    /// Write units.
    pub writes: f64,
    /// Requests sent to the table, retries included.
    pub round_trips: u64,
}

/// Counters that many reads of one call may raise at the same time. Units are kept in halves: none is finer.
#[derive(Debug, Default)]
struct Meter {
    read_halves: AtomicU64,
    write_halves: AtomicU64,
    round_trips: AtomicU64,
}

/// Runs `work` and tells what it consumed.
pub async fn measured<T>(work: impl Future<Output = T>) -> (T, Usage) {
    let meter = Arc::new(Meter::default());
    let done = METER.scope(meter.clone(), work).await;
    (done, meter.usage())
}

impl Meter {
    fn usage(&self) -> Usage {
        let units = |halves: &AtomicU64| {
            #[expect(clippy::cast_precision_loss, reason = "a call consumes far less than 2^52 units")]
            let halves = halves.load(Ordering::Relaxed) as f64;
            halves / 2.0
        };
        Usage { reads: units(&self.read_halves), writes: units(&self.write_halves), round_trips: self.round_trips.load(Ordering::Relaxed) }
    }
}

/// Whether units are consumed by reading or by writing.
#[derive(Debug, Clone, Copy)]
pub(super) enum Kind {
    Read,
    Write,
}

/// Notes that a request is sent.
pub(super) fn round_trip() {
    let _outside_of_a_measured_call = METER.try_with(|meter| meter.round_trips.fetch_add(1, Ordering::Relaxed));
}

/// Notes what the table says a request consumed.
pub(super) fn consumed<'a>(kind: Kind, capacity: impl IntoIterator<Item = &'a ConsumedCapacity>) {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "units are small and not negative")]
    let halves: u64 = capacity.into_iter().filter_map(ConsumedCapacity::capacity_units).map(|units| (units * 2.0).round() as u64).sum();
    let _outside_of_a_measured_call = METER.try_with(|meter| {
        let counter = match kind {
            Kind::Read => &meter.read_halves,
            Kind::Write => &meter.write_halves,
        };
        counter.fetch_add(halves, Ordering::Relaxed)
    });
}
