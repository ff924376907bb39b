//! What the shell makes of an event, beside what the crate `lambda_http` makes of it.

use std::future::Future;
use std::pin::Pin;
use std::sync::Mutex;

use http_body_util::BodyExt;
use lambda_http::request::LambdaRequest;
use lambda_http::{Body, RequestExt};
use onepost_cloud::lambda::{Context, Event, respond};
use onepost_core::http::{Endpoint, Request, Response};
use serde_json::Value;

use crate::events::{function_url, http_api, in_base64, plain};
use crate::situations::Library;

/// Keeps what reaches it.
#[derive(Default)]
struct Kept(Mutex<Option<Request>>);

impl Endpoint for Kept {
    fn answer(&self, request: Request) -> Pin<Box<dyn Future<Output = Response> + Send + '_>> {
        *self.0.lock().unwrap() = Some(request);
        Box::pin(async { Response::default() })
    }
}

async fn ours(event: &Value) -> Request {
    let kept = Kept::default();
    let event: Event = serde_json::from_str(&event.to_string()).unwrap();
    respond(&kept, event, &Context::default()).await;
    kept.0.into_inner().unwrap().unwrap()
}

fn theirs(event: &Value) -> http::Request<Body> {
    let event: LambdaRequest = serde_json::from_value(event.clone()).unwrap();
    event.into()
}

#[tokio::test]
async fn the_shell_reads_every_event_as_the_makers_of_the_runtime_do() {
    let (_, situations) = Library::open();
    for situation in &situations {
        for event in [http_api(situation, "$default"), function_url(situation)] {
            let both_ways = [plain(event.clone(), &situation.body), in_base64(event, &situation.body)];
            for event in both_ways.into_iter().flatten() {
                let (ours, theirs) = (ours(&event).await, theirs(&event));
                assert_eq!(ours.method(), theirs.method(), "{}", situation.what);
                assert_eq!((ours.uri().path(), ours.uri().query()), (theirs.raw_http_path(), theirs.uri().query()), "{}", situation.what);
                for (name, value) in theirs.headers() {
                    let trimmed = value.as_bytes().trim_ascii();
                    assert_eq!(ours.headers().get(name).map(|value| value.as_bytes()), Some(trimmed), "{}: {name}", situation.what);
                }
                assert_eq!(ours.headers().len(), theirs.headers().len(), "{}", situation.what);
                let body = theirs.into_body().collect().await.unwrap().to_bytes();
                assert_eq!(ours.body(), &body, "{}", situation.what);
            }
        }
    }
}
