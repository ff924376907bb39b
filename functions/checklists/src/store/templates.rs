//! Templates: a small head that lists are made of, and immutable bodies, one per version. Runs refer to id and version,
//! so a body outlives its template.

use std::io::{Read, Write};

use checklists_rules::{Progress, Template};
use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use futures_util::try_join;
use jiff::Timestamp;
use onepost_cloud::table::{Action, Blob, Condition, Consistency, Direction, Key, Partition, TableError};
use onepost_core::auth::Org;
use onepost_core::error::ToolError;
use serde::{Deserialize, Serialize};
use serde_json::Number;

use super::organisations::TEMPLATES;
use super::{Store, TRIES, keys, step_aside, was_overtaken};
use crate::caller::{KeyCheck, key_ended};

/// What is known of a template without its sections.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TemplateHead {
    /// `t-` and a UUID of version 7.
    pub id: String,
    /// 1, and one more with each change.
    pub v: u32,
    /// Its name.
    pub name: String,
    /// What it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its tags.
    pub tags: Vec<String>,
    /// How many steps it has.
    pub step_count: u32,
    /// How long it takes, in minutes, as its author says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub est_minutes: Option<Number>,
    /// Whether there is anything to show to an executor.
    pub showable: bool,
    /// How far a run is when it begins.
    pub progress: Progress,
    /// When version 1 was made.
    pub created_at: Timestamp,
    /// When this version was made.
    pub updated_at: Timestamp,
}

/// One version of a template.
#[derive(Debug, Clone, PartialEq)]
pub struct TemplateBody {
    /// Which version.
    pub v: u32,
    /// When version 1 was made.
    pub created_at: Timestamp,
    /// When this version was made.
    pub updated_at: Timestamp,
    /// What it says.
    pub template: Template,
}

#[derive(Serialize, Deserialize)]
struct BodyRow {
    v: u32,
    created_at: Timestamp,
    updated_at: Timestamp,
    /// The document as JSON, deflated.
    z: Blob,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cause {
    KeyEnded,
    NoRoom,
    Overtaken,
}

impl TemplateHead {
    fn new(id: &str, body: &TemplateBody) -> Self {
        let template = &body.template;
        Self {
            id: id.to_owned(),
            v: body.v,
            name: template.name.clone(),
            description: template.description.clone(),
            tags: template.tags.clone().unwrap_or_default(),
            step_count: u32::try_from(template.step_count()).expect("a template has at most 300 steps"),
            est_minutes: template.est_minutes().cloned(),
            showable: template.has_showable_step(),
            progress: template.initial_progress(),
            created_at: body.created_at,
            updated_at: body.updated_at,
        }
    }
}

impl Store {
    /// Adds a template. Three items: the limit of templates is kept in the same transaction, and the head keeps lists
    /// small.
    pub async fn add_template(&self, org: &Org, id: &str, template: Template, now: Timestamp) -> Result<TemplateBody, ToolError> {
        let body = TemplateBody { v: 1, created_at: now, updated_at: now, template };
        let actions = vec![
            Action::put(head_key(org, id), &TemplateHead::new(id, &body)).only_if(Condition::Absent, Cause::Overtaken),
            Action::put(body_key(org, id, 1), &BodyRow::of(&body)?),
            TEMPLATES.raise(org, Cause::NoRoom),
        ];
        let written = self.table.transact(actions).await;
        written.map_err(|error| {
            error.told(|refused| match refused.cause {
                Cause::NoRoom => TEMPLATES.exceeded(refused.found, now),
                Cause::Overtaken | Cause::KeyEnded => ToolError::internal("a template's id was drawn twice"),
            })
        })?;
        Ok(body)
    }

    /// The templates, newest first.
    pub async fn templates(&self, org: &Org) -> Result<Vec<TemplateHead>, TableError> {
        self.table.query(rack(org)).direction(Direction::Descending).all().await
    }

    /// A template without its sections.
    pub async fn template_head(&self, org: &Org, id: &str) -> Result<Option<TemplateHead>, TableError> {
        self.table.get(head_key(org, id), Consistency::Strong).await
    }

    /// The present version. Head and newest body are read at the same time: the head tells that the template is there,
    /// the body is whole in itself.
    pub async fn template(&self, org: &Org, id: &str) -> Result<Option<TemplateBody>, ToolError> {
        let (head, body) = try_join!(self.template_head(org, id), self.newest_body(org, id))?;
        head.and(body).map(BodyRow::into_body).transpose()
    }

    async fn newest_body(&self, org: &Org, id: &str) -> Result<Option<BodyRow>, TableError> {
        self.table.query(bodies(org, id)).direction(Direction::Descending).first().await
    }

    /// One version, also of a template that was deleted: runs refer to it.
    pub async fn template_version(&self, org: &Org, id: &str, v: u32) -> Result<Option<TemplateBody>, ToolError> {
        let row: Option<BodyRow> = self.table.get(body_key(org, id, v), Consistency::Strong).await?;
        row.map(BodyRow::into_body).transpose()
    }

    /// Changes a template: `change` makes the next version of the present one, or says that nothing changes. If
    /// somebody else was quicker, it is asked again on theirs.
    pub async fn update_template(
        &self,
        org: &Org,
        id: &str,
        now: Timestamp,
        change: impl Fn(&Template) -> Result<Option<Template>, ToolError>,
    ) -> Result<Option<TemplateBody>, ToolError> {
        for tries in 0..TRIES {
            let Some(present) = self.template(org, id).await? else { return Ok(None) };
            let Some(template) = change(&present.template)? else { return Ok(Some(present)) };
            let next = TemplateBody { v: present.v + 1, created_at: present.created_at, updated_at: now, template };
            let still = Condition::is("v", present.v);
            let actions = vec![
                Action::put(head_key(org, id), &TemplateHead::new(id, &next)).only_if(still, Cause::Overtaken),
                Action::put(body_key(org, id, next.v), &BodyRow::of(&next)?),
            ];
            match self.table.transact(actions).await {
                Ok(()) => return Ok(Some(next)),
                Err(error) if was_overtaken(&error, |cause| *cause == Cause::Overtaken) => step_aside(tries).await,
                Err(error) => return Err(error.told(|_| ToolError::internal("only one condition was set"))),
            }
        }
        Err(ToolError::try_again("busy", "This template is being changed by others at this moment. Try again.", 1))
    }

    /// Deletes a template. Runs keep their version of it. Without such a template: `false`.
    pub async fn delete_template(&self, right: &KeyCheck, id: &str) -> Result<bool, ToolError> {
        let org = right.org();
        let delete = Action::delete(head_key(org, id)).only_if(Condition::Exists, Cause::Overtaken);
        match self.table.transact(vec![keys::demand(right, Cause::KeyEnded), delete, TEMPLATES.lower(org)]).await {
            Ok(()) => Ok(true),
            Err(error) if was_overtaken(&error, |cause| *cause == Cause::KeyEnded) => Err(key_ended()),
            Err(error) if was_overtaken(&error, |_| true) => Ok(false),
            Err(error) => Err(error.told(|_| ToolError::internal("only one condition was set"))),
        }
    }
}

/// The same for an id that never was, one of another organisation, and one deleted before.
pub fn template_not_found() -> ToolError {
    ToolError::not_found("template_not_found", "Template not found. list_templates shows the templates of your organisation.")
}

impl BodyRow {
    fn of(body: &TemplateBody) -> Result<Self, ToolError> {
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
        let json = serde_json::to_vec(&body.template).map_err(ToolError::internal)?;
        let z = encoder.write_all(&json).and_then(|()| encoder.finish()).map_err(ToolError::internal)?;
        Ok(Self { v: body.v, created_at: body.created_at, updated_at: body.updated_at, z: Blob(z) })
    }

    fn into_body(self) -> Result<TemplateBody, ToolError> {
        let mut json = Vec::new();
        DeflateDecoder::new(self.z.0.as_slice()).read_to_end(&mut json).map_err(ToolError::internal)?;
        let template = serde_json::from_slice(&json).map_err(ToolError::internal)?;
        Ok(TemplateBody { v: self.v, created_at: self.created_at, updated_at: self.updated_at, template })
    }
}

fn rack(org: &Org) -> Partition {
    Partition::of(org, "T")
}

fn head_key(org: &Org, id: &str) -> Key {
    rack(org).key(id)
}

fn bodies(org: &Org, id: &str) -> Partition {
    Partition::of(org, &format!("TB#{id}"))
}

fn body_key(org: &Org, id: &str, v: u32) -> Key {
    bodies(org, id).key(format!("v{v:07}"))
}
