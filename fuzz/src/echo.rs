//! A product whose only tools tell which arguments they got, under whatever schema is to be tried: what a tool gets is
//! what the checker of arguments let through and what it made of it.

use std::borrow::Cow;
use std::cell::RefCell;

use bytes::Bytes;
use http::{HeaderMap, Request};
use jiff::Timestamp;
use onepost_core::auth::{KeyFormat, Pepper, Peppers, Unauthenticated};
use onepost_core::catalog::{Call, Catalog, Nulls, Reply, Tool, ToolSpec, Unknown};
use onepost_core::clock::{Clock, ManualClock};
use onepost_core::error::{Dialect, ToolError};
use onepost_core::http::{Endpoint, Gate};
use onepost_core::id::Ids;
use onepost_core::mcp::{Audit, Faults, Product, Profile, Refusals, Reported, Server, Version};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{finish, forgiving};

thread_local! {
    static SCHEMA: RefCell<Value> = const { RefCell::new(Value::Null) };
}

const PROFILE: Profile = Profile {
    name: "echo",
    title: "Echo",
    version: "1.0.0",
    instructions: None,
    path: "/mcp",
    legacy: &[Version::V2025_11_25],
    fallback: Version::V2025_11_25,
    body_limit: 1 << 20,
    answer_limit: 8 << 20,
    list_ttl_ms: 0,
    logs: false,
    dialect: Dialect::CodeAndMessage,
    refusals: Refusals::Text,
    faults: Faults { unknown_tool: Reported::AsProtocolError, arguments: Reported::AsProtocolError },
    keys: KeyFormat { prefix: "echo" },
    challenge: "Bearer",
};

/// The product.
pub struct Echo {
    gate: Gate,
    peppers: Peppers,
    clock: ManualClock,
    ids: Ids,
}

impl Product for Echo {
    type Caller = ();
    const PROFILE: &'static Profile = &PROFILE;

    fn catalog() -> Catalog<Self> {
        Catalog::new().with::<Keep>().with::<Change>()
    }

    async fn authenticate(&self, _headers: &HeaderMap, _now: Timestamp) -> Result<(), Unauthenticated> {
        Ok(())
    }

    fn principal((): &()) -> String {
        String::new()
    }

    fn audit((): &()) -> Audit {
        Audit { org: String::new(), key: String::new() }
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
}

/// Arguments under the schema that is being tried.
#[derive(Deserialize)]
struct Given(Value);

impl JsonSchema for Given {
    fn schema_name() -> Cow<'static, str> {
        "Given".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        SCHEMA.with_borrow(Clone::clone).try_into().expect("the schema that is tried is an object")
    }
}

#[derive(Serialize, JsonSchema)]
struct Got {
    /// The arguments, as the tool got them.
    arguments: Value,
}

macro_rules! echo {
    ($tool:ident, $name:literal, $nulls:ident) => {
        struct $tool;

        impl Tool for $tool {
            type Product = Echo;
            type Args = Given;
            type Output = Got;
            // Whether unknown arguments are refused is the schema's matter here.
            const SPEC: ToolSpec = ToolSpec {
                name: $name,
                title: $name,
                description: $name,
                nulls: Nulls::$nulls,
                unknown: Unknown::PassOn,
                ..ToolSpec::STRICT
            };

            async fn call(_: &Echo, _: Call<'_, ()>, given: Given) -> Result<Reply<Got>, ToolError> {
                Ok(Got { arguments: given.0 }.into())
            }
        }
    };
}

echo!(Keep, "keep", Absent);
echo!(Change, "change", Refused);

/// The checker under one schema.
pub struct Checker {
    server: Server<Echo>,
    /// What is advertised, which is what is checked.
    pub advertised: Value,
}

impl Checker {
    /// Builds one; `None` for a schema that cannot be advertised.
    pub fn under(schema: &Value) -> Option<Self> {
        SCHEMA.replace(schema.clone());
        let peppers = Peppers::new(Pepper::new("1", [7; 32]), None);
        let echo = Echo { gate: Gate::default(), peppers, clock: ManualClock::at(Timestamp::UNIX_EPOCH), ids: Ids::default() };
        let server = forgiving(|| Server::new(echo))?;
        let advertised = server.catalog().specs().next().map(|(_, input, _)| input.clone())?;
        Some(Self { server, advertised })
    }

    /// Calls a tool with arguments, as JSON text: what it got, or the error in the place of that.
    ///
    /// # Panics
    /// If the answer is neither.
    pub fn call(&self, nulls: Nulls, arguments: &str) -> Result<Value, Value> {
        let tool = if nulls == Nulls::Absent { "keep" } else { "change" };
        let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}}}}}"#);
        let request = Request::post("/mcp").header("content-type", "application/json").header("mcp-protocol-version", "2025-11-25");
        let request = request.body(Bytes::from(body)).expect("a request of this form is one");
        let response = finish(self.server.answer(request), || {});
        let answer: Value = serde_json::from_slice(response.body()).expect("every answer is JSON");
        match (answer.get("error"), answer["result"]["structuredContent"].get("arguments")) {
            (Some(error), None) => Err(error.clone()),
            (None, Some(arguments)) => Ok(arguments.clone()),
            _ => panic!("neither arguments nor an error: {}", json!(answer)),
        }
    }
}
