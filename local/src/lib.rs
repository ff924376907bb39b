//! The whole stack in one process: the products on one HTTP port, on engines that are part of this program.
//!
//! | module | knows | does |
//! | --- | --- | --- |
//! | [`stack`] | what runs together | starts it, mounts the products, stops it with nothing lost |
//! | [`products`] | what each product needs | makes its table, its secret and its demo organisation |
//! | [`front`] | HTTP on one port | hands each product whole requests under its own prefix |
//! | [`engines`] | DynamoDB, Secrets Manager | serves their wire protocols on loopback, for the real AWS SDK clients |
//! | [`data`] | the data folder | makes it private, marks and locks it, writes its files so that a crash leaves the old or the new |
//! | [`transfer`] | the export's lines | everything out of a data folder, and into another |
//! | [`error`] | what may go wrong | one clear line for whoever started the program |
//!
//! Everything listens on 127.0.0.1 alone.

pub mod data;
pub mod engines;
pub mod error;
pub mod front;
mod loopback;
pub mod products;
pub mod stack;
pub mod transfer;

pub use error::Error;
