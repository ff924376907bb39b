//! How the product shows what the model holds.

use checklists::members::INVITATION_LIFETIME;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::reference::{Asset, Body, Dispatched, Invitation, Member};
use super::steps::Label;

/// The link of a run.
pub fn link(run: Label) -> String {
    format!("https://checklists.example/r/{run}")
}

impl Member {
    pub fn shown(&self) -> Value {
        let Self { label, name, email, role, joined_at, .. } = self;
        json!({ "user_id": label.to_string(), "name": name, "email": email, "role": role, "joined_at": joined_at })
    }
}

impl Invitation {
    pub fn is_open(&self, now: Timestamp) -> bool {
        !self.used && now < self.created_at + INVITATION_LIFETIME
    }

    pub fn shown(&self) -> Value {
        let expires_at = self.created_at + INVITATION_LIFETIME;
        json!({ "invitation_id": self.label.to_string(), "email": self.email, "role": self.role, "expires_at": expires_at })
    }
}

impl Asset {
    pub fn shown(&self) -> Value {
        let Self { label, name, fields, created_at, updated_at, .. } = self;
        json!({ "id": label.to_string(), "name": name, "fields": fields, "created_at": created_at, "updated_at": updated_at })
    }
}

impl Body {
    pub fn shown(&self, org: usize) -> Value {
        let mut shown = self.template.to_document();
        let about = json!({
            "id": self.label.to_string(), "v": self.v, "org_id": format!("<org{org}>"),
            "created_at": self.created_at, "updated_at": self.updated_at,
        });
        shown.as_object_mut().unwrap().extend(about.as_object().unwrap().clone());
        shown
    }

    pub fn summary(&self) -> Value {
        let template = &self.template;
        json!({
            "id": self.label.to_string(), "v": self.v, "name": template.name, "description": template.description,
            "tags": template.tags.clone().unwrap_or_default(), "step_count": template.step_count(),
            "est_minutes": template.est_minutes(), "updated_at": self.updated_at, "created_at": self.created_at,
        })
    }
}

impl Dispatched {
    pub fn summary(&self, now: Timestamp) -> Value {
        json!({
            "run_id": self.label.to_string(), "status": self.run.status_at(now), "template_id": self.template.label.to_string(),
            "template_v": self.template.v, "template_name": self.template.template.name,
            "asset_id": self.asset.as_ref().map(|(label, _)| label.to_string()), "executor_ref": self.executor_ref,
            "link": link(self.label), "created_at": self.run.created_at, "expires_at": self.run.expires_at,
        })
    }

    pub fn shown(&self, now: Timestamp) -> Value {
        let run = &self.run;
        let status = run.status_at(now);
        let expired_at = if status.as_str() == "expired" { run.expires_at } else { None };
        json!({
            "run_id": self.label.to_string(), "status": status, "template_id": self.template.label.to_string(),
            "template_v": self.template.v, "template_name": self.template.template.name,
            "asset": self.asset.as_ref().map(|(_, copy)| copy), "executor_ref": self.executor_ref, "link": link(self.label),
            "expires_at": run.expires_at, "assigned_to": run.assigned_to, "identity": run.identity, "progress": run.progress,
            "answers": run.answers, "score": run.score, "cancel": run.cancel, "created_at": run.created_at,
            "created_by": self.created_by.to_string(), "opened_at": run.opened_at, "started_at": run.started_at,
            "completed_at": run.completed_at, "cancelled_at": run.cancelled_at, "expired_at": expired_at,
            "duration_seconds": run.duration_seconds,
        })
    }
}
