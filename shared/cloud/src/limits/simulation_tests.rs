//! What the module promises of fleets, on schedules that seeds tell.

use super::simulation::{Fleet, Lots, MILLISECOND, SECOND, in_bursts, in_step, instances, limits, scattered};

/// What a partition may be asked to take: DynamoDB allows 1,000, and other keys may live beside it.
const WRITES_A_SECOND: usize = 600;

#[test]
fn any_schedule_on_any_fleet_keeps_the_bounds_in_every_window() {
    for seed in 0..120 {
        let mut lots = Lots(seed);
        let most = [3, 20, 100][usize::try_from(seed % 3).unwrap()];
        let instances = usize::try_from(lots.between(1, most)).unwrap();
        let per_key = u32::try_from(lots.between(1, 600)).unwrap();
        let per_organisation = u32::try_from(lots.between(1, 1500)).unwrap();
        let skew = lots.below(SECOND);
        let fleet = Fleet { instances, limits: limits(per_key, per_organisation), skew, failing: 0, seed };
        let outcome = fleet.run(in_bursts(&fleet, &mut lots, 2000, 25));
        assert_eq!(outcome.broken(), None, "seed {seed}");
    }
}

#[test]
fn a_table_that_fails_now_and_then_or_always_lets_no_instance_pass_its_limit() {
    for seed in 0..30 {
        let mut lots = Lots(seed);
        let failing = [20, 200, 1000][usize::try_from(seed % 3).unwrap()];
        let count = usize::try_from(lots.between(1, 20)).unwrap();
        let fleet = Fleet { instances: count, limits: limits(100, 200), skew: SECOND, failing, seed };
        let outcome = fleet.run(in_bursts(&fleet, &mut lots, 2000, 25));
        for ((_, key, _), tally) in &outcome.tallies {
            let limit = key.map_or(200, |_| 100);
            assert!(tally.admitted <= instances(tally) * limit, "seed {seed}");
        }
    }
}

#[test]
fn one_organisation_at_5000_calls_a_second_heats_no_partition_and_keeps_its_bounds() {
    let by = (0, 0);
    let hottest = |instances, limit, lockstep: bool| {
        let fleet = Fleet { instances, limits: limits(limit, limit), skew: 0, failing: 0, seed: 7 };
        // The end of one window and the start of the next, which the one before it has a say in.
        let calls = if lockstep { in_step(&fleet, by, 5000, (8, 13)) } else { scattered(&fleet, by, 5000, (8, 13)) };
        let count = calls.len();
        let outcome = fleet.run(calls);
        let hottest = outcome.hottest[&0];
        println!("{instances} instances, limit {limit}, lockstep {lockstep}: {hottest} WU/s, {} writes of {count} calls", outcome.writes);
        assert!(hottest < WRITES_A_SECOND, "{instances} instances, limit {limit}, lockstep {lockstep}: {hottest}");
        assert_eq!(outcome.broken(), None);
    };
    hottest(1, 2_000, false);
    hottest(30, 100_000, false);
    hottest(300, 5_000, false);
    hottest(700, 100_000, true);
    hottest(1000, 300, true);
    hottest(1000, 1_000, true);
    hottest(1000, 20_000, true);
    hottest(1000, 100_000, false);
}

#[test]
fn a_quiet_organisation_beside_a_loud_one_is_never_denied_and_never_waits_for_its_rows() {
    let (loud, quiet) = (0, 1);
    for (instances, slowest) in [(3, 20 * MILLISECOND), (1000, 0)] {
        let fleet = Fleet { instances, limits: limits(1000, 2000), skew: SECOND, failing: 0, seed: 3 };
        let mut calls = scattered(&fleet, (loud, 0), 2500, (5, 15));
        calls.extend(scattered(&fleet, (loud, 1), 2500, (5, 15)));
        calls.extend(scattered(&fleet, (quiet, 0), 5, (0, 20)));
        let outcome = fleet.run(calls);
        assert_eq!(outcome.broken(), None);
        assert!(outcome.of(loud).any(|tally| tally.denied > 1000));
        assert!(outcome.of(quiet).all(|tally| tally.denied == 0));
        // Of its own rows, one look and one write at most, each there and back.
        assert!(outcome.slowest[&quiet] <= slowest, "{instances} instances: {} us", outcome.slowest[&quiet]);
    }
}

#[test]
fn a_fleet_whose_calls_stay_well_below_the_limit_is_never_denied() {
    for instances in [1, 5, 20] {
        let fleet = Fleet { instances, limits: limits(2000, 2000), skew: SECOND, failing: 0, seed: 11 };
        let outcome = fleet.run(scattered(&fleet, (0, 0), 140, (0, 40)));
        assert!(outcome.of(0).all(|tally| tally.denied == 0), "{instances} instances");
    }
}

#[test]
fn the_same_seed_tells_the_same_story() {
    let fleet = Fleet { instances: 20, limits: limits(50, 100), skew: SECOND, failing: 100, seed: 5 };
    let story = || {
        let outcome = fleet.run(in_bursts(&fleet, &mut Lots(5), 2000, 25));
        (outcome.tallies.values().map(|tally| tally.admitted).collect::<Vec<_>>(), outcome.writes)
    };
    assert_eq!(story(), story());
}
