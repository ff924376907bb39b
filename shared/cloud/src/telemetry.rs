//! One line a request, written where everything about it is known. It names the tool, a hash of the organisation, the
//! key's public id, how it ended and what it cost; never a key, a secret, an argument or a result.

use std::future::Future;
use std::io::IsTerminal;
use std::pin::Pin;
use std::time::Instant;

use onepost_core::http::{Endpoint, Request, Response};
use onepost_core::mcp::{Outcome, Record};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Layer, fmt};

use crate::table::{Usage, measured};

/// Sets up logging: JSON in Lambda, readable in a terminal. `RUST_LOG` replaces `filter`.
pub fn init(filter: &str) {
    let wanted = std::env::var("RUST_LOG").ok().and_then(|wanted| wanted.parse::<Targets>().ok());
    // Not the filter with regular expressions, which is a megabyte of each function.
    let filter = wanted.unwrap_or_else(|| filter.parse().expect("the filter is written by us"));
    // A log whose reader has gone must not take the answer with it: the default tells of a failed write on standard error,
    // which panics where that is what is gone.
    let layer = fmt::layer().with_target(false).log_internal_errors(false);
    // A second call, in a test, is of no consequence.
    let _already_set = if std::env::var_os("AWS_LAMBDA_FUNCTION_NAME").is_some() {
        let lines = layer.json().flatten_event(true).with_current_span(false).with_span_list(false);
        tracing_subscriber::registry().with(lines.with_filter(filter)).try_init()
    } else {
        let lines = layer.with_writer(std::io::stderr).with_ansi(std::io::stderr().is_terminal());
        tracing_subscriber::registry().with(lines.with_filter(filter)).try_init()
    };
}

/// An endpoint that writes a line of each request.
pub struct Observed<E>(pub E);

impl<E: Endpoint> Endpoint for Observed<E> {
    fn answer(&self, request: Request) -> Pin<Box<dyn Future<Output = Response> + Send + '_>> {
        Box::pin(async move {
            let started = Instant::now();
            let (response, usage) = measured(self.0.answer(request)).await;
            let record = response.extensions().get::<Record>().cloned().unwrap_or_default();
            write(&record, &response, usage, started.elapsed().as_secs_f64() * 1000.0);
            response
        })
    }
}

fn write(record: &Record, response: &Response, usage: Usage, milliseconds: f64) {
    let call = record.subjects.join(",");
    let (org, key) = record.caller.as_ref().map_or(("-", "-"), |caller| (caller.org.as_str(), caller.key.as_str()));
    let (status, outcome, bytes) = (response.status().as_u16(), record.outcome.as_str(), response.body().len());
    let code = record.code.as_deref().unwrap_or("-");
    let ms = (milliseconds * 10.0).round() / 10.0;
    let Usage { reads, writes, round_trips } = usage;
    match record.causes.as_slice() {
        [] if record.outcome == Outcome::Ok => tracing::info!(call, org, key, status, ms, reads, writes, round_trips, bytes),
        [] => tracing::info!(call, org, key, status, outcome, code, ms, reads, writes, round_trips, bytes),
        causes => {
            let (request_id, cause) = (&record.request_id, causes.join("; "));
            tracing::error!(call, org, key, status, outcome, code, ms, reads, writes, round_trips, bytes, request_id, cause);
        }
    }
}
