//! Input from a person in the middle of a call (2026-07-28).
//!
//! A stateless server cannot wait for a person. It answers the call with what it wants to know
//! (`resultType: input_required`) and forgets it; the client asks the person and sends the same call again with the
//! answers. What the tool must remember between the two travels with them as `requestState`: sealed, so that the client
//! can neither read nor change it, bound to the caller, the method and its parameters, and good for a limited time.
//!
//! A tool says what it wants with an [`Ask`] and reads what came back from [`super::Client::answers`]. For a client that
//! cannot ask a person, it names what to answer instead ([`crate::catalog::Reply::ask_or`]).

use jiff::{SignedDuration, Timestamp};
use ring::digest;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::{Client, Product};
use crate::error::ToolError;
use crate::jsonrpc::Error;
use crate::seal::{self, Purpose};

/// Which request a state belongs to: its method and all that the client must repeat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Binding(String);

impl Binding {
    /// The order of members does not count: a client may write the same parameters in another one.
    pub(super) fn of(method: &str, params: &Value) -> Self {
        let mut hash = digest::Context::new(&digest::SHA256);
        let repeated = params.as_object().into_iter().flatten().filter(|(name, _)| !PER_ROUND.contains(&name.as_str()));
        hash_members(&mut hash, repeated);
        let digits: String = hash.finish().as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
        Self(format!("{method} {digits}"))
    }
}

/// What differs between the rounds of one call.
const PER_ROUND: [&str; 3] = ["_meta", "inputResponses", "requestState"];

fn hash_value(hash: &mut digest::Context, value: &Value) {
    match value {
        Value::Array(items) => {
            hash.update(b"[");
            items.iter().for_each(|item| {
                hash_value(hash, item);
                hash.update(b",");
            });
            hash.update(b"]");
        }
        Value::Object(members) => {
            hash.update(b"{");
            hash_members(hash, members);
            hash.update(b"}");
        }
        leaf => hash.update(leaf.to_string().as_bytes()),
    }
}

fn hash_members<'v>(hash: &mut digest::Context, members: impl IntoIterator<Item = (&'v String, &'v Value)>) {
    let mut members: Vec<_> = members.into_iter().collect();
    members.sort_unstable_by_key(|(name, _)| *name);
    for (name, value) in members {
        hash_value(hash, &Value::from(name.as_str()));
        hash.update(b":");
        hash_value(hash, value);
        hash.update(b",");
    }
}

/// One thing that a tool wants to know.
#[derive(Debug, Clone, PartialEq)]
pub enum Input {
    /// Shows the person a link (to pay, to sign in). That they agreed says only that they looked: whether it was done,
    /// the tool must find out itself. The link must not let anybody in who does not say who they are.
    Link {
        /// Why they should open it.
        message: String,
        /// Where it leads.
        url: String,
    },
    /// Asks the person to fill in a form. Not for secrets.
    Form {
        /// What it is for.
        message: String,
        /// An object of plain values, as JSON Schema.
        schema: Value,
    },
    /// Any other request that the protocol knows.
    Other {
        /// The capability that a client must have declared.
        capability: &'static str,
        /// The method.
        method: &'static str,
        /// Its parameters.
        params: Value,
    },
}

impl Input {
    fn suits(&self, client: &Client) -> bool {
        match self {
            Self::Link { .. } => client.opens_links(),
            Self::Form { .. } => client.fills_forms(),
            Self::Other { capability, .. } => client.declares(capability),
        }
    }

    /// What a client must declare to be asked this: a part of its capabilities.
    fn required(&self) -> (&'static str, Option<&'static str>) {
        match self {
            Self::Link { .. } => ("elicitation", Some("url")),
            Self::Form { .. } => ("elicitation", Some("form")),
            Self::Other { capability, .. } => (capability, None),
        }
    }

    fn request(&self) -> Value {
        match self {
            Self::Link { message, url } => {
                json!({ "method": "elicitation/create", "params": { "mode": "url", "message": message, "url": url } })
            }
            Self::Form { message, schema } => {
                json!({ "method": "elicitation/create", "params": { "mode": "form", "message": message, "requestedSchema": schema } })
            }
            Self::Other { method, params, .. } => json!({ "method": method, "params": params }),
        }
    }
}

/// What a tool wants to know before it goes on.
#[derive(Debug, Clone, PartialEq)]
pub struct Ask {
    inputs: Vec<(&'static str, Input)>,
    state: Option<(Value, SignedDuration)>,
}

impl Ask {
    /// Asks one thing. `key` names the answer.
    pub fn of(key: &'static str, input: Input) -> Self {
        Self { inputs: vec![(key, input)], state: None }
    }

    /// Asks one thing more.
    #[must_use]
    pub fn and(mut self, key: &'static str, input: Input) -> Self {
        self.inputs.push((key, input));
        self
    }

    /// Lets the client carry what must be known again in the next round, for so long. Keep it small: it travels twice.
    /// Nothing stops a client from sending it more than once: what must be done once, the store must see to.
    #[must_use]
    pub fn remembering(mut self, state: &impl Serialize, lifetime: SignedDuration) -> Self {
        self.state = Some((serde_json::to_value(state).expect("a state is plain JSON"), lifetime));
        self
    }

    /// Whether the client declared all that is asked of it.
    pub fn suits(&self, client: &Client) -> bool {
        self.inputs.iter().all(|(_, input)| input.suits(client))
    }

    /// The capabilities that the client lacks, in the form it would declare them.
    pub(super) fn lacking(&self, client: &Client) -> Value {
        let mut lacking = Map::new();
        for (capability, mode) in self.inputs.iter().filter(|(_, input)| !input.suits(client)).map(|(_, input)| input.required()) {
            let declared = lacking.entry(capability).or_insert_with(|| json!({}));
            if let Some(mode) = mode {
                declared[mode] = json!({});
            }
        }
        Value::Object(lacking)
    }

    /// The members of the result.
    pub(super) fn into_result<P: Product>(self, product: &P, caller: &P::Caller, binding: &Binding, now: Timestamp) -> Value {
        let requests: Map<String, Value> = self.inputs.iter().map(|(key, input)| ((*key).to_owned(), input.request())).collect();
        let mut result = json!({ "inputRequests": requests });
        if let Some((state, lifetime)) = self.state {
            let principal = P::principal(caller);
            let until = now.saturating_add(lifetime).unwrap_or(Timestamp::MAX);
            let sealed = seal::seal(
                product.peppers(),
                product.ids(),
                Purpose::RequestState(&principal),
                &binding.0,
                until,
                state.to_string().as_bytes(),
            );
            result["requestState"] = sealed.into();
        }
        result
    }
}

/// What a person said to a link or a form.
#[derive(Debug, Clone, PartialEq)]
pub enum Said {
    /// Yes, with what they filled in.
    Yes(Map<String, Value>),
    /// No.
    No,
    /// Nothing: they closed it.
    Nothing,
}

/// What came back with a call that was sent again. Nothing in it was checked but its form: it is the client's word.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answers {
    responses: Map<String, Value>,
    state: Option<Value>,
}

impl Answers {
    /// What the person said; `None` if they were not asked yet, or if it cannot be read: ask again.
    pub fn said(&self, key: &str) -> Option<Said> {
        let answer = self.responses.get(key)?;
        match answer.get("action")?.as_str()? {
            "accept" => Some(Said::Yes(answer.get("content").and_then(Value::as_object).cloned().unwrap_or_default())),
            "decline" => Some(Said::No),
            "cancel" => Some(Said::Nothing),
            _ => None,
        }
    }

    /// The answer to an [`Input::Other`], as it came.
    pub fn other(&self, key: &str) -> Option<&Map<String, Value>> {
        self.responses.get(key).and_then(Value::as_object)
    }

    /// What the tool remembered, unsealed and of this very call; `None` in the first round.
    ///
    /// # Errors
    /// Where it was remembered by another version of the tool, in a form that this one cannot read. The first round must
    /// not be taken for it: what was begun there may have been done.
    pub fn remembered<T: DeserializeOwned>(&self) -> Result<Option<T>, ToolError> {
        let read = self.state.as_ref().map(T::deserialize).transpose();
        read.map_err(|_| ToolError::gone("state_outdated", "The service was changed since this call was begun: begin it anew."))
    }

    /// Reads the answers out of a request's parameters.
    pub(super) fn read<P: Product>(
        product: &P,
        caller: &P::Caller,
        binding: &Binding,
        now: Timestamp,
        params: &Value,
    ) -> Result<Self, Error> {
        let responses = match params.get("inputResponses") {
            None | Some(Value::Null) => Map::new(),
            Some(Value::Object(responses)) if responses.values().all(Value::is_object) => responses.clone(),
            Some(_) => return Err(Error::invalid_params("inputResponses must be an object that holds an object for each key.")),
        };
        let state = match params.get("requestState") {
            None | Some(Value::Null) => None,
            Some(Value::String(sealed)) => {
                let principal = P::principal(caller);
                let opened = seal::open(product.peppers(), Purpose::RequestState(&principal), &binding.0, now, sealed);
                Some(opened.ok().and_then(|plain| serde_json::from_slice(&plain).ok()).ok_or_else(unusable_state)?)
            }
            Some(_) => return Err(Error::invalid_params("requestState must be the text that the last answer held.")),
        };
        Ok(Self { responses, state })
    }
}

/// Why exactly is not told.
fn unusable_state() -> Error {
    Error::invalid_params("requestState is damaged, too old, or of another call: begin anew, without requestState and inputResponses.")
}
