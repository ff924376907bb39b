//! AWS clients, built once at start.

use std::env;
use std::time::Duration;

use aws_credential_types::Credentials;
use aws_credential_types::provider::SharedCredentialsProvider;
use aws_smithy_http_client::tls::{self, rustls_provider::CryptoMode};
use aws_smithy_runtime_api::client::behavior_version::BehaviorVersion;
use aws_smithy_runtime_api::client::http::SharedHttpClient;
use aws_smithy_types::retry::RetryConfig;
use aws_smithy_types::timeout::TimeoutConfig;
use aws_types::SdkConfig;
use aws_types::region::Region;
use thiserror::Error;

/// How long one attempt at a call may take. A call that takes longer is tried again.
const ATTEMPT: Duration = Duration::from_secs(2);

/// The environment lacks what AWS clients need.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0} is missing in the environment; Lambda sets it")]
pub struct MissingVariable(&'static str);

/// What a function is told by its environment, and by nothing else: no configuration file is read, no metadata service
/// is asked.
#[derive(Debug, Clone)]
pub struct Environment(SdkConfig);

impl Environment {
    /// Reads region and credentials, as Lambda sets them.
    pub fn read() -> Result<Self, MissingVariable> {
        let required = |name: &'static str| variable(name).ok_or(MissingVariable(name));
        let region = variable("AWS_REGION").or_else(|| variable("AWS_DEFAULT_REGION")).ok_or(MissingVariable("AWS_REGION"))?;
        let (id, secret) = (required("AWS_ACCESS_KEY_ID")?, required("AWS_SECRET_ACCESS_KEY")?);
        let credentials = Credentials::new(id, secret, variable("AWS_SESSION_TOKEN"), None, "environment");
        Ok(Self(config(Region::new(region), credentials, https()).build()))
    }

    /// For the table. `AWS_ENDPOINT_URL_DYNAMODB` or `AWS_ENDPOINT_URL` lead it to an emulator.
    pub fn dynamodb(&self) -> SdkConfig {
        self.at("AWS_ENDPOINT_URL_DYNAMODB")
    }

    /// For secrets. `AWS_ENDPOINT_URL_SECRETS_MANAGER` or `AWS_ENDPOINT_URL` lead it to an emulator.
    pub fn secrets_manager(&self) -> SdkConfig {
        self.at("AWS_ENDPOINT_URL_SECRETS_MANAGER")
    }

    fn at(&self, name: &str) -> SdkConfig {
        let mut builder = self.0.to_builder();
        builder.set_endpoint_url(variable(name).or_else(|| variable("AWS_ENDPOINT_URL")));
        builder.build()
    }
}

fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.trim().is_empty())
}

/// The configuration for an engine on this machine.
pub fn on_this_machine(endpoint: &str) -> SdkConfig {
    let credentials = Credentials::new("local", "local", None, None, "local stack");
    config(Region::new("local"), credentials, aws_smithy_http_client::Builder::new().build_http()).endpoint_url(endpoint).build()
}

/// The table's retries are ours ([`crate::table`] tells a lost answer from a refusal), so the SDK makes none.
fn config(region: Region, credentials: Credentials, client: SharedHttpClient) -> aws_types::sdk_config::Builder {
    SdkConfig::builder()
        .behavior_version(BehaviorVersion::latest())
        .region(region)
        .credentials_provider(SharedCredentialsProvider::new(credentials))
        .http_client(client)
        .retry_config(RetryConfig::disabled())
        .timeout_config(timeouts())
}

/// How long a connection and one attempt may take.
pub fn timeouts() -> TimeoutConfig {
    TimeoutConfig::builder().connect_timeout(Duration::from_secs(1)).operation_attempt_timeout(ATTEMPT).build()
}

/// One TLS stack, on ring: the SDK's own default spends 50 ms of a core collecting entropy at the first handshake.
pub fn https() -> SharedHttpClient {
    aws_smithy_http_client::Builder::new().tls_provider(tls::Provider::Rustls(CryptoMode::Ring)).build_https()
}

/// What the log says of an SDK error: the messages of its causes, and nothing of requests and answers, which hold data.
pub(crate) fn text_of(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let message = error.to_string();
        if !text.ends_with(&message) {
            text.push_str(": ");
            text.push_str(&message);
        }
        cause = error.source();
    }
    text
}
