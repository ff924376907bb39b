//! What every endpoint stands on, without AWS and without a product.
//!
//! A request goes one way through these modules:
//!
//! ```text
//! http ─► auth ─► jsonrpc ─► mcp ─► catalog ─► a product's tool
//! shape   who?    envelope   era,    find,
//!                            version validate
//! ```
//!
//! A product implements [`mcp::Product`], writes one type per tool ([`catalog::Tool`]), and gets an
//! [`http::Endpoint`] that any transport can serve.

pub mod auth;
pub mod catalog;
pub mod clock;
pub mod error;
pub mod http;
pub mod id;
pub mod json;
pub mod jsonrpc;
pub mod mcp;
pub mod seal;
pub mod stdio;
