//! The rules of checklists: what a template may say, which steps are shown, what an answer has to be, how a run lives
//! and what it scores.
//!
//! Everything here is a pure function of its arguments. There is no clock, no randomness and no input or output: the
//! time and fresh ids are passed in. The same crate therefore judges on the server and, compiled to WebAssembly, on the
//! executor's phone; where the two differ the server's verdict counts.
//!
//! - [`template`]: the typed model of a TDL 1.0 document.
//! - [`validate`]: [`Template::from_document`], every fault of a document at once.
//! - [`condition`]: which steps are shown.
//! - [`answer`]: what an answer is, and whether a step accepts it.
//! - [`progress`] and [`score`]: how far a run is, and what it won.
//! - [`run`]: the life of a run, one [`Run::apply`] for all commands.
//! - [`sample`]: a demo template with every type of step.

pub mod answer;
pub mod condition;
mod decimal;
pub mod progress;
pub mod run;
pub mod sample;
pub mod score;
pub mod template;
pub mod validate;
mod word;

pub use answer::Answer;
pub use progress::Progress;
pub use run::{Change, Command, Refusal, Run, RunStatus};
pub use template::Template;
pub use validate::{IdKind, Violation};
