//! The secret that key digests are made under.

use ring::hmac::{self, HMAC_SHA256};

use super::key::{KeyDigest, KeyDigests, PlainKey};

/// One version of the pepper: 32 random bytes that live in Secrets Manager and never in a table.
#[derive(Clone)]
pub struct Pepper {
    version: Box<str>,
    key: hmac::Key,
}

impl Pepper {
    /// A pepper and the name of its version.
    pub fn new(version: &str, secret: [u8; 32]) -> Self {
        Self { version: version.into(), key: hmac::Key::new(HMAC_SHA256, &secret) }
    }

    /// A key for another purpose, derived from this pepper. Never the pepper itself.
    pub(crate) fn subkey(&self, purpose: &str) -> [u8; 32] {
        let tag = hmac::sign(&self.key, format!("subkey/{purpose}").as_bytes());
        tag.as_ref().try_into().expect("HMAC-SHA-256 answers 32 bytes")
    }

    fn digest(&self, key: &PlainKey) -> KeyDigest {
        let tag = hmac::sign(&self.key, key.reveal().as_bytes());
        KeyDigest(tag.as_ref().try_into().expect("HMAC-SHA-256 answers 32 bytes"))
    }

    /// Compared in constant time.
    fn verifies(&self, key: &PlainKey, digest: &KeyDigest) -> bool {
        hmac::verify(&self.key, key.reveal().as_bytes(), &digest.0).is_ok()
    }
}

impl std::fmt::Debug for Pepper {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pepper").field("version", &self.version).finish_non_exhaustive()
    }
}

/// Which version of the pepper a key was verified under.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verified {
    /// The current one.
    Current,
    /// The previous one: the digests should be written anew, or the key dies with the next rotation.
    Previous,
}

/// The current pepper and, after a rotation, the one before it.
///
/// After a rotation old and new instances run side by side: the old ones hold versions 1 and 0, the new ones 2 and 1.
/// A key that either writes must open for both, so it is stored under every version that the writer holds.
#[derive(Debug, Clone)]
pub struct Peppers {
    current: Pepper,
    previous: Option<Pepper>,
}

impl Peppers {
    /// Both versions, as Secrets Manager holds them.
    pub fn new(current: Pepper, previous: Option<Pepper>) -> Self {
        Self { current, previous }
    }

    /// The same peppers after `next` has become the current one.
    pub fn rotated(&self, next: Pepper) -> Self {
        Self { current: next, previous: Some(self.current.clone()) }
    }

    /// The digests to store for a key: one under each version.
    pub fn digests(&self, key: &PlainKey) -> KeyDigests {
        self.all().map(|pepper| (pepper.version.to_string(), pepper.digest(key))).collect()
    }

    /// Whether one of `digests` was made from `key`. A key whose digests are of other versions is unknown.
    pub fn verify(&self, key: &PlainKey, digests: &KeyDigests) -> Option<Verified> {
        let verifies = |pepper: &Pepper| {
            // A version that is not stored costs what a wrong secret costs.
            let nothing = KeyDigest([0; 32]);
            pepper.verifies(key, digests.get(&*pepper.version).unwrap_or(&nothing))
        };
        if verifies(&self.current) {
            return Some(Verified::Current);
        }
        self.previous.as_ref().filter(|previous| verifies(previous)).map(|_| Verified::Previous)
    }

    /// The current version.
    pub(crate) fn current(&self) -> &Pepper {
        &self.current
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &Pepper> {
        std::iter::once(&self.current).chain(self.previous.as_ref())
    }
}
