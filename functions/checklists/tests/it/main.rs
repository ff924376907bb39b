//! The product through its front door: bytes in, bytes out, on a real SDK client and an embedded DynamoDB.

mod assets;
mod world;
