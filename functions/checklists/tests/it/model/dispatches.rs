//! Runs of the model.

use std::collections::BTreeSet;

use checklists::plan::{Limited, month_of};
use checklists_rules::Run;
use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use super::reference::{Asset, Dispatched, Expected, Organisation, Outcome, refused};
use super::shown::link;
use super::steps::{Deed, Kind, Label};

impl Organisation {
    #[expect(clippy::too_many_arguments, reason = "one for each of the tool's")]
    pub fn create_run(
        &mut self,
        org: usize,
        key: usize,
        template: usize,
        asset: Option<usize>,
        executor_ref: Option<&str>,
        hours: Option<f64>,
        now: Timestamp,
    ) -> Outcome {
        let asset = asset.map(|asset| self.asset(asset)).transpose()?;
        let template = self.template(template)?.clone();
        if !template.template.has_showable_step() {
            return refused("template_empty");
        }
        let used = self.usage.get(&month_of(now)).copied().unwrap_or(0);
        Self::room(Limited::Runs, self.plan.runs_per_month, used as usize, now)?;
        #[expect(clippy::cast_possible_truncation, reason = "hours of a test are few")]
        let seconds = |hours: f64| SignedDuration::from_secs((hours * 3600.0) as i64);
        let whole = Timestamp::from_second(now.as_second()).unwrap();
        let expires_at = hours.or(self.default_expiry_hours).map(|hours| whole + seconds(hours));
        let label = Label { kind: Kind::Run, org, n: self.runs.len() };
        let copy = |asset: &Asset| (asset.label, json!({ "id": asset.label.to_string(), "name": asset.name, "fields": asset.fields }));
        let dispatched = Dispatched {
            label,
            run: Run::dispatched(&template.template, now, expires_at),
            template,
            asset: asset.map(copy),
            executor_ref: executor_ref.map(str::to_owned),
            created_by: self.members[key].label,
            operations: BTreeSet::new(),
            gone: false,
        };
        self.runs.push(dispatched);
        *self.usage.entry(month_of(now)).or_default() += 1;
        Ok(Expected::Made(label, json!({ "run_id": label.to_string(), "link": link(label), "expires_at": expires_at })))
    }

    /// The rules of a run are those of the product, which have tests of their own: here it counts that what was
    /// decided is what is stored and shown from then on.
    pub fn execute(&mut self, n: usize, deed: &Deed, operation: Option<&String>, now: Timestamp) -> Outcome {
        let created_at = self.runs.get(n).map_or(now, |run| run.run.created_at);
        let command = Box::new(deed.command(created_at, now));
        if let Err((code, _)) = self.run(n) {
            return Ok(Expected::Run(command, Err(code)));
        }
        let Dispatched { template, run, operations, .. } = &mut self.runs[n];
        if operation.is_some_and(|operation| operations.contains(operation)) {
            return Ok(Expected::Run(command, Ok(json!(run))));
        }
        match run.apply(&template.template, &command, now) {
            Ok(_) => {
                operations.extend(operation.cloned());
                Ok(Expected::Run(command, Ok(json!(run))))
            }
            Err(refusal) => Ok(Expected::Run(command, Err(refusal.code.as_str()))),
        }
    }
}
