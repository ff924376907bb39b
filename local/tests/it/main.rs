//! The local stack: its engines with the real SDK clients, its front with broken clients, its program with signals.

#![allow(clippy::unwrap_used, reason = "tests may, and Clippy sees only the functions marked as tests")]

mod clients;
mod dynamodb;
mod dynamodb_wire;
mod front;
mod program;
mod secrets;
mod stack;
mod transfer;
