//! The moment at which a call must have its answer: no request to the table goes on past it.

use std::future::Future;
use std::time::Duration;

use tokio::time::Instant;

/// What an answer needs to be written and carried, once the table has been given up.
const TO_ANSWER: Duration = Duration::from_millis(500);

tokio::task_local! {
    static DEADLINE: Instant;
}

/// Runs `work`, which has to be done by `deadline`.
pub async fn by<T>(deadline: Instant, work: impl Future<Output = T>) -> T {
    DEADLINE.scope(deadline, work).await
}

/// When a request to the table must have ended, if the call has a deadline.
pub(super) fn end() -> Option<Instant> {
    DEADLINE.try_with(|deadline| deadline.checked_sub(TO_ANSWER).unwrap_or(*deadline)).ok()
}
