//! Templates: list, get, create, update, delete.

use std::collections::{HashSet, VecDeque};

use checklists_rules::{IdKind, Template, Violation};
use jiff::Timestamp;
use onepost_core::auth::Org;
use onepost_core::catalog::{Call, Hints, Nulls, Reply, Tool, ToolSpec};
use onepost_core::error::ToolError;
use onepost_core::id::Ids;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Number, Value, json};

use super::{List, NAME_PATTERN, NoArguments, id_pattern};
use crate::store::{TemplateBody, TemplateHead, template_not_found};
use crate::{Caller, Checklists};

/// Random characters of a generated id, after its prefix.
const ID_LENGTH: usize = 6;

/// Characters of a description that a list shows.
const SHOWN_OF_DESCRIPTION: usize = 200;

/// How TDL is written, in the words that a model needs.
const SECTIONS: &str = "The checklist in TDL: an array of {title?, steps: [...]}. A step is {type, label, hint?, required?, photo?, geo?, condition?, \
                        config?}. Types: boolean, choice and multi_choice (config.options: [{label}, ...]), text (config.multiline), number \
                        (config.min, max, decimals, unit), rating (config.max), photo (config.min, max), signature, instruction (config.body), \
                        barcode, datetime (config.mode: date, datetime or time). photo: {min, max} asks for photos beside any answer. \
                        condition: {when: {step, op, value}} names an earlier step by its id, so give ids (s-abc1; sections g-, options o-) \
                        to what you refer to; op is eq, neq, gt, lt, gte, lte, contains, not_contains, answered or skipped; combine with \
                        {op: \"and\" or \"or\", rules: [...]}. Ids left out are made. Up to 50 sections, 300 steps, 256 KiB.";

/// A template in a list.
#[derive(Serialize, JsonSchema)]
pub struct TemplateSummary {
    /// Its id: t- and a UUID.
    id: String,
    /// Its version.
    v: u32,
    /// Its name.
    name: String,
    /// What it is for, its first 200 characters, or null.
    description: Option<String>,
    /// Its tags.
    tags: Vec<String>,
    /// How many steps it has.
    step_count: u32,
    /// How long it takes, in minutes, as its author says; or null.
    #[schemars(with = "Option<f64>")]
    est_minutes: Option<Number>,
    /// When it last changed, in UTC.
    #[schemars(with = "String")]
    updated_at: Timestamp,
}

impl From<TemplateHead> for TemplateSummary {
    fn from(head: TemplateHead) -> Self {
        let TemplateHead { id, v, name, description, tags, step_count, est_minutes, updated_at, .. } = head;
        Self { id, v, name, description: description.map(shortened), tags, step_count, est_minutes, updated_at }
    }
}

/// A list of 500 whole descriptions would be more than a model reads.
fn shortened(description: String) -> String {
    match description.char_indices().nth(SHOWN_OF_DESCRIPTION) {
        Some((end, _)) => format!("{}…", &description[..end]),
        None => description,
    }
}

/// A whole template.
#[derive(Serialize, JsonSchema)]
pub struct TemplateOutput {
    /// Its id: t- and a UUID.
    id: String,
    /// Its version: 1, and one more with each change.
    v: u32,
    /// The organisation it belongs to; its id never changes.
    org_id: String,
    /// When it was made, in UTC.
    #[schemars(with = "String")]
    created_at: Timestamp,
    /// When it last changed, in UTC.
    #[schemars(with = "String")]
    updated_at: Timestamp,
    /// Its TDL document: name, description, tags, settings, execution, sections and what else it has.
    #[serde(flatten)]
    #[schemars(with = "Map<String, Value>")]
    template: Template,
}

impl TemplateOutput {
    fn new(org: &Org, id: String, body: TemplateBody) -> Self {
        let TemplateBody { v, created_at, updated_at, template } = body;
        Self { id, v, org_id: org.as_str().to_owned(), created_at, updated_at, template }
    }
}

/// Names one template.
#[derive(Deserialize, JsonSchema)]
pub struct TemplateId {
    /// The template's id, as list_templates and create_template give it.
    #[schemars(regex(pattern = id_pattern!("t")))]
    template_id: String,
}

/// `list_templates`
pub struct ListTemplates;

impl Tool for ListTemplates {
    type Product = Checklists;
    type Args = NoArguments;
    type Output = List<TemplateSummary>;
    const SPEC: ToolSpec = ToolSpec {
        name: "list_templates",
        title: "List templates",
        description: "Answers all checklist templates of your organisation (500 at most), newest first, without their sections. get_template \
                      has one whole.",
        hints: Hints::READ,
        ..ToolSpec::STRICT
    };

    async fn call(product: &Checklists, call: Call<'_, Caller>, _: NoArguments) -> Result<Reply<List<TemplateSummary>>, ToolError> {
        let heads = product.store.templates(call.caller.org()).await?;
        Ok(List { data: heads.into_iter().map(TemplateSummary::from).collect() }.into())
    }
}

/// `get_template`
pub struct GetTemplate;

impl Tool for GetTemplate {
    type Product = Checklists;
    type Args = TemplateId;
    type Output = TemplateOutput;
    const SPEC: ToolSpec = ToolSpec {
        name: "get_template",
        title: "Get a template",
        description: "Answers one checklist template by its id, whole: its TDL document with sections, steps and ids, beside v, the version.",
        hints: Hints::READ,
        ..ToolSpec::STRICT
    };

    async fn call(product: &Checklists, call: Call<'_, Caller>, args: TemplateId) -> Result<Reply<TemplateOutput>, ToolError> {
        let org = call.caller.org();
        let body = product.store.template(org, &args.template_id).await?.ok_or_else(template_not_found)?;
        Ok(TemplateOutput::new(org, args.template_id, body).into())
    }
}

/// The parts of a template that are written through the tools. Each is checked whole by the rules of TDL.
#[derive(Deserialize, JsonSchema)]
pub struct TemplateParts {
    /// What the checklist is for, as plain text or a little Markdown. Up to 2,000 characters.
    // Not as maxLength: local models' grammars refuse repetitions of 2,000 and more. The rules of TDL check it.
    description: Option<String>,
    /// Words to find it by.
    #[schemars(length(max = 20), inner(length(min = 1, max = 40)))]
    tags: Option<Vec<String>>,
    /// How it behaves: allow_skip, signature_on_complete, voice, allow_edit, review_before_submit (true or false), est_minutes (number),
    /// timezone (IANA name), layout (one_per_screen or section_per_screen), photo_long_edge (1024 to 4096).
    settings: Option<Map<String, Value>>,
    #[doc = "The checklist in TDL."]
    #[schemars(length(max = 50), extend("description" = SECTIONS))]
    sections: Option<Vec<Map<String, Value>>>,
    /// Who may carry it out: scope (any, org or assigned), identity_required (none, external or member), external_fields (of name, phone,
    /// email).
    execution: Option<Map<String, Value>>,
}

impl TemplateParts {
    /// The members that were given, as those of a document.
    fn given(self) -> impl Iterator<Item = (&'static str, Value)> {
        let objects = |objects: Vec<Map<String, Value>>| Value::Array(objects.into_iter().map(Value::Object).collect());
        [
            ("description", self.description.map(Value::from)),
            ("tags", self.tags.map(Value::from)),
            ("settings", self.settings.map(Value::Object)),
            ("sections", self.sections.map(objects)),
            ("execution", self.execution.map(Value::Object)),
        ]
        .into_iter()
        .filter_map(|(member, value)| Some((member, value?)))
    }
}

/// `create_template`
pub struct CreateTemplate;

/// Arguments of `create_template`.
#[derive(Deserialize, JsonSchema)]
pub struct CreateTemplateArgs {
    /// What people call the checklist.
    #[schemars(length(min = 1, max = 120), regex(pattern = NAME_PATTERN))]
    name: String,
    /// The rest of it.
    #[serde(flatten)]
    parts: TemplateParts,
}

impl Tool for CreateTemplate {
    type Product = Checklists;
    type Args = CreateTemplateArgs;
    type Output = TemplateOutput;
    const SPEC: ToolSpec = ToolSpec {
        name: "create_template",
        title: "Create a template",
        description: "Adds a checklist template and answers it whole, with v = 1 and an id for everything. You write the TDL yourself: nothing \
                      is generated from a description here. A document that does not hold is refused with invalid_template, which lists \
                      every fault at once, each with a JSON pointer and a rule. The id lives until delete_template. Every call makes another \
                      template and counts against the plan's templates.",
        hints: Hints::CREATE,
        ..ToolSpec::STRICT
    };

    async fn call(product: &Checklists, call: Call<'_, Caller>, args: CreateTemplateArgs) -> Result<Reply<TemplateOutput>, ToolError> {
        let org = call.caller.org();
        let document = with_members(Map::from_iter([("name".to_owned(), json!(args.name))]), args.parts.given());
        let template = checked(&product.ids, document)?;
        let id = product.ids.time_ordered("t", call.now);
        let body = product.store.add_template(org, &id, template, call.now).await?;
        Ok(TemplateOutput::new(org, id, body).into())
    }
}

/// `update_template`
pub struct UpdateTemplate;

/// Arguments of `update_template`.
#[derive(Deserialize, JsonSchema)]
pub struct UpdateTemplateArgs {
    /// The template's id, as list_templates and create_template give it.
    #[schemars(regex(pattern = id_pattern!("t")))]
    template_id: String,
    /// A new name. Left out, the name stays.
    #[schemars(length(min = 1, max = 120), regex(pattern = NAME_PATTERN))]
    name: Option<String>,
    /// The rest of it.
    #[serde(flatten)]
    parts: TemplateParts,
}

impl Tool for UpdateTemplate {
    type Product = Checklists;
    type Args = UpdateTemplateArgs;
    type Output = TemplateOutput;
    const SPEC: ToolSpec = ToolSpec {
        name: "update_template",
        title: "Update a template",
        description: "Changes a template and answers it whole. What is left out stays; what is given replaces the old value whole, so to change \
                      one step send all sections with their ids (get_template has them). A step that keeps its id keeps its type. v rises by \
                      one, unless nothing changed. Runs dispatched before keep the version they were dispatched with.",
        hints: Hints::REPLACE,
        nulls: Nulls::Refused,
        ..ToolSpec::STRICT
    };

    async fn call(product: &Checklists, call: Call<'_, Caller>, args: UpdateTemplateArgs) -> Result<Reply<TemplateOutput>, ToolError> {
        let UpdateTemplateArgs { template_id, name, parts } = args;
        let org = call.caller.org();
        let given: Vec<(&str, Value)> = name.map(|name| ("name", json!(name))).into_iter().chain(parts.given()).collect();
        if given.is_empty() {
            let message = "Nothing to change: give name, description, tags, settings, sections or execution.";
            return Err(ToolError::invalid("invalid_argument", message));
        }
        let change = |present: &Template| {
            let before = present.to_document();
            let Value::Object(members) = before.clone() else { return Err(ToolError::internal("a template is an object")) };
            let document = with_members(members, given.clone());
            // Ids that were left out are made anew, unless nothing else changes: sent twice, an update is one change.
            let mut present_ids = ids_left_out(&document, &before);
            let unchanged = Template::from_document(document.clone(), &mut present_ids).is_ok_and(|same| same == *present);
            if unchanged {
                return Ok(None);
            }
            let next = checked(&product.ids, document)?;
            match next.check_successor(present) {
                faults if !faults.is_empty() => Err(invalid_template(&faults)),
                _ => Ok(Some(next)),
            }
        };
        let body = product.store.update_template(org, &template_id, call.now, change).await?.ok_or_else(template_not_found)?;
        Ok(TemplateOutput::new(org, template_id, body).into())
    }
}

/// `delete_template`
pub struct DeleteTemplate;

/// Result of `delete_template`.
#[derive(Serialize, JsonSchema)]
pub struct DeletedTemplate {
    /// Always true.
    deleted: bool,
    /// The template that was deleted.
    template_id: String,
}

impl Tool for DeleteTemplate {
    type Product = Checklists;
    type Args = TemplateId;
    type Output = DeletedTemplate;
    const SPEC: ToolSpec = ToolSpec {
        name: "delete_template",
        title: "Delete a template",
        description: "Deletes a template for good and answers its id: no run can be dispatched from it any more. Never refused for runs that \
                      exist: they keep the version they were dispatched with and can be completed.",
        hints: Hints::REPLACE,
        ..ToolSpec::STRICT
    };

    async fn call(product: &Checklists, call: Call<'_, Caller>, args: TemplateId) -> Result<Reply<DeletedTemplate>, ToolError> {
        if !product.store.delete_template(&call.caller.must_hold_the_key(call.now), &args.template_id).await? {
            return Err(template_not_found());
        }
        Ok(DeletedTemplate { deleted: true, template_id: args.template_id }.into())
    }
}

fn with_members<'m>(mut document: Map<String, Value>, members: impl IntoIterator<Item = (&'m str, Value)>) -> Value {
    for (member, value) in members {
        document.insert(member.to_owned(), value);
    }
    Value::Object(document)
}

/// The ids of `present` that `document` does not give, each for a part that has none.
fn ids_left_out(document: &Value, present: &Value) -> impl FnMut(IdKind) -> String + use<> {
    let given: HashSet<&str> = ids_in(document).into_iter().collect();
    let mut left: VecDeque<String> = ids_in(present).into_iter().filter(|id| !given.contains(id)).map(str::to_owned).collect();
    move |kind| {
        let next = left.iter().position(|id| kind.matches(id));
        next.and_then(|place| left.remove(place)).unwrap_or_default()
    }
}

/// The ids of sections, steps and options, in their order.
fn ids_in(document: &Value) -> Vec<&str> {
    fn parts<'v>(of: &'v Value, member: &str) -> impl Iterator<Item = &'v Value> + use<'v> {
        of[member].as_array().into_iter().flatten()
    }
    let mut ids = Vec::new();
    for section in parts(document, "sections") {
        ids.push(&section["id"]);
        for step in parts(section, "steps") {
            ids.push(&step["id"]);
            ids.extend(parts(&step["config"], "options").map(|option| &option["id"]));
        }
    }
    ids.into_iter().filter_map(Value::as_str).collect()
}

fn checked(ids: &Ids, document: Value) -> Result<Template, ToolError> {
    let mut new_id = |kind: IdKind| format!("{}{}", kind.prefix(), ids.base36(ID_LENGTH));
    Template::from_document(document, &mut new_id).map_err(|faults| invalid_template(&faults))
}

fn invalid_template(faults: &[Violation]) -> ToolError {
    let first = faults.first().map_or_else(String::new, |fault| format!("At {}: {}", fault.place(), fault.message));
    let others = match Violation::count(faults).saturating_sub(1) {
        0 => String::new(),
        1 => " One more fault is in the details.".to_owned(),
        others => format!(" {others} more faults are in the details."),
    };
    ToolError::invalid("invalid_template", format!("The template does not hold. {first}{others}")).with_details(json!({ "errors": faults }))
}
