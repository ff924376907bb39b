//! API keys: `<prefix>_` and 40 characters of base 62, of which 12 are a public id, 22 the secret (131 bits) and 6 a
//! checksum.
//!
//! A plain key and its digest are different types: only the digest can be stored, and neither prints its content.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::pepper::{Peppers, Verified};
use super::{KeyCaller, Org, Unauthenticated};
use crate::id::{Ids, base62_number};

const ID: usize = 12;
const SECRET: usize = 22;
const CHECKSUM: usize = 6;

/// Characters after `<prefix>_`.
const LENGTH: usize = ID + SECRET + CHECKSUM;

/// `last_used` is written at most this often per key.
const LAST_USED_STEP: SignedDuration = SignedDuration::from_hours(1);

/// The keys of one product, told apart by their prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyFormat {
    /// `rdk_live`, say. Never to be changed: keys in the field and secret scanners know it.
    pub prefix: &'static str,
}

impl KeyFormat {
    /// Reads a key: length, prefix, alphabet and checksum. Costs some nanoseconds and no table read, so that random
    /// text and typing errors end here.
    pub fn parse(&self, text: &str) -> Option<PlainKey> {
        let body = text.strip_prefix(self.prefix)?.strip_prefix('_')?;
        if body.len() != LENGTH || !body.bytes().all(|letter| letter.is_ascii_alphanumeric()) {
            return None;
        }
        let (signed, checksum) = text.split_at(text.len() - CHECKSUM);
        (checksum == checksum_of(signed)).then(|| PlainKey { text: text.into(), id_at: self.prefix.len() + 1 })
    }

    /// A new key.
    pub fn mint(&self, ids: &Ids) -> PlainKey {
        let signed = format!("{}_{}", self.prefix, ids.base62(ID + SECRET));
        let text = format!("{signed}{}", checksum_of(&signed));
        PlainKey { text: text.into(), id_at: self.prefix.len() + 1 }
    }
}

fn checksum_of(signed: &str) -> String {
    base62_number(u64::from(crc32fast::hash(signed.as_bytes())), CHECKSUM)
}

/// A key as its holder has it.
#[derive(Clone, PartialEq, Eq)]
pub struct PlainKey {
    text: Box<str>,
    id_at: usize,
}

impl PlainKey {
    /// The whole key. For the one moment it is shown, and for hashing.
    pub fn reveal(&self) -> &str {
        &self.text
    }

    /// The public part, under which the key's row is found.
    pub fn id(&self) -> &str {
        &self.text[self.id_at..self.id_at + ID]
    }

    /// The last four characters, which help a person to tell keys apart. They belong to the checksum, not to the
    /// secret.
    pub fn last_four(&self) -> &str {
        &self.text[self.text.len() - 4..]
    }
}

impl std::fmt::Debug for PlainKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "PlainKey({}…)", self.id())
    }
}

/// HMAC-SHA-256 of a key under the pepper.
#[derive(Clone, PartialEq, Eq)]
pub struct KeyDigest(pub(super) [u8; 32]);

impl KeyDigest {
    /// As the table holds it.
    pub fn to_bytes(&self) -> [u8; 32] {
        self.0
    }

    /// Read back from the table.
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }
}

impl std::fmt::Debug for KeyDigest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("KeyDigest(…)")
    }
}

/// The digests of one key, by the version of the pepper that each was made under.
pub type KeyDigests = BTreeMap<String, KeyDigest>;

/// What is known of a key besides its secret.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct KeyRecord {
    /// The public part, 12 characters.
    pub id: String,
    /// The organisation's id. It becomes an [`Org`] only through [`KeyRecord::admit`].
    pub org: String,
    /// What the holder called it.
    pub name: String,
    /// The person who made it.
    pub creator: String,
    /// The last four characters of the key.
    pub last_four: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last used, to the hour.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_used_at: Option<Timestamp>,
    /// When it ends by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// Until when it works beside the key that replaced it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaced_until: Option<Timestamp>,
    /// When it was revoked. A revoked key is refused from then on, whatever the clocks say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked_at: Option<Timestamp>,
}

/// A key that has been made and not yet shown.
#[derive(Debug)]
pub struct MintedKey {
    /// To be shown once.
    pub plain: PlainKey,
    /// To be stored.
    pub digests: KeyDigests,
    /// To be stored.
    pub record: KeyRecord,
}

/// What a checked key allows and asks for.
#[derive(Debug)]
pub struct Admission {
    /// The caller.
    pub caller: KeyCaller,
    /// The hour of use is stale: it is due for a write.
    pub is_stale: bool,
    /// No digest is of the current pepper: they are due for a write. Never otherwise, or an instance that does not know
    /// of a rotation yet would take the newer digest away.
    pub rehash_due: bool,
}

impl MintedKey {
    /// Makes a key for `org` on behalf of `creator`.
    pub fn new(format: KeyFormat, ids: &Ids, peppers: &Peppers, org: &Org, creator: &str, name: &str, now: Timestamp) -> Self {
        let plain = format.mint(ids);
        let record = KeyRecord {
            id: plain.id().to_owned(),
            org: org.as_str().to_owned(),
            name: name.to_owned(),
            creator: creator.to_owned(),
            last_four: plain.last_four().to_owned(),
            created_at: now,
            last_used_at: None,
            expires_at: None,
            replaced_until: None,
            revoked_at: None,
        };
        Self { digests: peppers.digests(&plain), plain, record }
    }
}

impl KeyRecord {
    /// Lets the holder of `key` in, if a digest stored for this record was made from it and the record is alive.
    pub fn admit(&self, key: &PlainKey, digests: &KeyDigests, peppers: &Peppers, now: Timestamp) -> Result<Admission, Unauthenticated> {
        let verified = peppers.verify(key, digests).ok_or(Unauthenticated::Refused)?;
        if self.ended_by(now) {
            return Err(Unauthenticated::Refused);
        }
        let stale = self.last_used_at.is_none_or(|used| now.duration_since(used) >= LAST_USED_STEP);
        Ok(Admission {
            caller: KeyCaller { org: Org(self.org.as_str().into()), key_id: self.id.clone(), creator: self.creator.clone() },
            is_stale: stale,
            rehash_due: verified == Verified::Previous,
        })
    }

    /// Whether it was revoked or has come to its end.
    pub fn ended_by(&self, now: Timestamp) -> bool {
        self.revoked_at.is_some() || self.end().is_some_and(|at| at <= now)
    }

    /// When it ends by itself: by its lifetime, or because another key has replaced it.
    pub fn end(&self) -> Option<Timestamp> {
        self.expires_at.into_iter().chain(self.replaced_until).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auth::Pepper;
    use crate::auth::testing::{org, peppers};

    const FORMAT: KeyFormat = KeyFormat { prefix: "rdk_live" };

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(seconds).unwrap()
    }

    fn minted(now: i64) -> MintedKey {
        MintedKey::new(FORMAT, &Ids::default(), &peppers(), &org("org-a"), "u-1", "ci", at(now))
    }

    #[test]
    fn a_minted_key_has_the_documented_shape_and_is_read_back() {
        let key = FORMAT.mint(&Ids::default());
        assert_eq!(key.reveal().len(), "rdk_live_".len() + 40);
        assert_eq!(FORMAT.parse(key.reveal()), Some(key.clone()));
        assert_eq!(key.id().len(), 12);
        assert!(key.reveal().ends_with(key.last_four()));
    }

    #[test]
    fn any_changed_character_fails_the_checksum() {
        let key = FORMAT.mint(&Ids::default());
        for place in 0..key.reveal().len() {
            let mut changed = key.reveal().as_bytes().to_vec();
            changed[place] = if changed[place] == b'x' { b'y' } else { b'x' };
            assert_eq!(FORMAT.parse(std::str::from_utf8(&changed).unwrap()), None, "at {place}");
        }
    }

    #[test]
    fn text_that_is_no_key_of_this_product_is_refused_without_a_hash() {
        let other = KeyFormat { prefix: "rk" }.mint(&Ids::default());
        let long = "x".repeat(100_000);
        for text in ["", "x", "rdk_live_", other.reveal(), &long, "rdk_live_éééééééééééééééééééé"] {
            assert_eq!(FORMAT.parse(text), None);
        }
    }

    #[test]
    fn neither_the_key_nor_its_digest_is_printed() {
        let key = minted(0);
        let printed = format!("{key:?}");
        assert!(!printed.contains(&key.plain.reveal()[21..]), "{printed}");
        assert!(printed.contains("KeyDigest(…)"), "{printed}");
    }

    #[test]
    fn the_holder_is_let_in_as_the_organisation_of_the_key() {
        let key = minted(0);
        let admission = key.record.admit(&key.plain, &key.digests, &peppers(), at(1)).unwrap();
        assert_eq!(admission.caller.org(), &org("org-a"));
        assert_eq!(admission.caller.creator(), "u-1");
    }

    #[test]
    fn another_secret_a_revoked_and_an_expired_key_get_the_same_answer() {
        let key = minted(0);
        let stranger = minted(0);
        let refused = |record: &KeyRecord, plain, now| record.admit(plain, &key.digests, &peppers(), at(now)).unwrap_err();
        assert_eq!(refused(&key.record, &stranger.plain, 1), Unauthenticated::Refused);
        let revoked = KeyRecord { revoked_at: Some(at(5)), ..key.record.clone() };
        assert_eq!(refused(&revoked, &key.plain, 4), Unauthenticated::Refused, "also where our clock is behind the operator's");
        let expired = KeyRecord { expires_at: Some(at(5)), ..key.record.clone() };
        assert_eq!(refused(&expired, &key.plain, 5), Unauthenticated::Refused);
        assert!(expired.admit(&key.plain, &key.digests, &peppers(), at(4)).is_ok());
    }

    #[test]
    fn a_key_outlives_one_rotation_of_the_pepper_and_asks_to_be_hashed_anew() {
        let key = minted(0);
        let used = KeyRecord { last_used_at: Some(at(1)), ..key.record.clone() };
        assert!(!used.admit(&key.plain, &key.digests, &peppers(), at(2)).unwrap().rehash_due);
        let once = peppers().rotated(Pepper::new("2", [2; 32]));
        assert!(used.admit(&key.plain, &key.digests, &once, at(2)).unwrap().rehash_due);
        let twice = once.rotated(Pepper::new("3", [3; 32]));
        assert_eq!(used.admit(&key.plain, &key.digests, &twice, at(2)).unwrap_err(), Unauthenticated::Refused);
        assert!(used.admit(&key.plain, &once.digests(&key.plain), &twice, at(2)).is_ok());
    }

    #[test]
    fn what_an_instance_with_the_new_pepper_writes_opens_for_those_with_the_old_one() {
        let key = minted(0);
        let (before, after) = (peppers(), peppers().rotated(Pepper::new("2", [2; 32])));
        let rehashed = after.digests(&key.plain);
        assert!(key.record.admit(&key.plain, &rehashed, &before, at(2)).is_ok());
        assert!(key.record.admit(&key.plain, &rehashed, &after, at(2)).is_ok());
    }

    #[test]
    fn the_hour_of_use_is_due_for_a_write_once_an_hour() {
        let key = minted(0);
        let due = |record: &KeyRecord, now| record.admit(&key.plain, &key.digests, &peppers(), at(now)).unwrap().is_stale;
        assert!(due(&key.record, 10));
        let used = KeyRecord { last_used_at: Some(at(10)), ..key.record.clone() };
        assert!(!due(&used, 10 + 3599));
        assert!(due(&used, 10 + 3600));
    }
}
