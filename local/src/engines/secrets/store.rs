//! Secrets, their versions and the labels that move between these, kept in one JSON file.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::Error;
use crate::data::write_private;

/// The label of the version that a caller gets who names none.
pub const CURRENT: &str = "AWSCURRENT";
/// The label of the version that was current before.
pub const PREVIOUS: &str = "AWSPREVIOUS";

/// What the file says it is, so that a later version can tell.
const FORMAT: u32 = 1;
/// Secrets Manager keeps up to 100 versions; the oldest without a label go first.
const MAX_VERSIONS: usize = 100;
/// Secrets Manager's limit on a value, in bytes.
const MAX_VALUE: usize = 65_536;
/// Account and region are placeholders, and stay the same so that an ARN that somebody noted stays good.
const ARN_PREFIX: &str = "arn:aws:secretsmanager:us-east-1:000000000000:secret:";

/// How many characters an ARN has after its last hyphen, so that a secret made again under its name has another.
const ARN_SUFFIX: usize = 6;

/// One secret. Its `Debug` shows no value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Secret {
    /// 1 to 512 characters of `A-Za-z0-9/_+=.@-`.
    pub name: String,
    /// Ends in a hyphen and six random characters.
    pub arn: String,
    /// Free text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Milliseconds since 1970.
    pub created_ms: i64,
    /// Milliseconds since 1970.
    pub changed_ms: i64,
    /// Oldest first.
    pub versions: Vec<Version>,
}

/// One value that a secret has or had.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Version {
    /// The token of the request that made it: 32 to 64 characters.
    pub id: String,
    /// Labels. Each is on one version of a secret at most.
    pub stages: Vec<String>,
    /// Milliseconds since 1970.
    pub created_ms: i64,
    /// What is secret.
    pub value: SecretValue,
}

/// What is secret: text, or bytes (base64 in files and on the wire). Its `Debug` shows neither.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SecretValue {
    /// Text.
    String(String),
    /// Bytes.
    Binary(#[serde(serialize_with = "to_base64", deserialize_with = "from_base64")] Vec<u8>),
}

impl std::fmt::Debug for SecretValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("[secret]")
    }
}

/// Why Secrets Manager does not do what it was asked, with the message for the caller.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// `ResourceNotFoundException`.
    #[error("{0}")]
    NotFound(String),
    /// `ResourceExistsException`.
    #[error("{0}")]
    Exists(String),
    /// `InvalidParameterException`.
    #[error("{0}")]
    InvalidParameter(String),
    /// `InternalServiceError`: the file cannot be written, and nothing was changed.
    #[error("{0}")]
    Internal(Error),
}

/// All secrets. A change is in the file before its caller hears of it.
#[derive(Debug)]
pub struct SecretStore {
    path: Option<PathBuf>,
    secrets: Mutex<Vec<Secret>>,
}

#[derive(Serialize, Deserialize)]
struct Document {
    format: u32,
    secrets: Vec<Secret>,
}

impl SecretStore {
    /// Opens the secrets of a file; there are none where there is no file.
    ///
    /// # Errors
    /// [`Error::DataFileBroken`] for a file that does not hold secrets, [`Error::FileUnusable`] for one that cannot be
    /// read.
    pub fn open(path: PathBuf) -> Result<SecretStore, Error> {
        let secrets = match std::fs::read(&path) {
            Ok(bytes) => parse(&bytes).map_err(|reason| Error::DataFileBroken { path: path.clone(), reason })?,
            Err(reason) if reason.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            Err(_) if path.is_dir() => return Err(Error::DataFileBroken { path, reason: "it is a folder".into() }),
            Err(reason) => return Err(Error::FileUnusable { path, reason }),
        };
        Ok(SecretStore { path: Some(path), secrets: Mutex::new(secrets) })
    }

    /// Secrets that are gone with this value.
    pub fn memory() -> SecretStore {
        SecretStore { path: None, secrets: Mutex::new(Vec::new()) }
    }

    /// All secrets with all their versions, in the order in which they were made.
    pub fn all(&self) -> Vec<Secret> {
        self.lock().clone()
    }

    /// Puts these in place of all there is.
    ///
    /// # Errors
    /// [`Error::FileUnusable`] where the file cannot be written; nothing has changed then.
    pub fn replace_all(&self, secrets: Vec<Secret>) -> Result<(), Error> {
        let mut current = self.lock();
        self.write(&secrets)?;
        *current = secrets;
        Ok(())
    }

    /// Makes a secret, with a first version where there is a value. The same token with the same value again is the
    /// same request again, and answered as the first time.
    ///
    /// # Errors
    /// [`Refusal::Exists`] where the name is taken, [`Refusal::InvalidParameter`] for a bad name, token or value.
    pub fn create(
        &self,
        name: &str,
        description: Option<String>,
        token: Option<String>,
        value: Option<SecretValue>,
    ) -> Result<Secret, Refusal> {
        check_name(name)?;
        let token = checked_token(token)?;
        value.as_ref().map_or(Ok(()), check_value)?;
        self.change(|secrets| {
            if let Some(existing) = secrets.iter().find(|secret| secret.name == name) {
                let again = existing.versions.iter().any(|version| version.id == token && Some(&version.value) == value.as_ref());
                return if again {
                    Ok(existing.clone())
                } else {
                    Err(Refusal::Exists(format!("The operation failed because the secret {name} already exists.")))
                };
            }
            let now = now_ms();
            let suffix: String = uuid::Uuid::new_v4().simple().to_string().chars().take(ARN_SUFFIX).collect();
            let mut secret = Secret {
                name: name.to_owned(),
                arn: format!("{ARN_PREFIX}{name}-{suffix}"),
                description,
                created_ms: now,
                changed_ms: now,
                versions: Vec::new(),
            };
            if let Some(value) = value {
                secret.versions.push(Version { id: token, stages: vec![CURRENT.into()], created_ms: now, value });
            }
            secrets.push(secret.clone());
            Ok(secret)
        })
    }

    /// Adds a version and puts the labels on it (`AWSCURRENT` where none is named). The version that loses `AWSCURRENT`
    /// gets `AWSPREVIOUS`. The same token with the same value again changes nothing.
    ///
    /// # Errors
    /// [`Refusal::NotFound`], [`Refusal::Exists`] where the token made a version of another value,
    /// [`Refusal::InvalidParameter`] for a bad token, label or value.
    pub fn put(&self, id: &str, token: Option<String>, value: SecretValue, stages: Vec<String>) -> Result<(Secret, Version), Refusal> {
        let token = checked_token(token)?;
        check_value(&value)?;
        check_stages(&stages)?;
        self.change(|secrets| {
            let secret = secrets.iter_mut().find(|secret| secret.answers_to(id)).ok_or_else(no_such_secret)?;
            if let Some(existing) = secret.versions.iter().find(|version| version.id == token) {
                return if existing.value == value {
                    Ok((secret.clone(), existing.clone()))
                } else {
                    Err(Refusal::Exists("You can't modify an existing version, you can only create a new version.".into()))
                };
            }
            let now = now_ms();
            secret.changed_ms = now;
            secret.versions.push(Version { id: token, stages: Vec::new(), created_ms: now, value });
            let added = secret.versions.len() - 1;
            let stages = if stages.is_empty() { vec![CURRENT.to_owned()] } else { stages };
            stages.into_iter().for_each(|stage| secret.label(added, stage));
            let version = secret.versions[added].clone();
            secret.forget_unlabelled();
            Ok((secret.clone(), version))
        })
    }

    /// A secret by name or ARN.
    ///
    /// # Errors
    /// [`Refusal::NotFound`].
    pub fn find(&self, id: &str) -> Result<Secret, Refusal> {
        self.lock().iter().find(|secret| secret.answers_to(id)).cloned().ok_or_else(no_such_secret)
    }

    fn change<T>(&self, change: impl FnOnce(&mut Vec<Secret>) -> Result<T, Refusal>) -> Result<T, Refusal> {
        let mut current = self.lock();
        let mut next = current.clone();
        let answer = change(&mut next)?;
        if next != *current {
            self.write(&next).map_err(Refusal::Internal)?;
            *current = next;
        }
        Ok(answer)
    }

    fn write(&self, secrets: &[Secret]) -> Result<(), Error> {
        let Some(path) = &self.path else { return Ok(()) };
        let document = Document { format: FORMAT, secrets: secrets.to_vec() };
        let mut bytes = serde_json::to_vec_pretty(&document).expect("strings, numbers and lists are JSON");
        bytes.push(b'\n');
        write_private(path, &bytes)
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Secret>> {
        // The list is replaced whole and never seen half changed, so a panic elsewhere has not harmed it.
        self.secrets.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Secret {
    /// The version with this id and this label, both or either; `AWSCURRENT` where neither is named.
    ///
    /// # Errors
    /// [`Refusal::NotFound`], also where id and label name different versions.
    pub fn version(&self, id: Option<&str>, stage: Option<&str>) -> Result<&Version, Refusal> {
        let stage = if id.is_none() { stage.or(Some(CURRENT)) } else { stage };
        self.versions
            .iter()
            .find(|version| {
                id.is_none_or(|id| version.id == id) && stage.is_none_or(|stage| version.stages.iter().any(|label| label == stage))
            })
            .ok_or_else(|| {
                let what = match (id, stage) {
                    (Some(id), _) => format!("VersionId: {id}"),
                    (None, stage) => format!("staging label: {}", stage.unwrap_or(CURRENT)),
                };
                Refusal::NotFound(format!("Secrets Manager can't find the specified secret value for {what}"))
            })
    }

    /// Whether name and ARN are such as Secrets Manager gives; otherwise what is wrong, as the rest of a sentence. A file
    /// and an export may have been written by anybody.
    pub(crate) fn check(&self) -> Result<(), &'static str> {
        check_name(&self.name).map_err(|_| "has a name that no secret can have")?;
        if self.arn_without_suffix().is_some_and(|arn| arn.starts_with("arn:") && arn.ends_with(&format!(":secret:{}", self.name))) {
            Ok(())
        } else {
            Err("has an ARN that does not belong to its name")
        }
    }

    fn answers_to(&self, id: &str) -> bool {
        self.name == id || self.arn == id || self.arn_without_suffix() == Some(id)
    }

    fn arn_without_suffix(&self) -> Option<&str> {
        let (arn, suffix) = self.arn.rsplit_once('-')?;
        (suffix.len() == ARN_SUFFIX && suffix.bytes().all(|byte| byte.is_ascii_alphanumeric())).then_some(arn)
    }

    fn label(&mut self, index: usize, stage: String) {
        let holder = self.versions.iter().position(|version| version.stages.contains(&stage));
        if stage == CURRENT
            && let Some(holder) = holder
        {
            self.take_off(PREVIOUS);
            self.versions[holder].stages.push(PREVIOUS.to_owned());
        }
        self.take_off(&stage);
        self.versions[index].stages.push(stage);
    }

    fn take_off(&mut self, stage: &str) {
        self.versions.iter_mut().for_each(|version| version.stages.retain(|label| label != stage));
    }

    fn forget_unlabelled(&mut self) {
        while self.versions.len() > MAX_VERSIONS
            && let Some(oldest) = self.versions.iter().position(|version| version.stages.is_empty())
        {
            self.versions.remove(oldest);
        }
    }
}

/// Reads the file. The reason never quotes it: the parser's own messages would.
fn parse(bytes: &[u8]) -> Result<Vec<Secret>, String> {
    let document: Document = serde_json::from_slice(bytes)
        .map_err(|error| format!("it is not what it should be at line {}, column {}", error.line(), error.column()))?;
    if document.format != FORMAT {
        return Err(format!("it is of format {}, and this version knows {FORMAT}", document.format));
    }
    for (secret, number) in document.secrets.iter().zip(1..) {
        secret.check().map_err(|fault| format!("its secret {number} {fault}"))?;
    }
    Ok(document.secrets)
}

fn no_such_secret() -> Refusal {
    Refusal::NotFound("Secrets Manager can't find the specified secret.".into())
}

fn check_name(name: &str) -> Result<(), Refusal> {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"/_+=.@-".contains(&byte);
    if !(1..=512).contains(&name.len()) || !name.bytes().all(allowed) {
        return Err(Refusal::InvalidParameter(
            "Invalid name. Must be a valid name containing alphanumeric characters, or any of the following: -/_+=.@".into(),
        ));
    }
    Ok(())
}

fn checked_token(token: Option<String>) -> Result<String, Refusal> {
    let token = token.unwrap_or_else(|| uuid::Uuid::new_v4().to_string());
    if !(32..=64).contains(&token.len()) {
        return Err(Refusal::InvalidParameter("ClientRequestToken must be 32-64 characters long.".into()));
    }
    Ok(token)
}

fn check_value(value: &SecretValue) -> Result<(), Refusal> {
    let length = match value {
        SecretValue::String(text) => text.len(),
        SecretValue::Binary(bytes) => bytes.len(),
    };
    if !(1..=MAX_VALUE).contains(&length) {
        return Err(Refusal::InvalidParameter(format!("The secret value must have 1 to {MAX_VALUE} bytes.")));
    }
    Ok(())
}

fn check_stages(stages: &[String]) -> Result<(), Refusal> {
    if stages.len() > 20 || stages.iter().any(|stage| !(1..=256).contains(&stage.len())) {
        return Err(Refusal::InvalidParameter("VersionStages holds at most 20 labels of 1 to 256 characters.".into()));
    }
    Ok(())
}

fn now_ms() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}

fn to_base64<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&BASE64.encode(bytes))
}

fn from_base64<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    let text = String::deserialize(deserializer)?;
    BASE64.decode(text).map_err(|_| serde::de::Error::custom("not base64"))
}
