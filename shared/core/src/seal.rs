//! Sealed text: what a caller may carry but neither read nor change nor use elsewhere.
//!
//! AES-256-GCM under a key derived from the pepper and bound to one organisation. The context (tool, filter) is
//! authenticated with it, so that a cursor of one list is worth nothing to another.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jiff::{SignedDuration, Timestamp};
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};

use crate::auth::{Org, Peppers};
use crate::id::Ids;

/// How long a sealed text is accepted.
pub const LIFETIME: SignedDuration = SignedDuration::from_hours(24);

/// The sealed text is damaged, too old, of another organisation or of another context. Which one is not told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unsealable;

/// Seals `plain` for `org` and `context`. The answer is URL-safe.
pub fn seal(peppers: &Peppers, ids: &Ids, org: &Org, context: &str, now: Timestamp, plain: &[u8]) -> String {
    let nonce = ids.bytes::<NONCE_LEN>();
    let mut sealed = Vec::with_capacity(8 + plain.len() + AES_256_GCM.tag_len());
    sealed.extend_from_slice(&now.as_millisecond().to_be_bytes());
    sealed.extend_from_slice(plain);
    key(&peppers.current().subkey(&purpose(org)))
        .seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), Aad::from(context), &mut sealed)
        .expect("a cursor is far below the limit of the cipher");
    let mut text = nonce.to_vec();
    text.append(&mut sealed);
    URL_SAFE_NO_PAD.encode(text)
}

/// Opens what [`seal`] made for the same organisation and context within [`LIFETIME`].
pub fn open(peppers: &Peppers, org: &Org, context: &str, now: Timestamp, text: &str) -> Result<Vec<u8>, Unsealable> {
    let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| Unsealable)?;
    let (nonce, sealed) = bytes.split_first_chunk::<NONCE_LEN>().ok_or(Unsealable)?;
    let plain = peppers.all().find_map(|pepper| {
        let mut sealed = sealed.to_vec();
        let nonce = Nonce::assume_unique_for_key(*nonce);
        let opened = key(&pepper.subkey(&purpose(org))).open_in_place(nonce, Aad::from(context), &mut sealed).ok()?;
        Some(opened.to_vec())
    });
    let plain = plain.ok_or(Unsealable)?;
    let (sealed_at, content) = plain.split_first_chunk::<8>().ok_or(Unsealable)?;
    let sealed_at = Timestamp::from_millisecond(i64::from_be_bytes(*sealed_at)).map_err(|_| Unsealable)?;
    if now.duration_since(sealed_at) > LIFETIME {
        return Err(Unsealable);
    }
    Ok(content.to_vec())
}

fn purpose(org: &Org) -> String {
    format!("cursor/{}", org.as_str())
}

fn key(secret: &[u8; 32]) -> LessSafeKey {
    LessSafeKey::new(UnboundKey::new(&AES_256_GCM, secret).expect("the key is 32 bytes long"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auth::testing::{org, peppers};

    const NOW: i64 = 1_780_000_000_000;

    fn at(milliseconds: i64) -> Timestamp {
        Timestamp::from_millisecond(milliseconds).unwrap()
    }

    #[test]
    fn what_was_sealed_opens_for_the_same_organisation_and_context_only() {
        let (peppers, ids) = (peppers(), Ids::default());
        let text = seal(&peppers, &ids, &org("org-a"), "list_assets", at(NOW), b"a-1");
        assert_eq!(open(&peppers, &org("org-a"), "list_assets", at(NOW), &text), Ok(b"a-1".to_vec()));
        assert_eq!(open(&peppers, &org("org-b"), "list_assets", at(NOW), &text), Err(Unsealable));
        assert_eq!(open(&peppers, &org("org-a"), "list_runs", at(NOW), &text), Err(Unsealable));
    }

    #[test]
    fn a_change_of_any_character_is_noticed() {
        let (peppers, ids) = (peppers(), Ids::default());
        let text = seal(&peppers, &ids, &org("org-a"), "list_assets", at(NOW), b"a-1");
        for place in 0..text.len() {
            let mut changed = text.clone().into_bytes();
            changed[place] = if changed[place] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(changed).unwrap();
            assert_eq!(open(&peppers, &org("org-a"), "list_assets", at(NOW), &changed), Err(Unsealable), "at {place}");
        }
        for broken in ["", "zzz", "é", &text[..20]] {
            assert_eq!(open(&peppers, &org("org-a"), "list_assets", at(NOW), broken), Err(Unsealable), "{broken}");
        }
    }

    #[test]
    fn it_is_accepted_for_a_day() {
        let (peppers, ids) = (peppers(), Ids::default());
        let text = seal(&peppers, &ids, &org("org-a"), "list_assets", at(NOW), b"");
        let day = 24 * 3600 * 1000;
        assert!(open(&peppers, &org("org-a"), "list_assets", at(NOW + day), &text).is_ok());
        assert_eq!(open(&peppers, &org("org-a"), "list_assets", at(NOW + day + 1), &text), Err(Unsealable));
    }

    #[test]
    fn it_survives_a_rotation_of_the_pepper_and_no_second_one() {
        let (mut peppers, ids) = (peppers(), Ids::default());
        for version in 2..6 {
            let text = seal(&peppers, &ids, &org("org-a"), "list_assets", at(NOW), b"a-1");
            let once = peppers.rotated(crate::auth::Pepper::new("next", [version; 32]));
            assert_eq!(open(&once, &org("org-a"), "list_assets", at(NOW), &text), Ok(b"a-1".to_vec()), "rotation {version}");
            let twice = once.rotated(crate::auth::Pepper::new("after", [version + 100; 32]));
            assert_eq!(open(&twice, &org("org-a"), "list_assets", at(NOW), &text), Err(Unsealable), "rotation {version}");
            peppers = once;
        }
    }
}
