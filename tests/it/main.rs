//! The whole stack, as people and programs meet it.

#![allow(clippy::unwrap_used, reason = "tests may, and Clippy sees only the functions marked as tests")]

mod admin;
mod first_call;
mod plain_http;
mod rust_client;
mod stack;
