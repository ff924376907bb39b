//! The rules through their public names: documents in, templates or faults out; commands in, changes or refusals out.

#![allow(clippy::unwrap_used, reason = "tests may, and Clippy sees only the functions marked as tests")]

mod answers;
mod conditions;
mod executing;
mod fixtures;
mod runs;
mod schedules;
mod schema_oracle;
mod scores;
mod templates;
mod violations;
