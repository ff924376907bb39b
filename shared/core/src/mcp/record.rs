//! What the log will say of a request. It travels with the response, so that the shell writes one line of everything.

use super::Audit;

/// Names one request. A shell that has a name already (Lambda's) puts it into the request's extensions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestId(pub String);

/// How a request ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Outcome {
    /// As the caller wished.
    #[default]
    Ok,
    /// A tool refused or failed.
    ToolError,
    /// The request could not be understood or served.
    ProtocolError,
    /// Refused by HTTP.
    Rejected,
}

impl Outcome {
    /// As the log has it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::ToolError => "tool_error",
            Self::ProtocolError => "protocol_error",
            Self::Rejected => "rejected",
        }
    }
}

/// One request, as the log will have it. Found in the response's extensions.
#[derive(Debug, Clone, Default)]
pub struct Record {
    /// The request's name.
    pub request_id: String,
    /// The tools that were called, or the method where there was none. Never a name that a caller made up.
    pub subjects: Vec<&'static str>,
    /// Who called, if that was found out.
    pub caller: Option<Audit>,
    /// How it ended; of a batch, the last that did not end well.
    pub outcome: Outcome,
    /// The code of the error, if there was one.
    pub code: Option<String>,
    /// What went wrong inside, for us alone.
    pub causes: Vec<String>,
}

impl Record {
    /// Notes an end that was not well.
    pub(super) fn ended(&mut self, outcome: Outcome, code: impl Into<String>) {
        self.outcome = outcome;
        self.code = Some(code.into());
    }
}
