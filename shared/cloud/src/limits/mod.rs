//! How many calls a key and an organisation may make: limits that hold across all instances of a function, at a small
//! fraction of a write a call.
//!
//! Time is cut into windows of fixed length. For each scope (a key, an organisation) and window the table has one row
//! that counts the tokens taken. An instance admits a few calls of a scope without asking; beyond them it takes
//! tokens, many at a time, with one conditional write that also pays for the calls before it, and spends them itself.
//! Where the row has none left, the instance denies the scope's calls until the window ends and asks nobody. Tokens
//! end with their window.
//!
//! # How exact it is
//! Of a scope with limit `L`, in a window in which `n` instances are called, while the table answers:
//!
//! - At most `L + n × f` calls are admitted, where `f` is [`free_calls`]: 1 in 100 of `L`, from 4 to 16. No token is given
//!   out twice: on top come only calls that an instance admitted without asking and could not pay for later.
//! - If a call is denied, at least `L - n × k` were admitted, where `k` is [`most_leased`]: 1 in 10 of `L`, from 1 to 500.
//!   An instance takes what its last window and its pace let it expect to need, so that this is rarely far off.
//! - Any period as long as a window meets two windows: what both admit may come in it.
//! - Instances go by their own clocks. One that is a second behind spends from the window before for that second, and a
//!   caller who comes back when told may be told once more to wait a second.
//!
//! # What it costs
//! A denied call costs nothing once its instance knows, and an instance learns it for half a read unit: before its first
//! write of a window it looks whether anything is left. As few calls as are free cost nothing. Any others cost an
//! instance half a read unit a scope and window, and a write unit a lease: one or two leases when its pace is steady, ten
//! or so where it spends a whole limit alone. A key whose limit is the organisation's needs no row and has none.
//!
//! Each scope and window has a partition of its own, so that no organisation slows another, or itself for long. How many
//! calls are free is drawn by lot, from a quarter of `f` to the whole of it, so that instances that are called together
//! do not write together; after a window that was spent, from none to a third (where `L` is at most 5,000). Of one organisation that makes 5,000 calls a second on 1 to 1,000 instances, no partition
//! takes 600 write units a second; the simulation measures it.
//!
//! # When the table fails
//! A call that has no answer within [`PATIENCE`] is admitted, the log is told, and the row is left alone for [`PAUSE`].
//! What an attacker may gain by it is bounded by `n × L`: whatever the table says, no instance admits more than `L` calls
//! of a scope in a window, and what it admitted on trust it charges to the row as soon as that answers. Only an
//! organisation's own callers write to its rows, at most at the rate above. And where the whole table fails, the calls that
//! are admitted need that same table and get no further. A lease whose answer comes too late is lost until its window ends.
//!
//! # Memory
//! An instance knows at most [`MOST_SCOPES`] scopes, about 300 bytes each, and forgets those without a call in this window
//! and the one before. A scope that finds no room is admitted uncounted, and the log is told. A caller can fill the room
//! with keys of its own organisation alone, whose own scope goes on counting.

mod rows;
mod scope;
#[cfg(test)]
mod simulation;
#[cfg(test)]
mod simulation_tests;

use std::collections::HashMap;
use std::hash::{BuildHasher, DefaultHasher, Hash, Hasher, RandomState};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use jiff::Timestamp;
use onepost_core::auth::Org;

use crate::table::{Table, TableError};

pub use rows::{PATIENCE, PatientTable, Row, Rows, Scope, Taking};
pub use scope::{PAUSE, free_calls, most_leased};

use scope::{Answer, Ask, Moment, State, Step, moves};

/// The most scopes that an instance counts at the same time.
pub const MOST_SCOPES: usize = 4096;

/// How often an instance writes for one lease, where others take what it was about to take.
const ATTEMPTS: u32 = 2;

/// How many calls may be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The length of a window: whole seconds, at least one.
    pub window: Duration,
    /// Calls in a window with one key, at least one. At or above the organisation's, it limits nothing and costs nothing.
    pub per_key: u32,
    /// Calls in a window of one organisation with all its keys, at least one.
    pub per_organisation: u32,
}

/// Whether a call may go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Admission {
    /// It may.
    Admitted,
    /// It may, because its limits could not be asked for; the text is for the log. Of the calls that are admitted so,
    /// only those that waited for an answer say it.
    OnTrust {
        /// Why nothing could be asked.
        cause: String,
    },
    /// It may not: its key or its organisation has made as many calls as it may.
    Denied {
        /// In so many seconds, at least one, the next window begins.
        retry_after: u32,
    },
}

/// Counts the calls of one instance and shares the limits with the others through the table. One for the life of the
/// instance; calls may run at the same time.
#[derive(Debug)]
pub struct Limiter<R = Table> {
    rows: R,
    limits: Limits,
    /// Tells this instance's lots from those of the others.
    seed: u64,
    scopes: Mutex<Scopes>,
}

#[derive(Debug, Default)]
struct Scopes {
    all: HashMap<Scope, State>,
    /// The window for which ended ones were last dropped.
    swept: u64,
}

impl<R: Rows> Limiter<R> {
    /// Limits that are shared through `rows`.
    ///
    /// # Panics
    /// On limits of no calls and windows of no whole seconds: a program is not to start with such.
    pub fn new(rows: R, limits: Limits) -> Self {
        Self::with_lots(rows, limits, RandomState::new().build_hasher().finish())
    }

    /// The same, with lots that can be drawn again.
    fn with_lots(rows: R, limits: Limits, seed: u64) -> Self {
        assert!(limits.per_key > 0 && limits.per_organisation > 0, "a limit lets some calls pass");
        assert!(limits.window.as_secs() > 0 && limits.window.subsec_nanos() == 0, "a window has whole seconds");
        Self { rows, limits, seed, scopes: Mutex::default() }
    }

    /// Counts one call, if it may be made, for its key and its organisation. A call that one of them denies takes
    /// nothing from the other.
    pub async fn admit(&self, org: &Org, key_id: &str, now: Timestamp) -> Admission {
        let moment = Moment::new(now, self.limits.window);
        let of_all = Scope::Organisation(org.clone());
        if self.limits.per_key >= self.limits.per_organisation {
            return verdict([self.reserve(&of_all, moment).await], moment);
        }
        let of_key = Scope::Key(org.clone(), key_id.into());
        // What one of them is known to deny, the other's row need not be asked for.
        if let Some(window) = self.known_spent(&of_key, moment).or_else(|| self.known_spent(&of_all, moment)) {
            return denied(window, moment);
        }
        let (key, all) = futures_util::join!(self.reserve(&of_key, moment), self.reserve(&of_all, moment));
        match (&key, &all) {
            (Reserved::Refused { .. }, Reserved::Granted { window, .. }) => self.give_back(&of_all, *window),
            (Reserved::Granted { window, .. }, Reserved::Refused { .. }) => self.give_back(&of_key, *window),
            _ => {}
        }
        verdict([key, all], moment)
    }

    /// Counts one call of one scope.
    async fn reserve(&self, scope: &Scope, moment: Moment) -> Reserved {
        let mut cause = None;
        let Some(mut step) = self.with_state(scope, moment, |state| state.step(moment)) else {
            return Reserved::Granted { window: None, cause: Some(format!("an instance counts no more than {MOST_SCOPES} limits")) };
        };
        loop {
            step = match step {
                Step::Admit { window } => return Reserved::Granted { window: Some(window), cause },
                Step::Deny { window } => return Reserved::Refused { window },
                Step::Wait(done) => {
                    done.await;
                    self.next_step(scope, moment, |_| ())
                }
                Step::Ask(ask) => {
                    let asking = Asking { limiter: self, scope, ask };
                    let answer = self.ask(scope, &asking.ask).await.unwrap_or_else(|error| {
                        cause = Some(error.to_string());
                        Answer::Silence
                    });
                    self.next_step(scope, moment, |state| {
                        state.settle(&asking.ask, answer, moment);
                        state.no_longer_asks(&asking.ask.done);
                    })
                }
            }
        }
    }

    /// Asks a row for tokens: as many as wanted, or as many as it has.
    async fn ask(&self, scope: &Scope, ask: &Ask) -> Result<Answer, TableError> {
        let (limit, seconds) = (self.limit(scope), self.limits.window.as_secs());
        let row = Row { scope, start: ask.window * seconds, end: (ask.window + 1) * seconds };
        let mut taken = if ask.look { self.rows.taken(row).await? } else { 0 };
        for _ in 0..ATTEMPTS {
            let tokens = limit.saturating_sub(taken).saturating_sub(ask.owed).min(ask.wanted);
            if tokens == 0 {
                return Ok(Answer::Spent);
            }
            match self.rows.take(row, ask.owed + tokens, limit).await? {
                Taking::Taken => return Ok(Answer::Leased(tokens)),
                Taking::Refused { taken: before } => taken = before,
            }
        }
        // Others were faster, twice: they have what was left.
        Ok(Answer::Spent)
    }

    /// The window in which the scope is known to be spent.
    fn known_spent(&self, scope: &Scope, moment: Moment) -> Option<u64> {
        self.with_state(scope, moment, |state| state.is_spent().then(|| state.window())).flatten()
    }

    fn give_back(&self, scope: &Scope, window: Option<u64>) {
        if let (Some(window), Some(state)) = (window, self.scopes().all.get_mut(scope)) {
            state.give_back(window);
        }
    }

    /// What to do after `change`. A scope that was dropped meanwhile, since time went on without this call, begins anew
    /// if there is room.
    fn next_step(&self, scope: &Scope, moment: Moment, change: impl FnOnce(&mut State)) -> Step {
        let step = |state: &mut State| {
            change(state);
            state.step(moment)
        };
        self.with_state(scope, moment, step).unwrap_or(Step::Admit { window: moment.window() })
    }

    /// Works with what is known of a scope at this moment; with nothing, where there is no room to know more.
    fn with_state<T>(&self, scope: &Scope, moment: Moment, work: impl FnOnce(&mut State) -> T) -> Option<T> {
        let window = moment.window();
        let mut scopes = self.scopes();
        scopes.sweep(window);
        if let Some(state) = scopes.all.get_mut(scope) {
            if moves(state.window(), window) {
                state.enter(window, self.lot(scope, window));
            }
            return Some(work(state));
        }
        if scopes.all.len() >= MOST_SCOPES {
            return None;
        }
        let state = State::new(self.limit(scope), window, self.lot(scope, window));
        Some(work(scopes.all.entry(scope.clone()).or_insert(state)))
    }

    fn limit(&self, scope: &Scope) -> u32 {
        match scope {
            Scope::Key(..) => self.limits.per_key,
            Scope::Organisation(_) => self.limits.per_organisation,
        }
    }

    /// A number that other instances, scopes and windows do not share.
    fn lot(&self, scope: &Scope, window: u64) -> u64 {
        let mut hasher = DefaultHasher::new();
        (self.seed, scope, window).hash(&mut hasher);
        hasher.finish()
    }

    fn scopes(&self) -> MutexGuard<'_, Scopes> {
        self.scopes.lock().expect("no holder of the scopes panics")
    }
}

impl Scopes {
    /// Once a window, drops what had no call in this one or the one before.
    fn sweep(&mut self, window: u64) {
        if moves(self.swept, window) {
            self.swept = window;
            self.all.retain(|_, state| !moves(state.window() + 1, window));
        }
    }
}

/// What came of one scope.
#[derive(Debug)]
enum Reserved {
    Granted {
        /// Where it was counted, if it was.
        window: Option<u64>,
        cause: Option<String>,
    },
    Refused {
        /// When it is over there is room.
        window: u64,
    },
}

fn verdict(reserved: impl IntoIterator<Item = Reserved>, moment: Moment) -> Admission {
    let mut causes = Vec::new();
    for reserved in reserved {
        match reserved {
            Reserved::Refused { window } => return denied(window, moment),
            Reserved::Granted { cause, .. } => causes.extend(cause),
        }
    }
    if causes.is_empty() { Admission::Admitted } else { Admission::OnTrust { cause: causes.join("; ") } }
}

fn denied(window: u64, moment: Moment) -> Admission {
    Admission::Denied { retry_after: moment.seconds_to_the_end_of(window) }
}

/// A call that asks a row for all that wait for it. They go on when it ends, and also when it is given up.
struct Asking<'a, R: Rows> {
    limiter: &'a Limiter<R>,
    scope: &'a Scope,
    ask: Ask,
}

impl<R: Rows> Drop for Asking<'_, R> {
    fn drop(&mut self) {
        if let Some(state) = self.limiter.scopes().all.get_mut(self.scope) {
            state.no_longer_asks(&self.ask.done);
        }
        self.ask.done.notify_waiters();
    }
}
