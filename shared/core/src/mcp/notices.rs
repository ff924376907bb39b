//! Notifications that a call leaves behind: progress and log messages.
//!
//! Nothing is sent while a tool runs, since nothing here streams. What was noted stands before the answer: over HTTP as
//! one event stream in one body, and only where the client takes one; over stdio as lines.

use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};

use super::Client;

/// How severe a log message is, least first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the names of RFC 5424")]
pub enum Level {
    Debug,
    Info,
    Notice,
    Warning,
    Error,
    Critical,
    Alert,
    Emergency,
}

impl Level {
    /// Every level, least severe first.
    pub const ALL: [Self; 8] =
        [Self::Debug, Self::Info, Self::Notice, Self::Warning, Self::Error, Self::Critical, Self::Alert, Self::Emergency];

    /// Its name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Notice => "notice",
            Self::Warning => "warning",
            Self::Error => "error",
            Self::Critical => "critical",
            Self::Alert => "alert",
            Self::Emergency => "emergency",
        }
    }

    /// The level with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.as_str() == name)
    }
}

/// How much one call may note, in bytes. What comes later is dropped: a notice is a courtesy, and the answer must still
/// fit into what the transport carries.
const MOST_BYTES: usize = 128 * 1024;

/// What one call has noted so far, as whole JSON-RPC notifications.
#[derive(Debug, Default)]
pub struct Notices(Mutex<Noted>);

#[derive(Debug, Default)]
struct Noted {
    messages: Vec<String>,
    bytes: usize,
}

impl Notices {
    /// Notes how far a call is, if the client asked to be told.
    pub(crate) fn progress(&self, client: &Client, progress: f64, total: Option<f64>) {
        let Some(token) = client.progress_token.as_ref().filter(|_| progress.is_finite()) else { return };
        let mut params = json!({ "progressToken": token, "progress": progress });
        if let Some(total) = total.filter(|total| total.is_finite()) {
            params["total"] = total.into();
        }
        self.note("notifications/progress", &params);
    }

    /// Notes a log message, if the client wants messages that severe.
    pub(crate) fn log(&self, client: &Client, level: Level, data: &Value) {
        if client.log_level.is_some_and(|least| level >= least) {
            self.note("notifications/message", &json!({ "level": level.as_str(), "data": data }));
        }
    }

    fn note(&self, method: &str, params: &Value) {
        let mut noted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if noted.bytes > MOST_BYTES {
            return;
        }
        let notice = json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string();
        // What does not fit counts too: after it nothing fits, so that there are no gaps.
        noted.bytes += notice.len();
        if noted.bytes <= MOST_BYTES {
            noted.messages.push(notice);
        }
    }

    /// All that was noted, oldest first.
    pub(super) fn into_messages(self) -> Vec<String> {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner).messages
    }
}
