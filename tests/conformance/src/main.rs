//! A server for the official conformance suite.
//!
//! The suite asks for tools, resources and prompts of certain names that show everything the protocol has: every kind of
//! content, every keyword of JSON Schema, questions to a person, progress, log messages. Products of this suite need few
//! of them; this server stands on `onepost-core` alone and shows that the core carries them all, as far as a server that
//! holds no state and streams nothing can. `tests/conformance/run` starts it and runs the suite.

mod asking;
mod content;
mod prompts;
mod resources;
mod tools;

use std::error::Error;
use std::io::Write;
use std::sync::Arc;

use ::http::HeaderMap;
use jiff::Timestamp;
use local::front::{Front, Mount, Routes};
use onepost_core::auth::{KeyFormat, Pepper, Peppers, Unauthenticated};
use onepost_core::catalog::{Call, Catalog};
use onepost_core::clock::{Clock, SystemClock};
use onepost_core::error::Dialect;
use onepost_core::http::Gate;
use onepost_core::id::Ids;
use onepost_core::mcp::{Answering, Audit, Faults, Methods, Product, Profile, Refusals, Reported, Server, Version};
use serde_json::{Map, Value, json};

const PROFILE: Profile = Profile {
    name: "conformance",
    title: "Conformance",
    version: env!("CARGO_PKG_VERSION"),
    instructions: None,
    path: "/mcp",
    legacy: &[Version::V2025_11_25, Version::V2025_06_18, Version::V2025_03_26, Version::V2024_11_05, Version::V2024_10_07],
    fallback: Version::V2025_11_25,
    body_limit: 1024 * 1024,
    answer_limit: 3_000_000,
    list_ttl_ms: 300_000,
    logs: true,
    dialect: Dialect::Message,
    refusals: Refusals::Text,
    faults: Faults { unknown_tool: Reported::AsProtocolError, arguments: Reported::AsToolError },
    keys: KeyFormat { prefix: "none" },
    challenge: "Bearer",
};

/// The product: nobody needs a key, and nothing is kept.
struct Conformance {
    peppers: Peppers,
    ids: Ids,
    clock: SystemClock,
    gate: Gate,
}

impl Product for Conformance {
    type Caller = ();
    const PROFILE: &'static Profile = &PROFILE;

    fn catalog() -> Catalog<Self> {
        tools::ALL.iter().chain(asking::ALL).fold(Catalog::new(), |catalog, tool| catalog.with_raw(tool))
    }

    async fn authenticate(&self, _headers: &HeaderMap, _now: Timestamp) -> Result<(), Unauthenticated> {
        Ok(())
    }

    fn principal((): &()) -> String {
        "anybody".to_owned()
    }

    fn audit((): &()) -> Audit {
        Audit { org: "none".to_owned(), key: "none".to_owned() }
    }

    fn gate(&self) -> &Gate {
        &self.gate
    }

    fn peppers(&self) -> &Peppers {
        &self.peppers
    }

    fn clock(&self) -> &dyn Clock {
        &self.clock
    }

    fn ids(&self) -> &Ids {
        &self.ids
    }

    fn methods(&self) -> Option<&dyn Methods<Self>> {
        Some(&BeyondTools)
    }
}

/// Resources, prompts, completion and, in the legacy era, what only a connection could keep: it is taken and forgotten.
struct BeyondTools;

impl Methods<Conformance> for BeyondTools {
    fn capabilities(&self, version: Version) -> Map<String, Value> {
        let resources = if version.is_modern() { json!({}) } else { json!({ "subscribe": true }) };
        let all = json!({ "resources": resources, "prompts": {}, "completions": {} });
        all.as_object().cloned().unwrap_or_default()
    }

    fn answer<'a>(
        &'a self,
        _product: &'a Conformance,
        version: Version,
        method: &'a str,
        params: &'a Value,
        call: Call<'a, ()>,
    ) -> Option<Answering<'a>> {
        let answered = match (method, version.is_modern()) {
            ("resources/list", _) => resources::list(),
            ("resources/templates/list", _) => resources::templates(),
            ("resources/read", _) => resources::read(params, version),
            ("prompts/list", _) => prompts::list(),
            ("prompts/get", _) => prompts::get(params, &call),
            ("completion/complete", _) => prompts::complete(params),
            ("logging/setLevel" | "resources/subscribe" | "resources/unsubscribe", false) => {
                Ok(onepost_core::mcp::Answer::Result(json!({})))
            }
            _ => return None,
        };
        Some(Box::pin(std::future::ready(answered)))
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let ids = Ids::default();
    let peppers = Peppers::new(Pepper::new("1", ids.bytes()), None);
    let gate = Gate { local: true, ..Gate::default() };
    let server = Server::new(Conformance { peppers, ids, clock: SystemClock, gate });
    let front = Front::bind(0)?;
    let mount =
        Mount { prefix: "/conformance".into(), about: "Conformance".into(), paths: vec!["/mcp".into()], endpoint: Arc::new(server) };
    println!("{}/conformance/mcp", front.base_url());
    std::io::stdout().flush()?;
    front.serve(Routes::default().mount(mount), std::future::pending()).await;
    Ok(())
}
