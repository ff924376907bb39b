//! Trying again: which failures, how often, how long.

use std::future::Future;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::Duration;

use aws_sdk_dynamodb::error::{DisplayErrorContext, ProvideErrorMetadata, SdkError};
use tokio::time::Instant;

/// The most attempts at one request.
const ATTEMPTS: u32 = 6;

/// No attempt begins later than this after the first: below the shortest time limit of a function.
const BUDGET: Duration = Duration::from_secs(4);

const FIRST_PAUSE: Duration = Duration::from_millis(20);

/// Why an attempt failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Nature {
    /// Another transaction holds the item, or the table is throttled: nothing happened.
    Busy,
    /// No answer came, or a broken one: it may have happened.
    Unknown,
    /// The table answered, and would answer the same again.
    Final,
}

/// How many attempts were made before this one whose outcome is unknown.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct History {
    pub(super) unknown_outcomes: u32,
}

/// Runs `attempt` until it succeeds, fails for good, or time is up; the pauses grow and are random.
pub(super) async fn retrying<T, E, F>(mut attempt: impl FnMut(History) -> F, nature: impl Fn(&E) -> Nature) -> Result<T, E>
where
    F: Future<Output = Result<T, E>>,
{
    let started = Instant::now();
    let mut history = History::default();
    let mut pause = FIRST_PAUSE;
    for attempts in 1.. {
        let failure = match attempt(history).await {
            Ok(done) => return Ok(done),
            Err(failure) => failure,
        };
        match nature(&failure) {
            Nature::Final => return Err(failure),
            Nature::Unknown => history.unknown_outcomes += 1,
            Nature::Busy => {}
        }
        if attempts >= ATTEMPTS || started.elapsed() + pause >= BUDGET {
            return Err(failure);
        }
        tokio::time::sleep(pause.mul_f64(random_fraction())).await;
        pause *= 2;
    }
    unreachable!("the loop ends by returning")
}

/// What kind of failure an SDK error is.
pub(super) fn nature_of<E: ProvideErrorMetadata, R>(error: &SdkError<E, R>) -> Nature {
    let code = match error {
        SdkError::ServiceError(service) => service.err().code().unwrap_or_default(),
        SdkError::ConstructionFailure(_) => return Nature::Final,
        _ => return Nature::Unknown,
    };
    match code {
        "ThrottlingException"
        | "ProvisionedThroughputExceededException"
        | "RequestLimitExceeded"
        | "TransactionConflictException"
        | "TransactionInProgressException" => Nature::Busy,
        "InternalServerError" | "InternalFailure" | "ServiceUnavailable" => Nature::Unknown,
        _ => Nature::Final,
    }
}

/// What the log says of an SDK error.
pub(super) fn text_of<E: std::error::Error>(error: &E) -> String {
    DisplayErrorContext(error).to_string()
}

/// Half to one and a half, so that those who collided do not meet again.
fn random_fraction() -> f64 {
    let random = RandomState::new().build_hasher().finish();
    0.5 + f64::from(u32::try_from(random >> 32).expect("the upper half has 32 bits")) / f64::from(u32::MAX)
}
