//! What one instance knows of one scope, and what it does about the next call. No waiting here, and no table.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use tokio::sync::Notify;
use tokio::sync::futures::OwnedNotified;

/// How long a row that did not answer is left alone.
pub const PAUSE: Duration = Duration::from_secs(1);

/// The least that is worth a write, where the limit is not below ten times as much.
const LEAST_LEASE: u32 = 16;

/// Of a limit up to here so few leases are given in a window that they never heat a partition, however many ask at once.
const QUICKLY_SPENT: u32 = 5000;

/// The most calls that one instance admits in a window of a scope with this limit without taking tokens for them.
pub fn free_calls(limit: u32) -> u32 {
    (limit / 100).clamp(4, 16)
}

/// The most tokens that one instance takes at once from a scope with this limit, beside those for calls already made.
pub fn most_leased(limit: u32) -> u32 {
    (limit / 10).clamp(1, 500)
}

/// An instant, and the windows that time is cut into. In milliseconds since 1970.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moment {
    now: u64,
    length: u64,
}

impl Moment {
    pub(super) fn new(now: Timestamp, window: Duration) -> Self {
        let now = u64::try_from(now.as_millisecond()).unwrap_or(0);
        Self { now, length: window.as_secs() * 1000 }
    }

    pub(super) fn window(self) -> u64 {
        self.now / self.length
    }

    /// Whole seconds until this window is over, at least one.
    pub(super) fn seconds_to_the_end_of(self, window: u64) -> u32 {
        let milliseconds = ((window + 1) * self.length).saturating_sub(self.now);
        u32::try_from(milliseconds.div_ceil(1000)).unwrap_or(u32::MAX).max(1)
    }

    /// The parts of this window that are over and to come. Neither clocks nor calls are in perfect order.
    fn parts_of(self, window: u64) -> (u64, u64) {
        let over = self.now.saturating_sub(window * self.length).clamp(1, self.length);
        (over, self.length - over)
    }
}

/// Whether time went on from one window to the other. A call that began before the latest one still counts in the
/// latest window; a clock that was set back by more starts anew.
pub(super) fn moves(from: u64, to: u64) -> bool {
    to != from && to + 1 != from
}

/// One scope in one window.
#[derive(Debug)]
pub(super) struct State {
    limit: u32,
    window: u64,
    /// Calls that may be admitted before the row is asked.
    free: u32,
    /// Calls that were admitted.
    used: u32,
    /// Of these, the ones that no token was taken for.
    owed: u32,
    /// Tokens that were taken and not spent.
    tokens: u32,
    /// Whether the row has answered.
    asked: bool,
    /// Whether nothing is left.
    spent: bool,
    /// When the row last failed to answer.
    failed_at: Option<u64>,
    /// How many calls the window before took, and whether it was spent.
    before: (u32, bool),
    /// Somebody is asking the row. Others wait for the answer.
    asking: Option<Arc<Notify>>,
}

/// What to do about a call.
#[derive(Debug)]
pub(super) enum Step {
    /// It was counted in this window.
    Admit { window: u64 },
    /// There is room when this window is over.
    Deny { window: u64 },
    /// Somebody is asking already.
    Wait(OwnedNotified),
    /// Ask the row.
    Ask(Ask),
}

/// What to ask of the row.
#[derive(Debug)]
pub(super) struct Ask {
    pub(super) window: u64,
    /// Look first, for nothing is known yet.
    pub(super) look: bool,
    /// Tokens for calls that were made already.
    pub(super) owed: u32,
    /// Tokens for calls to come, as many as there are up to this.
    pub(super) wanted: u32,
    pub(super) done: Arc<Notify>,
}

/// What the row said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    /// What was owed is paid, and so many tokens are there to spend.
    Leased(u32),
    /// Nothing is left.
    Spent,
    /// Nothing.
    Silence,
}

impl State {
    /// A scope that had no call in this window or the one before. `lot` is a random number.
    pub(super) fn new(limit: u32, window: u64, lot: u64) -> Self {
        let mut state = Self {
            limit,
            window,
            free: 0,
            used: 0,
            owed: 0,
            tokens: 0,
            asked: false,
            spent: false,
            failed_at: None,
            before: (0, false),
            asking: None,
        };
        state.free = state.draw(lot);
        state
    }

    pub(super) fn window(&self) -> u64 {
        self.window
    }

    /// Goes on to another window.
    pub(super) fn enter(&mut self, window: u64, lot: u64) {
        let before = if window == self.window + 1 { (self.used, self.spent) } else { (0, false) };
        *self = Self { failed_at: self.failed_at, before, ..Self::new(self.limit, window, lot) };
        self.free = self.draw(lot);
    }

    /// How many calls are free. Few, where the last window was spent and many instances may each begin with theirs.
    fn draw(&self, lot: u64) -> u32 {
        let most = free_calls(self.limit);
        let few = self.before.1 && self.limit <= QUICKLY_SPENT;
        let (from, to) = if few { (0, most.div_ceil(3).max(3)) } else { (most.div_ceil(4), most) };
        from + u32::try_from(lot % u64::from(to - from + 1)).expect("a remainder of at most 16 is small")
    }

    pub(super) fn is_spent(&self) -> bool {
        self.spent
    }

    /// Counts a call if it may be made without asking.
    pub(super) fn step(&mut self, moment: Moment) -> Step {
        // What this instance alone has admitted is beyond doubt, whatever the row says, or does not say.
        self.spent |= self.used >= self.limit;
        let window = self.window;
        if self.spent {
            return Step::Deny { window };
        }
        if self.tokens > 0 {
            self.tokens -= 1;
        } else if (!self.asked && self.used < self.free) || self.is_left_alone(moment) {
            self.owed += 1;
        } else if let Some(asking) = &self.asking {
            return Step::Wait(asking.clone().notified_owned());
        } else {
            let done = Arc::new(Notify::new());
            self.asking = Some(done.clone());
            return Step::Ask(Ask { window, look: !self.asked, owed: self.owed, wanted: self.wanted(moment), done });
        }
        self.used += 1;
        Step::Admit { window }
    }

    fn is_left_alone(&self, moment: Moment) -> bool {
        self.failed_at.is_some_and(|at| u128::from(moment.now.abs_diff(at)) < PAUSE.as_millis())
    }

    /// How many calls may be to come: as many as the window before had more than this one, else as many as this one had
    /// so far; of both, no more than its pace lets expect.
    fn wanted(&self, moment: Moment) -> u32 {
        let (over, to_come) = moment.parts_of(self.window);
        let at_this_pace = u64::from(self.used.max(1)) * to_come / over;
        let at_this_pace = u32::try_from(at_this_pace).unwrap_or(u32::MAX);
        let expected = match self.before.0.saturating_sub(self.used) {
            0 => at_this_pace.min(self.used),
            // The free calls on top, which are drawn by lot: else instances with equal pasts would ask again together.
            more => at_this_pace.saturating_mul(2).min(more + self.free),
        };
        let most = most_leased(self.limit);
        expected.clamp(LEAST_LEASE.min(most), most)
    }

    /// Takes in what the row said to `ask`.
    pub(super) fn settle(&mut self, ask: &Ask, answer: Answer, moment: Moment) {
        if answer == Answer::Silence {
            self.failed_at = Some(moment.now);
        }
        if self.window != ask.window {
            return;
        }
        self.asked |= answer != Answer::Silence;
        match answer {
            Answer::Leased(tokens) => {
                // A call that was owed for may have been given back in between: its token is there to spend.
                let paid = self.owed.min(ask.owed);
                self.owed -= paid;
                self.tokens += tokens + (ask.owed - paid);
            }
            Answer::Spent => self.spent = true,
            Answer::Silence => {}
        }
    }

    /// Nobody asks any more, unless it is somebody else.
    pub(super) fn no_longer_asks(&mut self, done: &Arc<Notify>) {
        self.asking.take_if(|asking| Arc::ptr_eq(asking, done));
    }

    /// A call that was counted in this window is not made after all.
    pub(super) fn give_back(&mut self, window: u64) {
        if self.window != window || self.used == 0 {
            return;
        }
        self.used -= 1;
        if self.owed > 0 {
            self.owed -= 1;
        } else {
            self.tokens += 1;
        }
    }
}
