//! Tools whose schema and content are written by hand.
//!
//! Products derive both from types. This is for servers that must say what types cannot: every kind of content, every
//! keyword of JSON Schema. Nothing is checked or coerced on the way to such a tool.

use std::future::Future;
use std::pin::Pin;

use serde_json::Value;

use super::tool::{Call, Complete, Erased, Rendered, Running, ToolSpec};
use crate::error::ToolError;
use crate::mcp::{Ask, Product};

/// A tool that takes and shows JSON as it is.
pub trait RawTool<P: Product>: Send + Sync + 'static {
    /// What it is called, says of itself and promises.
    fn spec(&self) -> &'static ToolSpec;

    /// What is advertised for its arguments; the root must be an object.
    fn input_schema(&self) -> Value;

    /// Does the work.
    fn call<'a>(&'a self, product: &'a P, call: Call<'a, P::Caller>, arguments: Value) -> Showing<'a>;
}

/// A raw tool at work.
pub type Showing<'a> = Pin<Box<dyn Future<Output = Result<Shown, ToolError>> + Send + 'a>>;

/// What a raw tool shows.
#[derive(Debug)]
pub enum Shown {
    /// The blocks of `content`.
    Content(Vec<Value>),
    /// A question to the person first.
    Ask(Ask),
}

pub(super) struct Raw<T>(pub(super) T);

impl<P: Product, T: RawTool<P>> Erased<P> for Raw<T> {
    fn call<'a>(&'a self, product: &'a P, call: Call<'a, P::Caller>, arguments: Value) -> Running<'a> {
        Box::pin(async move {
            Ok(match self.0.call(product, call, arguments).await? {
                Shown::Content(raw) => Rendered::Complete(Complete { raw, ..Complete::default() }),
                Shown::Ask(ask) => Rendered::Ask(ask),
            })
        })
    }
}
