//! The product through its front door: bytes in, bytes out, on a real SDK client and an embedded DynamoDB.

mod asset_lists;
mod assets;
mod keys;
mod members;
mod run_deletion;
mod run_lists;
mod run_states;
mod runs;
mod templates;
mod model;
mod world;
