//! Checklists: teams write templates, dispatch runs, and people with phones complete them.
//!
//! The package reads top down: `bin/` (a few lines per Lambda) → [`tools`] (arguments, results, handlers) → the rules
//! ([`assets`], [`members`], [`plan`], and the crate `checklists_rules` for templates and runs) → [`store`] (the only
//! place that builds table requests) → the shared crates.

pub mod assets;
mod caller;
pub mod demo;
pub mod links;
pub mod mail;
pub mod members;
pub mod operator;
pub mod plan;
mod product;
pub mod settings;
pub mod store;
pub mod tools;

pub use caller::{Caller, KeyCheck};
pub use product::{Checklists, KEYS};
