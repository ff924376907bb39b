//! Trying again: which failures, how often, how long.

use std::future::Future;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::Duration;

use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};
use aws_smithy_runtime_api::client::orchestrator::HttpResponse;
use tokio::time::Instant;

use super::deadline;
use crate::aws::text_of;

/// The most attempts at one request.
const ATTEMPTS: u32 = 6;

/// No attempt begins later than this after the first, and none so late that the call's deadline would pass.
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

/// A failure, and what the log says of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Trouble {
    pub(super) nature: Nature,
    pub(super) cause: String,
}

/// An error of an attempt that may be repeated.
pub(super) trait Repeatable {
    fn nature(&self) -> Nature;

    /// An attempt before this one may have succeeded: it must not be told as one that did nothing.
    fn after_unknown_outcome(&mut self);

    /// The call's deadline came before the answer.
    fn out_of_time() -> Self;
}

impl Repeatable for Trouble {
    fn nature(&self) -> Nature {
        self.nature
    }

    fn after_unknown_outcome(&mut self) {
        if self.nature == Nature::Busy {
            self.nature = Nature::Unknown;
        }
    }

    fn out_of_time() -> Self {
        Self { nature: Nature::Unknown, cause: "the deadline of the call came before the table's answer".to_owned() }
    }
}

/// What is known of the attempts before this one.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct History {
    /// One of them may have happened.
    pub(super) is_unsure: bool,
}

/// Runs `attempt` until it succeeds, fails for good, or time is up; the pauses grow and are random.
pub(super) async fn retrying<T, E, F>(mut attempt: impl FnMut(History) -> F) -> Result<T, E>
where
    E: Repeatable,
    F: Future<Output = Result<T, E>>,
{
    let end = deadline::end();
    let own = Instant::now() + BUDGET;
    let last_attempt = end.map_or(own, |end| end.min(own));
    let mut history = History::default();
    let mut longest_pause = FIRST_PAUSE;
    for attempts in 1.. {
        let attempted = match end {
            Some(end) => tokio::time::timeout_at(end, attempt(history)).await.unwrap_or_else(|_| Err(E::out_of_time())),
            None => attempt(history).await,
        };
        let mut failure = match attempted {
            Ok(done) => return Ok(done),
            Err(failure) => failure,
        };
        let nature = failure.nature();
        let pause = longest_pause.mul_f64(random_fraction());
        if nature == Nature::Final || attempts >= ATTEMPTS || Instant::now() + pause >= last_attempt {
            if history.is_unsure {
                failure.after_unknown_outcome();
            }
            return Err(failure);
        }
        history.is_unsure |= nature == Nature::Unknown;
        tokio::time::sleep(pause).await;
        longest_pause *= 2;
    }
    unreachable!("the loop ends by returning")
}

/// What an SDK error means.
pub(super) fn trouble<E>(error: &SdkError<E, HttpResponse>) -> Trouble
where
    E: std::error::Error + ProvideErrorMetadata + 'static,
{
    Trouble { nature: nature_of(error), cause: text_of(error) }
}

fn nature_of<E: ProvideErrorMetadata>(error: &SdkError<E, HttpResponse>) -> Nature {
    let (code, status) = match error {
        SdkError::ServiceError(service) => (service.err().code().unwrap_or_default(), service.raw().status()),
        SdkError::ConstructionFailure(_) => return Nature::Final,
        _ => return Nature::Unknown,
    };
    match code {
        "ThrottlingException" | "ProvisionedThroughputExceededException" | "RequestLimitExceeded" | "TransactionConflictException" => {
            Nature::Busy
        }
        // An attempt of ours, whose answer was lost, is still at work.
        "TransactionInProgressException" => Nature::Unknown,
        _ if status.is_server_error() => Nature::Unknown,
        _ => Nature::Final,
    }
}

/// Half to the whole of the pause, so that those who collided do not meet again.
fn random_fraction() -> f64 {
    let random = RandomState::new().build_hasher().finish();
    0.5 + f64::from(u32::try_from(random >> 32).expect("the upper half has 32 bits")) / f64::from(u32::MAX) / 2.0
}
