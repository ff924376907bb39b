//! Secrets Manager: the calls that a product and its operator make, at the wire.
//!
//! | call | as in the cloud | not here |
//! | --- | --- | --- |
//! | `CreateSecret` | name rules, idempotent by `ClientRequestToken` | tags, KMS keys, replicas: accepted and ignored |
//! | `PutSecretValue` | moves `AWSCURRENT`, leaves `AWSPREVIOUS` behind, own labels, idempotent | |
//! | `GetSecretValue` | by name, ARN or ARN without its suffix; by version id or label | |
//! | `DescribeSecret`, `ListSecretVersionIds` | the versions and their labels | pages: 100 versions fit one |
//!
//! Everything else is an `UnknownOperationException`.

mod store;
mod wire;

use std::sync::Arc;

pub use store::{Refusal, Secret, SecretStore, SecretValue, Version};

use super::STOP_WITHIN;
use crate::Error;
use crate::error::one_line;
use crate::loopback::{self, Served};

/// A running Secrets Manager. Dropped without [`SecretsManager::stop`], it stops on its own a little later.
pub struct SecretsManager {
    url: String,
    store: Arc<SecretStore>,
    server: Served,
}

impl SecretsManager {
    /// Serves the store on 127.0.0.1, on a port that the operating system picks.
    ///
    /// # Errors
    /// [`Error::Engine`] where no port can be had.
    pub async fn start(store: SecretStore) -> Result<SecretsManager, Error> {
        let failed = |reason: std::io::Error| Error::Engine { engine: "Secrets Manager", reason: one_line(reason) };
        let listener = loopback::listen(0).map_err(failed)?;
        let url = loopback::url(&listener).map_err(failed)?;
        let store = Arc::new(store);
        let router = wire::router(store.clone());
        let server = Served::start(|stopping| super::serve(listener, router, stopping.wait()));
        Ok(SecretsManager { url, store, server })
    }

    /// Where it listens: the endpoint URL for an SDK client, with any credentials and any region.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The secrets themselves.
    pub fn store(&self) -> &Arc<SecretStore> {
        &self.store
    }

    /// Answers the requests that run and stops. Waits 5 seconds at most for a client that does not finish its request.
    pub async fn stop(self) {
        self.server.stop(STOP_WITHIN).await;
    }
}
