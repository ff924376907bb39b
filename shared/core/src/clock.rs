//! Time, passed in so that tests can set it.

use std::sync::{Arc, Mutex};

use jiff::{SignedDuration, Timestamp};

/// Tells the time. Instants are whole milliseconds: what a table stores is what was compared.
pub trait Clock: Send + Sync {
    /// The present instant, UTC.
    fn now(&self) -> Timestamp;
}

impl<C: Clock + ?Sized> Clock for Arc<C> {
    fn now(&self) -> Timestamp {
        (**self).now()
    }
}

/// The machine's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        whole_milliseconds(Timestamp::now())
    }
}

/// A clock that stands still until it is told to move.
#[derive(Debug)]
pub struct ManualClock(Mutex<Timestamp>);

impl ManualClock {
    /// A clock that shows `start`.
    pub fn at(start: Timestamp) -> Self {
        Self(Mutex::new(whole_milliseconds(start)))
    }

    /// Moves the clock on by `step`.
    pub fn advance(&self, step: SignedDuration) {
        let mut now = self.0.lock().expect("no holder of the clock panics");
        *now = now.checked_add(step).expect("tests stay within the range of time");
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        *self.0.lock().expect("no holder of the clock panics")
    }
}

fn whole_milliseconds(instant: Timestamp) -> Timestamp {
    Timestamp::from_millisecond(instant.as_millisecond()).expect("a timestamp's milliseconds are a timestamp")
}
