//! A library of books as a product: keys on a map, a clock that stands still, and tools that succeed, refuse, fail and
//! panic. It serves under four profiles, which differ exactly where products of this suite differ.
//!
//! A product to test with, on `onepost-core` alone: the core's own tests, the transports and the fuzz targets call it
//! through a [`client`] that says exactly what it is told to.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking, and so may what it is made of")]
#![allow(missing_docs, reason = "read in tests, where names say it")]

pub mod client;
mod tools;

use std::collections::HashMap;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use http::HeaderMap;
use jiff::Timestamp;
use onepost_core::auth::{
    Denied, KeyCaller, KeyDigests, KeyFormat, KeyRecord, MintedKey, Operator, Pepper, Peppers, Unauthenticated, bearer, log_name,
};
use onepost_core::catalog::Catalog;
use onepost_core::clock::{Clock, ManualClock};
use onepost_core::error::{Dialect, ToolError};
use onepost_core::http::Gate;
use onepost_core::id::Ids;
use onepost_core::mcp::{Audit, Faults, Product, Profile, Refusals, Reported, Server, Version};

use tokio::sync::Notify;

use client::Door;
pub use tools::{CAUSE, LAST_WORDS, SERIAL, TIME_TO_PAY};

/// The organisation that the key of every door stands for. It must never be seen in a log.
pub const ORG: &str = "org-11111111-2222-4333-8444-555555555555";

/// The person who made the key.
pub const CREATOR: &str = "person-7";

/// The right to enter the vault.
pub const VAULT: &str = "vault";

/// In so many seconds there is room for another call.
pub const PATIENCE: u32 = 7;

/// What the key store says when it does not answer.
pub const OUTAGE: &str = "table prod-keys: connection refused";

/// 2026-09-01T12:00:00Z.
const NOW: i64 = 1_788_264_000;

const ALL_LEGACY: &[Version] =
    &[Version::V2025_11_25, Version::V2025_06_18, Version::V2025_03_26, Version::V2024_11_05, Version::V2024_10_07];

const CHECKLISTS: Profile = Profile {
    name: "library",
    title: "Library",
    version: "1.2.3",
    instructions: Some("List the books before you lend one."),
    path: "/mcp",
    legacy: ALL_LEGACY,
    fallback: Version::V2025_11_25,
    body_limit: 1024 * 1024,
    answer_limit: 32 * 1024,
    list_ttl_ms: 300_000,
    logs: false,
    dialect: Dialect::CodeAndMessage,
    refusals: Refusals::Text,
    faults: Faults { unknown_tool: Reported::AsProtocolError, arguments: Reported::AsProtocolError },
    keys: KeyFormat { prefix: "lib_live" },
    challenge: "Bearer",
};

const AGENTS: Profile = Profile {
    path: "/api/mcp/account",
    instructions: None,
    legacy: &[Version::V2025_06_18, Version::V2025_03_26, Version::V2024_11_05, Version::V2024_10_07],
    fallback: Version::V2025_06_18,
    dialect: Dialect::Message,
    faults: Faults { unknown_tool: Reported::AsToolError, arguments: Reported::AsToolError },
    ..CHECKLISTS
};

const RENT: Profile = Profile {
    dialect: Dialect::Problem("https://library.example/errors#"),
    refusals: Refusals::Structured,
    faults: Faults { unknown_tool: Reported::AsProtocolError, arguments: Reported::AsToolError },
    challenge: "Bearer resource_metadata=\"https://library.example/.well-known/oauth-protected-resource/mcp\"",
    ..CHECKLISTS
};

const VIEWER: Profile = Profile { dialect: Dialect::CodeAndMessage, refusals: Refusals::Text, challenge: "Bearer", ..RENT };

/// As checklists, and its tools tell what they do.
const TALKATIVE: Profile = Profile { logs: true, ..CHECKLISTS };

/// A branch of the library: a type that stands for a profile.
pub trait Branch: Send + Sync + 'static {
    const PROFILE: &'static Profile;
}

macro_rules! branches {
    ($($branch:ident = $profile:ident: $what:literal),*) => {$(
        #[doc = $what]
        pub struct $branch;
        impl Branch for $branch {
            const PROFILE: &'static Profile = &$profile;
        }
    )*};
}

branches! {
    LikeChecklists = CHECKLISTS: "Codes and messages; an unknown tool and wrong arguments are protocol errors.",
    LikeAgents = AGENTS: "Messages alone; both are results with `isError`; knows nothing of 2025-11-25.",
    LikeRent = RENT: "Problems; an unknown tool is a protocol error, wrong arguments are a result with `isError`.",
    LikeViewer = VIEWER: "As rent, in codes and messages.",
    Talkative = TALKATIVE: "As checklists, and its tools tell what they do."
}

/// A book.
#[derive(Debug, Clone)]
pub struct Book {
    pub id: String,
    pub title: String,
    pub reader: Option<String>,
}

/// What can be set and seen of a library from outside.
#[derive(Debug, Default)]
pub struct Backstage {
    pub books: Mutex<Vec<Book>>,
    /// How often a key was looked up.
    pub lookups: AtomicUsize,
    /// The key store does not answer.
    pub outage: AtomicBool,
    /// There are too many calls.
    pub crowded: AtomicBool,
    /// The orders that were paid.
    pub paid: Mutex<Vec<String>>,
    /// Whoever waits for the bell waits for this.
    pub bell: Notify,
}

impl Backstage {
    pub fn titles(&self) -> Vec<String> {
        self.books.lock().unwrap().iter().map(|book| book.title.clone()).collect()
    }
}

/// The product.
pub struct Library<B> {
    backstage: Arc<Backstage>,
    keys: HashMap<String, (KeyRecord, KeyDigests)>,
    peppers: Peppers,
    clock: Arc<ManualClock>,
    ids: Ids,
    gate: Gate,
    branch: PhantomData<B>,
}

impl<B: Branch> Product for Library<B> {
    type Caller = KeyCaller;
    const PROFILE: &'static Profile = B::PROFILE;

    fn catalog() -> Catalog<Self> {
        tools::all()
    }

    async fn authenticate(&self, headers: &HeaderMap, now: Timestamp) -> Result<KeyCaller, Unauthenticated> {
        let plain = bearer(headers).and_then(|text| B::PROFILE.keys.parse(text)).ok_or(Unauthenticated::Refused)?;
        self.backstage.lookups.fetch_add(1, Ordering::SeqCst);
        assert!(!headers.contains_key("x-panic"), "as it was asked");
        if self.backstage.crowded.load(Ordering::SeqCst) {
            return Err(Unauthenticated::TooManyCalls { retry_after: PATIENCE });
        }
        if self.backstage.outage.load(Ordering::SeqCst) {
            return Err(Unauthenticated::Unavailable(OUTAGE.into()));
        }
        let (record, digests) = self.keys.get(plain.id()).ok_or(Unauthenticated::Refused)?;
        record.admit(&plain, digests, &self.peppers, now).map(|admission| admission.caller)
    }

    /// The librarian may enter the vault; a token could be exchanged for one that may; no reader ever may.
    fn authorise(&self, caller: &KeyCaller, scope: &'static str) -> Result<(), Denied> {
        assert_eq!(scope, VAULT);
        match caller.creator() {
            "librarian" => Ok(()),
            "token" => Err(Denied::Challenged),
            _ => Err(Denied::Refused(ToolError::forbidden("Readers may not enter the vault."))),
        }
    }

    fn principal(caller: &KeyCaller) -> String {
        format!("{}/{}", caller.org().as_str(), caller.key_id())
    }

    fn audit(caller: &KeyCaller) -> Audit {
        Audit { org: log_name(caller.org()), key: caller.key_id().to_owned() }
    }

    fn gate(&self) -> &Gate {
        &self.gate
    }

    fn peppers(&self) -> &Peppers {
        &self.peppers
    }

    fn clock(&self) -> &dyn Clock {
        self.clock.as_ref()
    }

    fn ids(&self) -> &Ids {
        &self.ids
    }
}

/// A branch with its doors still shut.
pub struct Furnished<B: Branch> {
    pub server: Server<Library<B>>,
    pub keys: Keys,
    pub backstage: Arc<Backstage>,
    pub clock: Arc<ManualClock>,
}

/// One key of each kind.
#[derive(Debug, Clone)]
pub struct Keys {
    /// A reader's.
    pub good: String,
    /// Another reader's.
    pub other: String,
    pub revoked: String,
    /// It stands for a token that lacks a right.
    pub token: String,
    /// It may enter the vault.
    pub librarian: String,
}

/// Furnishes a branch with two books on the shelf and its keys.
pub fn furnish<B: Branch>(gate: Gate) -> Furnished<B> {
    let (ids, peppers) = (Ids::default(), Peppers::new(Pepper::new("1", [7; 32]), None));
    let now = Timestamp::from_second(NOW).unwrap();
    #[expect(clippy::disallowed_methods, reason = "tests act for any organisation")]
    let org = Operator::at_the_terminal().org(ORG);
    let mint = |creator: &str| MintedKey::new(B::PROFILE.keys, &ids, &peppers, &org, creator, "ci", now);
    let mut minted = [CREATOR, CREATOR, CREATOR, "token", "librarian"].map(mint);
    minted[2].record.revoked_at = Some(now);
    let [good, other, revoked, token, librarian] = minted.each_ref().map(|minted| minted.plain.reveal().to_owned());
    let keys = minted.map(|minted| (minted.record.id.clone(), (minted.record, minted.digests))).into();
    let book = |id: &str, title: &str| Book { id: id.into(), title: title.into(), reader: None };
    let backstage = Arc::new(Backstage { books: Mutex::new(vec![book("bk-1", "Emma"), book("bk-2", "Ulysses")]), ..Backstage::default() });
    let clock = Arc::new(ManualClock::at(now));
    let library = Library::<B> { backstage: backstage.clone(), keys, peppers, clock: clock.clone(), ids, gate, branch: PhantomData };
    Furnished { server: Server::new(library), keys: Keys { good, other, revoked, token, librarian }, backstage, clock }
}

/// Opens a branch that no page may call.
pub fn open<B: Branch>() -> Door {
    open_behind::<B>(Gate::default())
}

/// Opens a branch behind a gate.
pub fn open_behind<B: Branch>(gate: Gate) -> Door {
    let Furnished { server, keys, backstage, clock } = furnish::<B>(gate);
    Door::new(Box::new(server), B::PROFILE, keys, backstage, clock)
}

/// One door of each kind, with the name of the product it is ruled like.
pub fn every_kind() -> [(&'static str, Door); 4] {
    [
        ("checklists", open::<LikeChecklists>()),
        ("agents", open::<LikeAgents>()),
        ("rent", open::<LikeRent>()),
        ("viewer", open::<LikeViewer>()),
    ]
}
