//! The operator's command line: organisations, members and keys of checklists, on the local stack or on a real table.
//!
//! [`cli`] says what can be asked, [`connect`] finds the table, [`answer`] is what is printed, as text or as JSON.

pub mod answer;
pub mod cli;
pub mod connect;
