//! The local stack: its engines with the real SDK clients, its front with broken clients, its program with signals.

mod clients;
mod dynamodb;
mod front;
mod program;
mod secrets;
mod stack;
mod transfer;
