//! Fleets of instances on one virtual clock: the code that decides is the real one, the rows are in memory, and their
//! answers take time, so that instances get in each other's way. Nothing sleeps; a seed tells one schedule.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, VecDeque};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use jiff::Timestamp;
use onepost_core::auth::{Operator, Org};

use super::{Admission, Limiter, Limits, Row, Rows, Scope, Taking, free_calls, most_leased};
use crate::table::TableError;

/// Instants and durations of the simulation are in microseconds.
pub(super) const MILLISECOND: u64 = 1000;
pub(super) const SECOND: u64 = 1_000_000;
const WINDOW: u64 = 10;
/// The start of a window.
const EPOCH: u64 = 1_767_225_600 * SECOND;

/// Numbers that a seed tells (splitmix64).
pub(super) struct Lots(pub(super) u64);

impl Lots {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    pub(super) fn between(&mut self, from: u64, to: u64) -> u64 {
        from + self.below(to - from + 1)
    }
}

/// The rows, the clock, and what is metered.
struct World {
    now: u64,
    lots: Lots,
    /// Of a thousand requests, so many fail.
    failing: u64,
    taken: HashMap<(Scope, u64), u32>,
    writes: HashMap<(Scope, u64), Vec<u64>>,
    /// The instance that runs, and when to run which again.
    running: usize,
    wakes: BinaryHeap<Reverse<(u64, usize)>>,
}

#[derive(Clone)]
struct Memory(Arc<Mutex<World>>);

impl Memory {
    fn world(&self) -> MutexGuard<'_, World> {
        self.0.lock().unwrap()
    }

    /// Half of the way to a row and back.
    async fn way(&self) {
        let due = {
            let mut world = self.world();
            let due = world.now + world.lots.between(MILLISECOND, 5 * MILLISECOND);
            let running = world.running;
            world.wakes.push(Reverse((due, running)));
            due
        };
        std::future::poll_fn(|_| if self.world().now >= due { Poll::Ready(()) } else { Poll::Pending }).await;
    }

    fn fails(&self) -> Result<(), TableError> {
        let mut world = self.world();
        let fails = world.failing > 0 && world.lots.below(1000) < world.failing;
        if fails { Err(TableError::failed("the simulation wants it")) } else { Ok(()) }
    }
}

impl Rows for Memory {
    async fn taken(&self, row: Row<'_>) -> Result<u32, TableError> {
        self.way().await;
        self.fails()?;
        let taken = {
            let mut world = self.world();
            let taken = world.taken.get(&(row.scope.clone(), row.start)).copied().unwrap_or(0);
            // An eventual read may be behind.
            if world.lots.below(10) == 0 { u32::try_from(world.lots.below(u64::from(taken) + 1)).unwrap() } else { taken }
        };
        self.way().await;
        Ok(taken)
    }

    async fn take(&self, row: Row<'_>, tokens: u32, limit: u32) -> Result<Taking, TableError> {
        self.way().await;
        self.fails()?;
        let taking = {
            let mut world = self.world();
            let now = world.now;
            let place = (row.scope.clone(), row.start);
            world.writes.entry(place.clone()).or_default().push(now);
            let taken = world.taken.entry(place).or_default();
            let refused = *taken + tokens > limit;
            let before = *taken;
            *taken += if refused { 0 } else { tokens };
            if refused { Taking::Refused { taken: before } } else { Taking::Taken }
        };
        self.way().await;
        // Done, and the answer is lost.
        self.fails()?;
        Ok(taking)
    }
}

/// A call that waits for an answer.
type Admitting<'a> = Pin<Box<dyn Future<Output = Admission> + 'a>>;

/// A call to come.
#[derive(Clone, Copy)]
pub(super) struct Call {
    at: u64,
    instance: usize,
    /// Which organisation, and which of its keys.
    by: (usize, usize),
}

/// What came of the calls of one organisation or key in one window.
#[derive(Default, Clone)]
pub(super) struct Tally {
    pub(super) admitted: u32,
    pub(super) denied: u32,
    instances: BTreeSet<usize>,
}

/// What came of a fleet's calls.
pub(super) struct Outcome {
    limits: Limits,
    /// By organisation, key (none for all of them) and window.
    pub(super) tallies: BTreeMap<(usize, Option<usize>, u64), Tally>,
    /// The most writes to one row within a second, by organisation.
    pub(super) hottest: BTreeMap<usize, usize>,
    pub(super) writes: usize,
    /// The longest that a call took, by organisation.
    pub(super) slowest: BTreeMap<usize, u64>,
}

/// A fleet on which calls are made.
pub(super) struct Fleet {
    pub(super) instances: usize,
    pub(super) limits: Limits,
    /// The most that one instance's clock differs from another's.
    pub(super) skew: u64,
    pub(super) failing: u64,
    pub(super) seed: u64,
}

pub(super) fn limits(per_key: u32, per_organisation: u32) -> Limits {
    Limits { window: Duration::from_secs(WINDOW), per_key, per_organisation }
}

#[expect(clippy::disallowed_methods, reason = "tests act for any organisation")]
fn orgs() -> Vec<Org> {
    (0..3).map(|number| Operator::at_the_terminal().org(&format!("org-{number}"))).collect()
}

impl Fleet {
    /// Makes the calls, each instance one at a time.
    pub(super) fn run(&self, mut calls: Vec<Call>) -> Outcome {
        let mut lots = Lots(self.seed);
        let world = World {
            now: EPOCH,
            lots: Lots(lots.next()),
            failing: self.failing,
            taken: HashMap::new(),
            writes: HashMap::new(),
            running: 0,
            wakes: BinaryHeap::new(),
        };
        let memory = Memory(Arc::new(Mutex::new(world)));
        let orgs = orgs();
        let keys: Vec<String> = (0..10).map(|key| format!("key-{key}")).collect();
        let limiters: Vec<_> = (0..self.instances).map(|_| Limiter::with_lots(memory.clone(), self.limits, lots.next())).collect();
        let skews: Vec<u64> = (0..self.instances).map(|_| lots.between(0, self.skew)).collect();
        let mut outcome =
            Outcome { limits: self.limits, tallies: BTreeMap::new(), hottest: BTreeMap::new(), writes: 0, slowest: BTreeMap::new() };
        let mut busy: Vec<Option<(Call, Admitting<'_>)>> = Vec::new();
        busy.resize_with(self.instances, || None);
        let mut queues = vec![VecDeque::new(); self.instances];
        calls.sort_by_key(|call| call.at);
        let mut calls = calls.into_iter().peekable();
        let mut context = Context::from_waker(Waker::noop());
        loop {
            let wake = memory.world().wakes.peek().map(|Reverse((due, _))| *due);
            let at = match (calls.peek().map(|call| call.at), wake) {
                (Some(call), Some(wake)) => call.min(wake),
                (Some(one), None) | (None, Some(one)) => one,
                (None, None) => break,
            };
            memory.world().now = at;
            let instance = if Some(at) == wake {
                memory.world().wakes.pop().unwrap().0.1
            } else {
                let call = calls.next().unwrap();
                queues[call.instance].push_back(call);
                if busy[call.instance].is_some() {
                    continue;
                }
                call.instance
            };
            memory.world().running = instance;
            loop {
                if busy[instance].is_none() {
                    let Some(call) = queues[instance].pop_front() else { break };
                    let shown = i64::try_from((at + skews[instance]) / MILLISECOND).unwrap();
                    let (org, key) = (&orgs[call.by.0], &keys[call.by.1]);
                    let admit = limiters[instance].admit(org, key, Timestamp::from_millisecond(shown).unwrap());
                    busy[instance] = Some((Call { at, ..call }, Box::pin(admit)));
                }
                let Some((call, admit)) = &mut busy[instance] else { break };
                let Poll::Ready(admission) = admit.as_mut().poll(&mut context) else { break };
                outcome.count(*call, &admission, (call.at + skews[instance]) / SECOND / WINDOW, at);
                busy[instance] = None;
            }
        }
        drop(busy);
        outcome.meter(&memory.world(), &orgs);
        outcome
    }
}

impl Outcome {
    fn count(&mut self, call: Call, admission: &Admission, window: u64, now: u64) {
        let (org, key) = call.by;
        for key in [None, Some(key)] {
            let tally = self.tallies.entry((org, key, window)).or_default();
            tally.instances.insert(call.instance);
            match admission {
                Admission::Denied { retry_after } => {
                    assert!((1..=11).contains(retry_after), "{retry_after}");
                    tally.denied += 1;
                }
                Admission::Admitted | Admission::OnTrust { .. } => tally.admitted += 1,
            }
        }
        let slowest = self.slowest.entry(org).or_default();
        *slowest = (*slowest).max(now - call.at);
    }

    fn meter(&mut self, world: &World, orgs: &[Org]) {
        for ((scope, _), times) in &world.writes {
            let (Scope::Organisation(of) | Scope::Key(of, _)) = scope;
            let org = orgs.iter().position(|org| org == of).unwrap();
            let mut from = 0;
            let within_a_second = |(to, now): (usize, &u64)| {
                while times[from] + SECOND <= *now {
                    from += 1;
                }
                to + 1 - from
            };
            let most = times.iter().enumerate().map(within_a_second).max().unwrap_or(0);
            let hottest = self.hottest.entry(org).or_default();
            *hottest = (*hottest).max(most);
            self.writes += times.len();
        }
    }

    /// Where a window breaks a bound that the module's docs promise.
    pub(super) fn broken(&self) -> Option<String> {
        let excess = |limit: u32, tally: &Tally| tally.admitted > limit + instances(tally) * free_calls(limit);
        let lacks = |limit: u32, tally: &Tally| tally.admitted + instances(tally) * most_leased(limit) < limit;
        self.tallies.iter().find_map(|((org, key, window), tally)| {
            let of_all = &self.tallies[&(*org, None, *window)];
            let limit = key.map_or(self.limits.per_organisation, |_| self.limits.per_key);
            // A call that was denied was denied by its key or by its organisation.
            let wrongly = key.is_some() && tally.denied > 0 && lacks(limit, tally) && lacks(self.limits.per_organisation, of_all);
            let what = format!("{}/{} of {limit}, {} instances", tally.admitted, tally.denied, instances(tally));
            (excess(limit, tally) || wrongly).then(|| format!("{what}: organisation {org}, key {key:?}, window {window}"))
        })
    }

    pub(super) fn of(&self, org: usize) -> impl Iterator<Item = &Tally> {
        self.tallies.iter().filter(move |((of, key, _), _)| *of == org && key.is_none()).map(|(_, tally)| tally)
    }
}

pub(super) fn instances(tally: &Tally) -> u32 {
    u32::try_from(tally.instances.len()).unwrap()
}

/// Calls at random moments on random instances.
pub(super) fn scattered(fleet: &Fleet, by: (usize, usize), per_second: u64, seconds: (u64, u64)) -> Vec<Call> {
    let mut lots = Lots(fleet.seed ^ 1);
    let count = per_second * (seconds.1 - seconds.0);
    let mut call = || {
        let at = EPOCH + lots.between(seconds.0 * SECOND, seconds.1 * SECOND);
        let instance = usize::try_from(lots.below(fleet.instances as u64)).unwrap();
        Call { at, instance, by }
    };
    (0..count).map(|_| call()).collect()
}

/// Calls on all instances at once, again and again.
pub(super) fn in_step(fleet: &Fleet, by: (usize, usize), per_second: u64, seconds: (u64, u64)) -> Vec<Call> {
    let between = SECOND * fleet.instances as u64 / per_second;
    let steps = (seconds.1 - seconds.0) * SECOND / between;
    let at = |step| EPOCH + seconds.0 * SECOND + step * between;
    (0..steps).flat_map(|step| (0..fleet.instances).map(move |instance| Call { at: at(step), instance, by })).collect()
}

/// Bursts of any size at any moment, each on some of the instances, by some callers.
pub(super) fn in_bursts(fleet: &Fleet, lots: &mut Lots, calls: u64, seconds: u64) -> Vec<Call> {
    let mut all = Vec::new();
    while (all.len() as u64) < calls {
        let at = EPOCH + lots.below(seconds * SECOND);
        let length = lots.between(1, SECOND);
        let first = lots.below(fleet.instances as u64);
        let width = lots.between(1, fleet.instances as u64);
        let by = (usize::try_from(lots.below(3)).unwrap(), usize::try_from(lots.below(3)).unwrap());
        for _ in 0..lots.between(1, calls / 4 + 1) {
            let instance = usize::try_from((first + lots.below(width)) % fleet.instances as u64).unwrap();
            all.push(Call { at: at + lots.below(length), instance, by });
        }
    }
    all
}
