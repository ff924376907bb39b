//! Errors and how each reaches the caller.
//!
//! Four kinds, each with a home:
//!
//! | kind | type | the caller sees |
//! | --- | --- | --- |
//! | HTTP | [`crate::http::Rejection`] | a status and a short body |
//! | protocol | [`crate::jsonrpc::Error`] | a JSON-RPC error |
//! | tool | [`ToolError`] | a tool result with `isError` |
//! | internal | [`ToolError::internal`] | a fixed text and the request id |
//!
//! Text for the caller and text for the log are different fields, and the constructor of an internal error takes
//! only the latter: a table's name or an SDK's message cannot reach a caller.

use serde_json::{Map, Value, json};

/// A tool's refusal or failure. Boxed: results are moved about far more often than errors are made.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolError(Box<Parts>);

#[derive(Debug, Clone, PartialEq)]
struct Parts {
    code: &'static str,
    status: u16,
    message: String,
    details: Option<Value>,
    retry_after: Option<u32>,
    cause: Option<String>,
}

/// How a product writes its tool errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// `{"error": message}`
    Message,
    /// `{"error": code, "message": message, "details"?, "retry_after"?, "request_id"?}`
    CodeAndMessage,
    /// RFC 9457: `{"type", "title", "status", "detail", "code", …}`; the text is the base that `type` is built on.
    Problem(&'static str),
}

impl ToolError {
    fn new(code: &'static str, status: u16, message: impl Into<String>) -> Self {
        Self(Box::new(Parts { code, status, message: message.into(), details: None, retry_after: None, cause: None }))
    }

    /// The thing named by an id is not there, or is another organisation's: the same answer.
    pub fn not_found(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(code, 404, message)
    }

    /// The caller may not do this.
    pub fn forbidden(message: impl Into<String>) -> Self {
        Self::denied("forbidden", message)
    }

    /// The caller may not do this, for a reason that has a code of its own.
    pub fn denied(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(code, 403, message)
    }

    /// The state of things stands against it; another call may change that state.
    pub fn conflict(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(code, 409, message)
    }

    /// A value has the right type and is refused for what it says.
    pub fn invalid(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(code, 422, message)
    }

    /// A limit of the plan is reached.
    pub fn quota_exceeded(message: impl Into<String>) -> Self {
        Self::new("quota_exceeded", 402, message)
    }

    /// The thing existed and is over.
    pub fn gone(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(code, 410, message)
    }

    /// Too much at this moment; the same call may pass after `seconds`.
    pub fn try_again(code: &'static str, message: impl Into<String>, seconds: u32) -> Self {
        let mut error = Self::new(code, 503, message);
        error.0.retry_after = Some(seconds);
        error
    }

    /// The answer is larger than the transport carries.
    pub fn answer_too_large(message: impl Into<String>) -> Self {
        Self::new("answer_too_large", 413, message)
    }

    /// Our fault. `cause` goes to the log alone.
    pub fn internal(cause: impl std::fmt::Display) -> Self {
        let message = "Something failed on our side. Read back what you meant to change before you try again; \
                       if it stays, report the request id.";
        Self::new("internal_error", 500, message).with_cause(cause)
    }

    /// Adds facts that a program can act on.
    #[must_use]
    pub fn with_details(mut self, details: Value) -> Self {
        self.0.details = Some(details);
        self
    }

    /// Adds a line for the log.
    #[must_use]
    pub fn with_cause(mut self, cause: impl std::fmt::Display) -> Self {
        self.0.cause = Some(cause.to_string());
        self
    }

    /// The stable code.
    pub fn code(&self) -> &'static str {
        self.0.code
    }

    /// The HTTP status that a REST route answers for it.
    pub fn status(&self) -> u16 {
        self.0.status
    }

    /// The text for the caller.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The facts for a program.
    pub fn details(&self) -> Option<&Value> {
        self.0.details.as_ref()
    }

    /// The text for the log.
    pub fn cause(&self) -> Option<&str> {
        self.0.cause.as_deref()
    }

    /// Whether it is our fault.
    pub fn is_internal(&self) -> bool {
        self.0.status == 500
    }
}

impl Dialect {
    /// The error as the caller reads it. The request id is added where the fault is ours.
    pub fn render(self, error: &ToolError, request_id: &str) -> Value {
        let request_id = error.is_internal().then_some(request_id);
        match self {
            Self::Message => match request_id {
                Some(id) => json!({ "error": format!("{} (request id {id})", error.0.message) }),
                None => json!({ "error": error.0.message }),
            },
            Self::CodeAndMessage => {
                let mut body = Map::new();
                body.insert("error".into(), error.0.code.into());
                body.insert("message".into(), error.0.message.clone().into());
                extend(&mut body, error, request_id);
                Value::Object(body)
            }
            Self::Problem(base) => {
                let mut body = Map::new();
                body.insert("type".into(), format!("{base}{}", error.0.code).into());
                body.insert("title".into(), error.0.code.replace('_', " ").into());
                body.insert("status".into(), error.0.status.into());
                body.insert("detail".into(), error.0.message.clone().into());
                body.insert("code".into(), error.0.code.into());
                extend(&mut body, error, request_id);
                Value::Object(body)
            }
        }
    }
}

fn extend(body: &mut Map<String, Value>, error: &ToolError, request_id: Option<&str>) {
    if let Some(details) = &error.0.details {
        body.insert("details".into(), details.clone());
    }
    if let Some(seconds) = error.0.retry_after {
        body.insert("retry_after".into(), seconds.into());
    }
    if let Some(id) = request_id {
        body.insert("request_id".into(), id.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_dialect_writes_the_same_refusal_in_its_own_shape() {
        let error = ToolError::conflict("asset_has_active_runs", "Two runs are active.").with_details(json!({ "active_runs": 2 }));
        assert_eq!(Dialect::Message.render(&error, "q-1"), json!({ "error": "Two runs are active." }));
        assert_eq!(
            Dialect::CodeAndMessage.render(&error, "q-1"),
            json!({ "error": "asset_has_active_runs", "message": "Two runs are active.", "details": { "active_runs": 2 } })
        );
        assert_eq!(
            Dialect::Problem("https://example.com/errors#").render(&error, "q-1"),
            json!({
                "type": "https://example.com/errors#asset_has_active_runs", "title": "asset has active runs", "status": 409,
                "detail": "Two runs are active.", "code": "asset_has_active_runs", "details": { "active_runs": 2 },
            })
        );
    }

    #[test]
    fn an_internal_error_shows_the_request_id_and_never_its_cause() {
        for dialect in [Dialect::Message, Dialect::CodeAndMessage, Dialect::Problem("x#")] {
            let text = dialect.render(&ToolError::internal("table prod-7 timed out"), "q-42").to_string();
            assert!(text.contains("q-42") && !text.contains("prod-7"), "{text}");
        }
    }
}
