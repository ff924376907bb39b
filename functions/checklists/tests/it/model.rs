//! A model of two organisations, and random schedules that the product and the model take side by side: after every
//! step the answers agree, and every few steps all lists, counters and stored rows do. Faults at the table are drawn
//! with the steps and change no answer. `PROPTEST_CASES` and `PROPTEST_RNG_SEED` make for longer and other runs.

mod dispatches;
mod drafts;
mod interleaving;
mod people;
mod reference;
mod shown;
mod steps;
mod stored;
mod system;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};
use proptest_state_machine::{ReferenceStateMachine, StateMachineTest};
use reference::Model;
use steps::Transition;
use system::System;

use crate::world::START;

/// Every so many steps the stored rows are compared; at the end, everything.
const THOROUGH: usize = 5;

impl ReferenceStateMachine for Model {
    type State = Self;
    type Transition = Transition;

    fn init_state() -> BoxedStrategy<Self> {
        Just(Self::furnished(START.parse().unwrap())).boxed()
    }

    fn transitions(model: &Self) -> BoxedStrategy<Transition> {
        steps::transitions(model)
    }

    fn apply(mut model: Self, transition: &Transition) -> Self {
        model.take(transition);
        model
    }

    /// A key is there once its member is.
    fn preconditions(model: &Self, transition: &Transition) -> bool {
        transition.key < model.orgs[transition.org].members.len()
    }
}

struct Product;

impl StateMachineTest for Product {
    type SystemUnderTest = System;
    type Reference = Model;

    fn init_test(_: &Model) -> System {
        let (mut system, mut model) = (System::new(), Model::new(START.parse().unwrap()));
        for transition in steps::furnishing() {
            model.take(&transition);
            system.take(&model, &transition);
        }
        system
    }

    fn apply(mut system: System, model: &Model, transition: Transition) -> System {
        system.take(model, &transition);
        system
    }

    fn check_invariants(system: &System, model: &Model) {
        if model.steps.is_multiple_of(THOROUGH) {
            system.compare_stored(model);
        }
    }

    fn teardown(system: System, model: Model) {
        system.compare_everything(&model);
    }
}

/// One run is like the other unless it is asked for.
fn config() -> Config {
    let asked = Config::default();
    let cases = if std::env::var_os("PROPTEST_CASES").is_some() { asked.cases } else { 24 };
    let rng_seed = if asked.rng_seed == RngSeed::Random { RngSeed::Fixed(20_260_522) } else { asked.rng_seed };
    Config { cases, rng_seed, failure_persistence: None, max_shrink_iters: 200, ..asked }
}

proptest_state_machine::prop_state_machine! {
    #![proptest_config(config())]

    #[test]
    fn whatever_happens_in_two_organisations_the_product_answers_as_the_model(sequential 36 => Product);
}
