//! The shell of a Lambda function: an event in, the response for the door it came through out.
//!
//! Two doors are served, and both send payload format 2.0: API Gateway HTTP APIs and Function URLs. [`Event`] reads what
//! they send, [`Reply`] writes what they take. Whatever else arrives is answered too: a failed invocation would be a bare
//! 502 to its caller, and nobody could tell what to change.
//!
//! The crate `lambda_http` reads events as well, and panics on some: invalid base64, a path that is no URI. A function
//! built to abort on panic would end there. It is the oracle of the tests instead: wherever it has an answer, ours is the
//! same.

mod event;
mod refusal;
mod reply;

use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

pub use event::Event;
pub use lambda_runtime::{Context, Error};
use lambda_runtime::{LambdaEvent, service_fn};
use onepost_core::http::Endpoint;
use onepost_core::mcp::RequestId;
pub use reply::Reply;
use tokio::time::Instant;

use crate::table;
use crate::telemetry::Observed;

/// How long a call may take where the invocation does not say.
const LONGEST: Duration = Duration::from_secs(25);

/// What is left of an invocation for its last words.
const FOR_THE_ANSWER: Duration = Duration::from_millis(300);

/// Serves events with `endpoint` until the runtime ends the process, and writes a line of each.
pub async fn serve(endpoint: impl Endpoint + 'static) -> Result<(), Error> {
    let endpoint = Arc::new(Observed(endpoint));
    lambda_runtime::run(service_fn(move |event: LambdaEvent<Event>| {
        let endpoint = endpoint.clone();
        async move { Ok::<_, Infallible>(respond(endpoint.as_ref(), event.payload, &event.context).await) }
    }))
    .await
}

/// Answers one event, whatever it is. The request has the name that Lambda gave it, and the time that Lambda leaves it.
pub async fn respond(endpoint: &dyn Endpoint, event: Event, context: &Context) -> Reply {
    let response = match event.into_request() {
        Ok(mut request) => {
            request.extensions_mut().insert(RequestId(context.request_id.clone()));
            let deadline = deadline(context);
            // What hangs must still end in an answer: what Lambda ends is a bare 502.
            let answering = table::by(deadline, endpoint.answer(request));
            match tokio::time::timeout_at(deadline.checked_sub(FOR_THE_ANSWER).unwrap_or(deadline), answering).await {
                Ok(response) => response,
                Err(_) => refusal::out_of_time(&context.request_id),
            }
        }
        Err(refusal) => {
            refusal.log(&context.request_id);
            refusal.into_response(&context.request_id)
        }
    };
    Reply(response)
}

/// When Lambda ends the invocation.
fn deadline(context: &Context) -> Instant {
    let left = context.deadline().duration_since(SystemTime::now()).ok();
    Instant::now() + left.unwrap_or(LONGEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_has_the_time_that_lambda_leaves_it() {
        let ends = SystemTime::now() + Duration::from_secs(3);
        let mut context = Context::default();
        let left = |context: &Context| (deadline(context) - Instant::now()).as_secs_f64().round();
        assert_eq!(left(&context), LONGEST.as_secs_f64());
        context.deadline = u64::try_from(ends.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_millis()).unwrap();
        assert_eq!(left(&context), 3.0);
    }
}
