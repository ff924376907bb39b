//! Sealed text: what a caller may carry but neither read nor change nor use elsewhere.
//!
//! AES-256-GCM under a key derived from the pepper and bound to a purpose and to whom it is for. The context (tool,
//! filter, parameters) is authenticated with it, so that a cursor of one list is worth nothing to another.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jiff::{SignedDuration, Timestamp};
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};

use crate::auth::{Org, Peppers};
use crate::id::Ids;

/// How long a cursor is accepted.
pub const CURSOR_LIFETIME: SignedDuration = SignedDuration::from_hours(24);

/// What a sealed text is for, and whose it is. Texts of one purpose or owner are worth nothing to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose<'a> {
    /// A place in a list of this organisation.
    Cursor(&'a Org),
    /// What a tool remembers between two rounds of a call by this principal.
    RequestState(&'a str),
}

/// The sealed text is damaged, too old, of another owner, purpose or context. Which one is not told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unsealable;

/// Seals `plain` for `context`, to be accepted until then (to the millisecond). The answer is URL-safe.
pub fn seal(peppers: &Peppers, ids: &Ids, purpose: Purpose<'_>, context: &str, until: Timestamp, plain: &[u8]) -> String {
    let nonce = ids.bytes::<NONCE_LEN>();
    let mut sealed = Vec::with_capacity(8 + plain.len() + AES_256_GCM.tag_len());
    sealed.extend_from_slice(&until.as_millisecond().to_be_bytes());
    sealed.extend_from_slice(plain);
    key(&peppers.current().subkey(&purpose.name()))
        .seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), Aad::from(context), &mut sealed)
        .expect("what is sealed is far below the limit of the cipher");
    let mut text = nonce.to_vec();
    text.append(&mut sealed);
    URL_SAFE_NO_PAD.encode(text)
}

/// Opens what [`seal`] made for the same purpose and context, until its time is over.
pub fn open(peppers: &Peppers, purpose: Purpose<'_>, context: &str, now: Timestamp, text: &str) -> Result<Vec<u8>, Unsealable> {
    let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| Unsealable)?;
    let (nonce, sealed) = bytes.split_first_chunk::<NONCE_LEN>().ok_or(Unsealable)?;
    let plain = peppers.all().find_map(|pepper| {
        let mut sealed = sealed.to_vec();
        let nonce = Nonce::assume_unique_for_key(*nonce);
        let opened = key(&pepper.subkey(&purpose.name())).open_in_place(nonce, Aad::from(context), &mut sealed).ok()?;
        Some(opened.to_vec())
    });
    let plain = plain.ok_or(Unsealable)?;
    let (until, content) = plain.split_first_chunk::<8>().ok_or(Unsealable)?;
    if now.as_millisecond() > i64::from_be_bytes(*until) {
        return Err(Unsealable);
    }
    Ok(content.to_vec())
}

impl Purpose<'_> {
    /// What the key is derived by.
    fn name(self) -> String {
        match self {
            Self::Cursor(org) => format!("cursor/{}", org.as_str()),
            Self::RequestState(principal) => format!("request-state/{principal}"),
        }
    }
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

    /// A cursor of the list of assets of org-a, good for a minute.
    fn cursor(peppers: &Peppers, plain: &[u8]) -> String {
        seal(peppers, &Ids::default(), Purpose::Cursor(&org("org-a")), "list_assets", at(NOW + 60_000), plain)
    }

    fn opened(peppers: &Peppers, text: &str) -> Result<Vec<u8>, Unsealable> {
        open(peppers, Purpose::Cursor(&org("org-a")), "list_assets", at(NOW), text)
    }

    #[test]
    fn what_was_sealed_opens_for_the_same_owner_purpose_and_context_only() {
        let (peppers, org_a, org_b) = (peppers(), org("org-a"), org("org-b"));
        let text = cursor(&peppers, b"a-1");
        assert_eq!(opened(&peppers, &text), Ok(b"a-1".to_vec()));
        for (purpose, context) in [
            (Purpose::Cursor(&org_b), "list_assets"),
            (Purpose::Cursor(&org_a), "list_runs"),
            (Purpose::RequestState("org-a"), "list_assets"),
        ] {
            assert_eq!(open(&peppers, purpose, context, at(NOW), &text), Err(Unsealable), "{purpose:?} {context}");
        }
    }

    #[test]
    fn a_change_of_any_character_is_noticed() {
        let peppers = peppers();
        let text = cursor(&peppers, b"a-1");
        for place in 0..text.len() {
            let mut changed = text.clone().into_bytes();
            changed[place] = if changed[place] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(changed).unwrap();
            assert_eq!(opened(&peppers, &changed), Err(Unsealable), "at {place}");
        }
        for broken in ["", "zzz", "é", &text[..20], &format!("{text}-TAMPERED")] {
            assert_eq!(opened(&peppers, broken), Err(Unsealable), "{broken}");
        }
    }

    #[test]
    fn it_is_accepted_until_its_time_is_over() {
        let peppers = peppers();
        let text = cursor(&peppers, b"");
        let open_at = |time| open(&peppers, Purpose::Cursor(&org("org-a")), "list_assets", at(time), &text);
        assert!(open_at(NOW + 60_000).is_ok());
        assert_eq!(open_at(NOW + 60_001), Err(Unsealable));
    }

    #[test]
    fn it_survives_a_rotation_of_the_pepper_and_no_second_one() {
        let mut peppers = peppers();
        for version in 2..6 {
            let text = cursor(&peppers, b"a-1");
            let once = peppers.rotated(crate::auth::Pepper::new("next", [version; 32]));
            assert_eq!(opened(&once, &text), Ok(b"a-1".to_vec()), "rotation {version}");
            let twice = once.rotated(crate::auth::Pepper::new("after", [version + 100; 32]));
            assert_eq!(opened(&twice, &text), Err(Unsealable), "rotation {version}");
            peppers = once;
        }
    }
}
