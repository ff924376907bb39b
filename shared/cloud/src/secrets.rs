//! Secrets Manager: the pepper, fetched once at start.

use aws_sdk_secretsmanager::Client;
use aws_sdk_secretsmanager::error::SdkError;
use aws_smithy_types::retry::RetryConfig;
use aws_types::SdkConfig;
use onepost_core::auth::{Pepper, Peppers};
use thiserror::Error;

use crate::aws::text_of;

/// The pepper could not be had. Each is one line.
#[derive(Debug, Error)]
pub enum SecretError {
    /// Secrets Manager could not be asked.
    #[error("Secrets Manager cannot be asked for {name}: {cause}. Check the network, the region and the credentials.")]
    Unanswered {
        /// The secret's name or ARN.
        name: String,
        /// What happened.
        cause: String,
    },
    /// Secrets Manager refused.
    #[error("Secrets Manager does not hand out {name}: {cause}")]
    Refused {
        /// The secret's name or ARN.
        name: String,
        /// What the service said.
        cause: String,
    },
    /// It holds something else than 64 hexadecimal digits.
    #[error("The secret {name} must hold 64 hexadecimal digits (32 random bytes).")]
    Malformed {
        /// The secret's name or ARN.
        name: String,
    },
}

/// Reads the current and, after a rotation, the previous version of the pepper, both at once.
pub async fn peppers(config: &SdkConfig, name: &str) -> Result<Peppers, SecretError> {
    // Unlike the table's, these reads are the SDK's to repeat: without the pepper no call can be served.
    let retries = RetryConfig::standard().with_max_attempts(4);
    let client = Client::from_conf(aws_sdk_secretsmanager::config::Builder::from(config).retry_config(retries).build());
    let (current, previous) = futures_util::join!(version(&client, name, "AWSCURRENT"), version(&client, name, "AWSPREVIOUS"));
    let current = current?.ok_or_else(|| SecretError::Refused { name: name.into(), cause: "it has no current version".into() })?;
    Ok(Peppers::new(current, previous?))
}

/// One version, or `None` where there is none with this stage.
async fn version(client: &Client, name: &str, stage: &str) -> Result<Option<Pepper>, SecretError> {
    let answer = match client.get_secret_value().secret_id(name).version_stage(stage).send().await {
        Ok(answer) => answer,
        Err(error) if stage == "AWSPREVIOUS" && error.as_service_error().is_some_and(|error| error.is_resource_not_found_exception()) => {
            return Ok(None);
        }
        Err(error) => {
            let (name, cause) = (name.to_owned(), text_of(&error));
            return Err(match error {
                SdkError::ServiceError(_) => SecretError::Refused { name, cause },
                _ => SecretError::Unanswered { name, cause },
            });
        }
    };
    let secret = answer.secret_string().and_then(from_hex).ok_or_else(|| SecretError::Malformed { name: name.into() })?;
    Ok(Some(Pepper::new(answer.version_id().unwrap_or(stage), secret)))
}

/// A pepper as the secret holds it.
pub fn to_hex(secret: &[u8; 32]) -> String {
    secret.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn from_hex(text: &str) -> Option<[u8; 32]> {
    let text = text.trim();
    if text.len() != 64 || !text.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    let mut bytes = [0; 32];
    for (byte, at) in bytes.iter_mut().zip((0..64).step_by(2)) {
        *byte = u8::from_str_radix(&text[at..at + 2], 16).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pepper_is_written_and_read_in_hexadecimal() {
        let secret: [u8; 32] = std::array::from_fn(|index| u8::try_from(index * 8).unwrap());
        assert_eq!(from_hex(&to_hex(&secret)), Some(secret));
        assert_eq!(from_hex(&format!("{}\n", to_hex(&secret))), Some(secret));
    }

    #[test]
    fn anything_else_is_no_pepper() {
        for text in ["", "secret", &"g".repeat(64), &"a".repeat(63), &"é".repeat(32), &"+f".repeat(32)] {
            assert_eq!(from_hex(text), None, "{text}");
        }
    }
}
