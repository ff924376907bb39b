//! The core through its front door: bytes in, bytes out, over a small library of books that serves under each of the
//! four rulings that products of this suite have.
//!
//! A comment such as `D25` names a fault that people met in servers like this one; the test keeps the right answer.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking, and so may what it is made of")]

mod calls;
mod coercion;
mod cors;
mod envelope;
mod field_reports;
mod input;
mod modern;
mod noise;
mod notices;
mod odd_requests;
mod record;
mod results;
mod schemas;
mod scopes;
mod situations;
mod stdio;
mod transport;
mod versions;
