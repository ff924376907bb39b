//! Events that do not reach the endpoint.

use http::{HeaderValue, StatusCode};
use onepost_core::http::{Response, json_response};
use onepost_core::jsonrpc::Error;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::json;

/// The answer to a request that was not done when its time was over: a failure outside of a tool.
pub(super) fn out_of_time(request_id: &str) -> Response {
    tracing::error!(request_id, "a call was not done when its time was over");
    let message = "The call was not done when its time was over. Read back what you meant to change before you try again.";
    let error = Error { code: Error::INTERNAL, message: message.to_owned(), data: Some(json!({ "request_id": request_id })) };
    named(json_response(StatusCode::OK, json!({ "jsonrpc": "2.0", "id": null, "error": error }).to_string()), request_id)
}

/// Every answer names its request.
fn named(mut response: Response, request_id: &str) -> Response {
    if let Ok(id) = HeaderValue::from_str(request_id) {
        response.headers_mut().insert("x-request-id", id);
    }
    response
}

/// Why an event is not handed on. Its answer has the three members that every HTTP door in front of a function knows
/// (`statusCode`, `headers`, `body`), and a JSON-RPC error that a client can read.
#[derive(Debug)]
pub(super) enum Refusal {
    /// It is not of payload format 2.0; the text says what it is, for the log.
    AnotherFormat(&'static str),
    /// It is, and holds no request that HTTP could have carried; the text says why.
    Malformed(&'static str),
}

impl Refusal {
    /// Tells what `json` is instead.
    pub(super) fn of_another_format(json: &str) -> Self {
        #[derive(Deserialize)]
        struct Format1 {
            #[serde(rename = "httpMethod")]
            _method: IgnoredAny,
        }
        Self::AnotherFormat(match serde_json::from_str::<Format1>(json) {
            Ok(_) => "payload format 1.0: a REST API, a load balancer, or an HTTP API that is set to it",
            Err(_) => "no request: a test, a schedule or another service",
        })
    }

    /// Writes its line. It tells nothing of what the event held: that may be a key.
    pub(super) fn log(&self, request_id: &str) {
        let status = self.status().as_u16();
        match self {
            Self::AnotherFormat(found) => {
                tracing::warn!(status, request_id, found, "an event was refused: payload format 2.0 alone is taken")
            }
            Self::Malformed(why) => tracing::warn!(status, request_id, why, "an event was refused: it holds no request"),
        }
    }

    /// Another format is 501, and not 400: the caller's request may be a good one, and it is the operator who has set the
    /// door up wrongly, whom only a status from 500 on alarms. Nobody takes this one for a passing fault and tries again.
    fn status(&self) -> StatusCode {
        match self {
            Self::AnotherFormat(_) => StatusCode::NOT_IMPLEMENTED,
            Self::Malformed(_) => StatusCode::BAD_REQUEST,
        }
    }

    /// The whole answer. It names the request, as every answer does.
    pub(super) fn into_response(self, request_id: &str) -> Response {
        let status = self.status();
        let error = match self {
            Self::AnotherFormat(_) => Error {
                code: Error::INTERNAL,
                message: "This function takes payload format 2.0 alone. Set payloadFormatVersion to 2.0 in the integration of the \
                          API Gateway HTTP API, or use a Function URL; a REST API or a load balancer cannot send it."
                    .to_owned(),
                data: None,
            },
            Self::Malformed(why) => Error::invalid_request(why),
        };
        named(json_response(status, json!({ "jsonrpc": "2.0", "id": null, "error": error }).to_string()), request_id)
    }
}
