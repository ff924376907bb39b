//! Tools that show every kind of content, progress, log messages and every keyword of a schema.

use onepost_core::catalog::{Call, Hints, RawTool, Showing, Shown, ToolSpec};
use onepost_core::error::ToolError;
use onepost_core::mcp::Level;
use serde_json::{Value, json};

use crate::{Conformance, content};

/// A tool as data.
pub struct Exhibit {
    pub spec: ToolSpec,
    pub schema: fn() -> Value,
    pub show: fn(&Call<'_, ()>) -> Result<Shown, ToolError>,
}

impl RawTool<Conformance> for &'static Exhibit {
    fn spec(&self) -> &'static ToolSpec {
        &self.spec
    }

    fn input_schema(&self) -> Value {
        (self.schema)()
    }

    fn call<'a>(&'a self, _product: &'a Conformance, call: Call<'a, ()>, _arguments: Value) -> Showing<'a> {
        Box::pin(async move { (self.show)(&call) })
    }
}

pub const fn named(name: &'static str, description: &'static str) -> ToolSpec {
    ToolSpec { name, title: name, description, hints: Hints::READ, ..ToolSpec::STRICT }
}

pub fn no_arguments() -> Value {
    json!({ "type": "object", "properties": {} })
}

fn shown(content: impl Into<Vec<Value>>) -> Result<Shown, ToolError> {
    Ok(Shown::Content(content.into()))
}

/// The first one takes no arguments: a scenario of the suite calls whichever is first without any.
pub const ALL: &[Exhibit] = &[
    Exhibit {
        spec: named("test_simple_text", "Answers a text."),
        schema: no_arguments,
        show: |_| shown([content::text("A text, and nothing but a text.")]),
    },
    Exhibit { spec: named("test_image_content", "Answers an image."), schema: no_arguments, show: |_| shown([content::image()]) },
    Exhibit { spec: named("test_audio_content", "Answers a sound."), schema: no_arguments, show: |_| shown([content::audio()]) },
    Exhibit {
        spec: named("test_embedded_resource", "Answers a resource with its text."),
        schema: no_arguments,
        show: |_| shown([content::resource("test://embedded-resource", "text/plain", "The text of a resource.")]),
    },
    Exhibit {
        spec: named("test_multiple_content_types", "Answers a text, an image and a resource."),
        schema: no_arguments,
        show: |_| {
            let resource = content::resource("test://mixed-content-resource", "application/json", r#"{"kind":"mixed","parts":3}"#);
            shown([content::text("Three kinds of content:"), content::image(), resource])
        },
    },
    Exhibit {
        spec: named("test_error_handling", "Fails, always."),
        schema: no_arguments,
        show: |_| Err(ToolError::conflict("as_intended", "This tool fails, as it is meant to.")),
    },
    Exhibit {
        spec: named("test_tool_with_progress", "Tells three times how far it is, if it is asked to."),
        schema: no_arguments,
        show: |call| {
            for progress in [0.0, 50.0, 100.0] {
                call.progress(progress, Some(100.0));
            }
            shown([content::text("Arrived.")])
        },
    },
    Exhibit {
        spec: named("test_tool_with_logging", "Says three things on its way."),
        schema: no_arguments,
        show: |call| {
            for said in ["begun", "half-way", "done"] {
                call.log(Level::Info, &json!(said));
            }
            shown([content::text("Said it all.")])
        },
    },
    Exhibit {
        spec: named("test_logging_tool", "Says one thing, to clients that want to hear it."),
        schema: no_arguments,
        show: |call| {
            call.log(Level::Info, &json!("heard by those who asked"));
            shown([content::text("Said it.")])
        },
    },
    Exhibit {
        spec: named("json_schema_2020_12_tool", "Has a schema of every construction."),
        schema: every_construction,
        show: |_| shown([content::text("The schema was the point.")]),
    },
    Exhibit {
        spec: named("test_custom_headers", "Takes an argument that is repeated as a header."),
        schema: || {
            json!({
                "type": "object",
                "properties": {
                    "region": { "type": "string", "description": "Where to.", "x-mcp-header": "Region" },
                    "priority": { "type": "integer", "description": "How urgent.", "x-mcp-header": "Priority" },
                    "note": { "type": "string", "description": "Not repeated." },
                },
            })
        },
        show: |_| shown([content::text("Header and argument agree.")]),
    },
];

/// Checks that what a schema says beyond types reaches the client as it was written.
fn every_construction() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": { "street": { "type": "string" }, "city": { "type": "string" } },
            },
        },
        "properties": {
            "name": { "type": "string" },
            "address": { "$ref": "#/$defs/address" },
            "contactMethod": { "type": "string", "enum": ["phone", "email"] },
            "phone": { "type": "string" },
            "email": { "type": "string" },
        },
        "allOf": [{ "anyOf": [{ "required": ["phone"] }, { "required": ["email"] }] }],
        "if": { "properties": { "contactMethod": { "const": "phone" } }, "required": ["contactMethod"] },
        "then": { "required": ["phone"] },
        "else": { "required": ["email"] },
        "additionalProperties": false,
    })
}
