//! The product through its front door: bytes in, bytes out, on a real SDK client and an embedded DynamoDB.

#![allow(clippy::unwrap_used, reason = "tests may, and Clippy sees only the functions marked as tests")]

mod asset_lists;
mod assets;
mod canary;
mod catalog;
mod costs;
mod faults;
mod field_reports;
mod isolation;
mod keys;
mod limits;
mod mail;
mod members;
mod model;
mod run_deletion;
mod run_lists;
mod run_states;
mod runs;
mod templates;
mod world;
