//! What the fuzz targets are made of. Input is text that a person can read and write: a seed, a finding and what the
//! engine breeds all look like a request.
//!
//! | module | |
//! | --- | --- |
//! | [`draw`] | choices out of bytes, by the `arbitrary` crate |
//! | [`words`] | what the protocol and the tools know, and what nobody does |
//! | [`near`] | JSON that nearly fits a schema, and JSON that is odd |
//! | [`exchange`] | a request as text |
//! | [`requests`] | requests out of choices, and changes to them |
//! | [`expected`] | what must come of a request, told a second time and independently of the server |
//! | [`judge`] | whether an answer is what must come |
//! | [`echo`] | a product whose only tools tell which arguments they got, under any schema |
//! | [`arguments`] | arguments against a schema, with a complete validator as the oracle |

pub mod arguments;
pub mod draw;
pub mod echo;
pub mod exchange;
pub mod expected;
pub mod judge;
pub mod near;
pub mod requests;
pub mod words;

use std::cell::Cell;
use std::future::Future;
use std::panic::PanicHookInfo;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

thread_local! {
    static FORGIVING: Cell<bool> = const { Cell::new(false) };
}

/// Ends the process on every panic but those that the fixture makes on purpose, also where the server would catch it.
pub fn end_on_panics() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !FORGIVING.get() && !is_on_purpose(panic) {
            before(panic);
        }
    }));
}

fn is_on_purpose(panic: &PanicHookInfo<'_>) -> bool {
    panic.payload_as_str().is_some_and(|text| text == library::LAST_WORDS || text == "as it was asked")
}

/// Runs what may panic by contract, such as building a catalog of a schema that cannot be advertised.
pub fn forgiving<T>(work: impl FnOnce() -> T) -> Option<T> {
    FORGIVING.set(true);
    let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
    FORGIVING.set(false);
    done.ok()
}

/// Runs a future that waits for nothing but what `nudge` does.
///
/// # Panics
/// If it still waits after many nudges: it hangs.
pub fn finish<T>(work: impl Future<Output = T>, nudge: impl Fn()) -> T {
    let mut work = pin!(work);
    let mut context = Context::from_waker(Waker::noop());
    for _ in 0..100 {
        if let Poll::Ready(done) = work.as_mut().poll(&mut context) {
            return done;
        }
        nudge();
    }
    panic!("the answer never comes");
}
