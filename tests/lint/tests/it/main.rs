//! Each rule fires on a list that breaks it and is silent on one that does not; and the fixture product keeps to them.

#![allow(clippy::unwrap_used, reason = "tests may, and Clippy sees only the functions marked as tests")]

mod hints;
mod ids;
mod library;
mod lists;
mod policy;
mod prose;
mod schema;
mod shop;
mod values;
