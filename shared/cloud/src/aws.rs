//! AWS clients, built once at start.

use std::time::Duration;

use aws_config::timeout::TimeoutConfig;
use aws_config::{BehaviorVersion, Region, SdkConfig};
use aws_credential_types::Credentials;
use aws_smithy_http_client::tls::{self, rustls_provider::CryptoMode};
use aws_smithy_runtime_api::client::http::SharedHttpClient;
use aws_smithy_types::retry::RetryConfig;

/// How long one attempt at a call may take. A call that takes longer is tried again.
const ATTEMPT: Duration = Duration::from_secs(2);

/// The configuration that the environment gives: region, credentials and `AWS_ENDPOINT_URL…`, as Lambda and the
/// AWS command line set them.
pub async fn from_environment() -> SdkConfig {
    with_our_timeouts(aws_config::defaults(BehaviorVersion::latest())).http_client(https()).load().await
}

/// The configuration for an engine on this machine.
pub async fn on_this_machine(endpoint: &str) -> SdkConfig {
    let credentials = Credentials::new("local", "local", None, None, "local stack");
    with_our_timeouts(aws_config::defaults(BehaviorVersion::latest()))
        .http_client(aws_smithy_http_client::Builder::new().build_http())
        .endpoint_url(endpoint)
        .region(Region::new("local"))
        .credentials_provider(credentials)
        .load()
        .await
}

/// The table's retries are ours ([`crate::table`] tells a lost answer from a refusal), so the SDK makes none.
fn with_our_timeouts(loader: aws_config::ConfigLoader) -> aws_config::ConfigLoader {
    let timeouts = TimeoutConfig::builder().connect_timeout(Duration::from_secs(1)).operation_attempt_timeout(ATTEMPT).build();
    loader.retry_config(RetryConfig::disabled()).timeout_config(timeouts)
}

/// One TLS stack, on ring: the SDK's own default spends 50 ms of a core collecting entropy at the first handshake.
fn https() -> SharedHttpClient {
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
