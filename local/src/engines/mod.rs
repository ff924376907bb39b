//! The services that the products stand on in the cloud, served from this process over their own wire protocols, so that
//! the products run here on the same code path, with the real AWS SDK clients and another endpoint URL.
//!
//! They listen on ports that the operating system picks, and believe whoever reaches them: whoever can open a connection
//! to this machine's loopback can read what they hold, as with every emulator of these services.

pub mod dynamodb;
pub mod secrets;

use std::time::Duration;

/// How long a stopping engine waits for requests that run. They take milliseconds; only a client that has sent half a
/// request reaches this.
const STOP_WITHIN: Duration = Duration::from_secs(5);
