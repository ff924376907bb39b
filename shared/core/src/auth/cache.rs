//! Keys that were read a moment ago, so that a busy caller's key is not read for every call.
//!
//! What this trades: a key that is revoked opens read tools for up to [`KNOWN_FOR`] more on an instance that has just
//! read it. Tools that write read the key anew ([`crate::mcp::Product::confirm`]).

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use jiff::{SignedDuration, Timestamp};

use super::{KeyDigests, KeyRecord};

/// For how long a key that was read is taken to be as it was.
pub const KNOWN_FOR: SignedDuration = SignedDuration::from_secs(30);

/// For how long a well-formed id without a key is taken to have none. Short: the key may just have been minted.
pub const UNKNOWN_FOR: SignedDuration = SignedDuration::from_secs(5);

/// The most keys, and the most ids without a key, that are kept; of more the oldest go. Ids without a key have a shelf of
/// their own, so that made-up ones do not drive out keys.
const MOST: usize = 1_000;

/// A key as it is stored: its record and its digests.
pub type StoredKey = Arc<(KeyRecord, KeyDigests)>;

/// Keys that were read a moment ago, in one process. Never written anywhere.
#[derive(Debug, Default)]
pub struct KeyCache {
    known: Mutex<Shelf<StoredKey>>,
    unknown: Mutex<Shelf<()>>,
}

impl KeyCache {
    /// What was read of this id, if that was a moment ago: a key, or that there is none.
    pub fn find(&self, id: &str, now: Timestamp) -> Option<Option<StoredKey>> {
        if let Some(key) = locked(&self.known).find(id, now, KNOWN_FOR) {
            return Some(Some(key));
        }
        locked(&self.unknown).find(id, now, UNKNOWN_FOR).map(|()| None)
    }

    /// Keeps what was read of this id, by a reading that began at `now`.
    pub fn keep(&self, id: &str, read: Option<StoredKey>, now: Timestamp) {
        match read {
            Some(key) => {
                locked(&self.unknown).forget(id);
                locked(&self.known).keep(id, key, now);
            }
            None => {
                locked(&self.known).forget(id);
                locked(&self.unknown).keep(id, (), now);
            }
        }
    }
}

fn locked<T>(shelf: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    shelf.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Values with the time they are of. What came first goes first.
#[derive(Debug)]
struct Shelf<T> {
    values: HashMap<String, (T, Timestamp)>,
    /// The ids of the values, in the order they came.
    order: VecDeque<String>,
}

impl<T> Default for Shelf<T> {
    fn default() -> Self {
        Self { values: HashMap::new(), order: VecDeque::new() }
    }
}

impl<T: Clone> Shelf<T> {
    fn find(&self, id: &str, now: Timestamp, lifetime: SignedDuration) -> Option<T> {
        let (value, of) = self.values.get(id)?;
        // A clock that was set back makes nothing fresh.
        let age = now.duration_since(*of);
        (SignedDuration::ZERO <= age && age < lifetime).then(|| value.clone())
    }

    fn keep(&mut self, id: &str, value: T, now: Timestamp) {
        if self.values.insert(id.to_owned(), (value, now)).is_none() {
            self.order.push_back(id.to_owned());
        }
        while self.order.len() > MOST {
            let Some(oldest) = self.order.pop_front() else { break };
            self.values.remove(&oldest);
        }
    }

    fn forget(&mut self, id: &str) {
        if self.values.remove(id).is_some() {
            self.order.retain(|kept| kept != id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auth::testing::{org, peppers};
    use crate::auth::{KeyFormat, MintedKey};
    use crate::id::Ids;

    fn at(milliseconds: i64) -> Timestamp {
        Timestamp::from_millisecond(1_780_000_000_000 + milliseconds).unwrap()
    }

    fn stored() -> StoredKey {
        let minted = MintedKey::new(KeyFormat { prefix: "lib" }, &Ids::default(), &peppers(), &org("org-a"), "u-1", "ci", at(0));
        Arc::new((minted.record, minted.digests))
    }

    /// Values, and places in their order.
    fn size<T>(shelf: &Mutex<Shelf<T>>) -> (usize, usize) {
        let shelf = locked(shelf);
        (shelf.values.len(), shelf.order.len())
    }

    #[test]
    fn a_key_is_known_for_half_a_minute() {
        let cache = KeyCache::default();
        assert!(cache.find("a", at(0)).is_none());
        cache.keep("a", Some(stored()), at(0));
        assert!(cache.find("a", at(29_999)).unwrap().is_some());
        assert!(cache.find("a", at(30_000)).is_none());
        assert!(cache.find("a", at(-1)).is_none(), "a clock that was set back makes nothing fresh");
    }

    #[test]
    fn that_there_is_no_key_is_known_for_five_seconds() {
        let cache = KeyCache::default();
        cache.keep("a", None, at(0));
        assert!(cache.find("a", at(4_999)).unwrap().is_none());
        assert!(cache.find("a", at(5_000)).is_none());
    }

    #[test]
    fn what_was_read_last_counts() {
        let cache = KeyCache::default();
        cache.keep("a", None, at(0));
        cache.keep("a", Some(stored()), at(1));
        assert!(cache.find("a", at(2)).unwrap().is_some());
        cache.keep("a", None, at(3));
        assert!(cache.find("a", at(4)).unwrap().is_none());
    }

    #[test]
    fn made_up_ids_take_a_bounded_room_and_drive_out_no_key() {
        let cache = KeyCache::default();
        cache.keep("mine", Some(stored()), at(0));
        for id in 0..5_000 {
            cache.keep(&format!("made-up {id}"), None, at(1));
        }
        assert!(cache.find("mine", at(2)).unwrap().is_some());
        assert!(cache.find("made-up 0", at(2)).is_none());
        assert!(cache.find("made-up 4999", at(2)).is_some());
        assert_eq!(size(&cache.unknown), (MOST, MOST));
    }

    #[test]
    fn a_key_that_is_read_again_and_again_takes_the_room_of_one() {
        let cache = KeyCache::default();
        let key = stored();
        for time in 0..5_000 {
            cache.keep("mine", Some(key.clone()), at(time));
        }
        assert!(cache.find("mine", at(5_000)).unwrap().is_some());
        assert_eq!(size(&cache.known), (1, 1));
    }
}
