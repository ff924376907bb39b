//! What a client said of itself in one request, and what it brought along.

use std::fmt;

use serde_json::{Map, Value};

use super::input::Answers;
use super::notices::Level;

/// What a client said of itself in this request, and what it brought along.
#[derive(Clone, Default, PartialEq)]
pub struct Client {
    /// Its capabilities; empty in the legacy era, where a stateless server cannot know them.
    pub capabilities: Map<String, Value>,
    /// The request's whole `_meta`, for what a product has agreed on with its clients.
    pub meta: Map<String, Value>,
    /// The answers of the person who was asked in an earlier round.
    pub answers: Answers,
    /// Names the request in notifications of progress; they are wanted only where it is there.
    pub(super) progress_token: Option<Value>,
    /// The least severe log message that is wanted.
    pub(super) log_level: Option<Level>,
}

/// Names alone: what stands behind them may be a payment or what a person wrote.
impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = |members: &Map<String, Value>| members.keys().cloned().collect::<Vec<_>>();
        f.debug_struct("Client").field("capabilities", &names(&self.capabilities)).field("meta", &names(&self.meta)).finish_non_exhaustive()
    }
}

impl Client {
    /// Whether a person can be shown a link.
    pub fn opens_links(&self) -> bool {
        self.elicitation("url")
    }

    /// Whether a person can be asked to fill in a form. A capability without any mode means forms.
    pub fn fills_forms(&self) -> bool {
        let bare = self.capabilities.get("elicitation").and_then(Value::as_object).is_some_and(Map::is_empty);
        bare || self.elicitation("form")
    }

    /// Whether the capability of this name was declared.
    pub fn declares(&self, capability: &str) -> bool {
        self.capabilities.get(capability).is_some_and(Value::is_object)
    }

    fn elicitation(&self, mode: &str) -> bool {
        self.capabilities.get("elicitation").and_then(|elicitation| elicitation.get(mode)).is_some_and(Value::is_object)
    }
}
