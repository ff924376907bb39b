//! The whole stack, as people and programs meet it.

mod admin;
mod first_call;
mod rust_client;
mod stack;
