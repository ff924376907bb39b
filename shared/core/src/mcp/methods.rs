//! Methods beyond tools: resources, prompts, completion.
//!
//! The products of this suite have tools only. What a server with more needs is kept to this one door: the capabilities
//! to advertise, and the methods behind them.

use std::future::Future;
use std::pin::Pin;

use serde_json::{Map, Value};

use super::{Ask, Product, Version};
use crate::catalog::Call;
use crate::jsonrpc::Error;

/// What a server has beyond tools.
pub trait Methods<P: Product>: Send + Sync {
    /// The members of `capabilities` beside `tools`.
    fn capabilities(&self, version: Version) -> Map<String, Value>;

    /// Answers a request, or `None` where this version has no such method here.
    fn answer<'a>(
        &'a self,
        product: &'a P,
        version: Version,
        method: &'a str,
        params: &'a Value,
        call: Call<'a, P::Caller>,
    ) -> Option<Answering<'a>>;
}

/// A method at work.
pub type Answering<'a> = Pin<Box<dyn Future<Output = Result<Answer, Error>> + Send + 'a>>;

/// What a method answers.
#[derive(Debug)]
pub enum Answer {
    /// A result, without the era's own members.
    Result(Value),
    /// A result that may be kept for a while, the same for every caller.
    Cacheable(Value),
    /// A question to the person first.
    Ask(Ask),
}
