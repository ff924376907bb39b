//! The product behind the endpoint: its profile, and how a key is checked.

use std::sync::Arc;
use std::time::Duration;

use http::HeaderMap;
use jiff::Timestamp;
use onepost_cloud::limits::{self, Limiter};
use onepost_core::auth::{self, KeyCache, KeyCaller, KeyDigests, KeyFormat, Peppers, StoredKey, Unauthenticated};
use onepost_core::catalog::Catalog;
use onepost_core::clock::Clock;
use onepost_core::error::Dialect;
use onepost_core::http::Gate;
use onepost_core::id::Ids;
use onepost_core::mcp::{Audit, Faults, Product, Profile, Refusals, Reported, Version};

use crate::caller::Caller;
use crate::links::Site;
use crate::mail::Mailer;
use crate::store::Store;
use crate::tools;

/// The keys of this product.
pub const KEYS: KeyFormat = KeyFormat { prefix: "rdk_live" };

/// How long a call waits for the hour of its key's use to be noted.
const PATIENCE_TO_NOTE: Duration = Duration::from_millis(500);

const PROFILE: Profile = Profile {
    name: "checklists",
    title: "Checklists",
    version: env!("CARGO_PKG_VERSION"),
    instructions: Some(
        "Checklists for people with phones. Write a template (create_template), dispatch it (create_run, perhaps for an asset) and send \
         the link it answers to the person who does the work; get_run shows how far they are. Steps are answered by that person on the \
         run's page and by nobody else.",
    ),
    path: "/mcp",
    legacy: &[Version::V2025_11_25, Version::V2025_06_18, Version::V2025_03_26, Version::V2024_11_05, Version::V2024_10_07],
    fallback: Version::V2025_11_25,
    body_limit: 1024 * 1024,
    // Lambda carries 6 MB, and writes every quote of a body as two characters.
    answer_limit: 3_000_000,
    list_ttl_ms: 3_600_000,
    logs: false,
    dialect: Dialect::CodeAndMessage,
    refusals: Refusals::Text,
    faults: Faults { unknown_tool: Reported::AsProtocolError, arguments: Reported::AsProtocolError },
    keys: KEYS,
    challenge: "Bearer",
};

/// Everything the tools work with.
pub struct Checklists {
    /// The table.
    pub store: Store,
    /// What keys are checked and cursors sealed with.
    pub peppers: Peppers,
    /// Where links lead.
    pub site: Site,
    /// How mail goes out.
    pub mailer: Box<dyn Mailer>,
    /// Who may call.
    pub gate: Gate,
    /// The time.
    pub clock: Box<dyn Clock>,
    /// Where ids come from.
    pub ids: Ids,
    /// Keys that were read a moment ago.
    pub keys: KeyCache,
    /// How many calls a key and an organisation may make; without one, any number.
    pub limiter: Option<Limiter>,
}

impl Checklists {
    /// Counts a call. What limits cannot be asked for is let in, and told to the log.
    async fn count(&self, caller: &KeyCaller, now: Timestamp) -> Result<(), Unauthenticated> {
        let Some(limiter) = &self.limiter else { return Ok(()) };
        match limiter.admit(caller.org(), caller.key_id(), now).await {
            limits::Admission::Admitted => Ok(()),
            limits::Admission::OnTrust { cause } => {
                tracing::warn!(org = auth::log_name(caller.org()), key = caller.key_id(), cause, "a call was let in without being counted");
                Ok(())
            }
            limits::Admission::Denied { retry_after } => Err(Unauthenticated::TooManyCalls { retry_after }),
        }
    }

    /// The key with this public id as it is stored now.
    async fn read_key(&self, id: &str, now: Timestamp) -> Result<Option<StoredKey>, Unauthenticated> {
        let stored = self.store.key(id).await.map_err(|error| Unauthenticated::Unavailable(error.to_string()))?;
        let stored = stored.map(Arc::new);
        self.keys.keep(id, stored.clone(), now);
        Ok(stored)
    }
}

impl Product for Checklists {
    type Caller = Caller;
    const PROFILE: &'static Profile = &PROFILE;

    fn catalog() -> Catalog<Self> {
        tools::catalog()
    }

    async fn authenticate(&self, headers: &HeaderMap, now: Timestamp) -> Result<Caller, Unauthenticated> {
        let key = auth::bearer(headers).and_then(|token| KEYS.parse(token)).ok_or(Unauthenticated::Refused)?;
        let (stored, was_read) = match self.keys.find(key.id(), now) {
            Some(known) => (known, false),
            None => (self.read_key(key.id(), now).await?, true),
        };
        let Some((record, digests)) = stored.as_deref() else {
            // An unknown id takes as long as a wrong secret.
            std::hint::black_box(self.peppers.verify(&key, &KeyDigests::new()));
            return Err(Unauthenticated::Refused);
        };
        let admission = record.admit(&key, digests, &self.peppers, now)?;
        self.count(&admission.caller, now).await?;
        if was_read && (admission.is_stale || admission.rehash_due) {
            // Once an hour and key. Neither its failure nor its slowness is a reason to keep the caller waiting.
            let digests = admission.rehash_due.then(|| self.peppers.digests(&key));
            let noting = self.store.note_use(record, digests.as_ref(), now);
            let _best_effort = tokio::time::timeout(PATIENCE_TO_NOTE, noting).await;
        }
        Ok(Caller { key: admission.caller, was_read })
    }

    async fn confirm(&self, caller: &Caller, now: Timestamp) -> Result<(), Unauthenticated> {
        if caller.was_read {
            return Ok(());
        }
        match self.read_key(caller.key.key_id(), now).await?.as_deref() {
            Some((record, _)) if !record.ended_by(now) => Ok(()),
            _ => Err(Unauthenticated::Refused),
        }
    }

    fn audit(caller: &Caller) -> Audit {
        Audit { org: auth::log_name(caller.org()), key: caller.key.key_id().to_owned() }
    }

    fn principal(caller: &Caller) -> String {
        format!("{}/{}", caller.org().as_str(), caller.key.key_id())
    }

    fn peppers(&self) -> &Peppers {
        &self.peppers
    }

    fn gate(&self) -> &Gate {
        &self.gate
    }

    fn clock(&self) -> &dyn Clock {
        self.clock.as_ref()
    }

    fn ids(&self) -> &Ids {
        &self.ids
    }
}
