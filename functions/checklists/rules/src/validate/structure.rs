//! The schema, from the template down to its sections.

use std::collections::BTreeMap;

use serde_json::{Map, Number, Value};

use super::ids::IdKind;
use super::reader::{Extras, Object, any_number, distinct, flag, formed, list, percentage, text, whole, word, wrong_type};
use super::report::{Path, Report, quote};
use super::step::{self, DraftStep};
use crate::decimal;
use crate::template::{
    Condition, Execution, MAX_SECTIONS, MAX_STEPS_PER_SECTION, STORE_MEMBERS, Scoring, Section, Settings, TDL_VERSION, Template,
};

/// A template that was read as far as it is sound, for the rules beyond the schema. It becomes a [`Template`] only when
/// nothing was reported.
pub(super) struct Draft {
    /// Everything but the sections.
    template: Template,
    /// `None` where the document has neither `sections` nor `steps`.
    sections: Option<Vec<DraftSection>>,
    /// Some part could not be read, so that ids and points may exist which are not known here.
    pub(super) has_gaps: bool,
    /// A step carries a score or an option carries points, sound or not.
    pub(super) has_points: bool,
}

/// A section as far as it is sound.
pub(super) struct DraftSection {
    section: Section,
    pub(super) steps: Vec<DraftStep>,
    /// Where it is: an index into `sections`, or `None` for the shorthand.
    pub(super) index: Option<usize>,
}

impl DraftSection {
    pub(super) fn id(&self) -> &str {
        &self.section.id
    }

    pub(super) fn condition(&self) -> Option<&Condition> {
        self.section.condition.as_ref()
    }
}

impl Draft {
    pub(super) fn sections(&self) -> &[DraftSection] {
        self.sections.as_deref().unwrap_or_default()
    }

    pub(super) fn template(&self) -> &Template {
        &self.template
    }

    pub(super) fn into_template(self) -> Template {
        let whole = |draft: DraftSection| Section { steps: draft.steps.into_iter().map(DraftStep::into_step).collect(), ..draft.section };
        Template { sections: self.sections.map(|sections| sections.into_iter().map(whole).collect()), ..self.template }
    }
}

/// Reads a document.
pub(super) fn read(document: &Value, report: &mut Report) -> Draft {
    let mut draft = Draft { template: nothing(), sections: None, has_gaps: true, has_points: false };
    let root = Path::root();
    let mut allowed =
        vec!["tdl", "name", "description", "tags", "locale", "settings", "execution", "scoring", "sections", "steps", "translations"];
    let Some(members) = document.as_object() else {
        wrong_type(document, &root, "an object", report);
        return draft;
    };
    // Named here so that they are refused for what they are, and not as unknown.
    allowed.extend(STORE_MEMBERS.into_iter().filter(|name| members.contains_key(*name)));
    let Some(object) = Object::read(document, &root, &allowed, Extras::Allowed, report) else { return draft };
    object.refuse_store_members(report);
    draft.has_gaps = false;

    draft.template = Template {
        tdl: object.get("tdl", report, version),
        name: object.require("name", report, text(1, 120)).unwrap_or_default(),
        description: object.get("description", report, text(0, 2_000)),
        tags: object.get("tags", report, distinct(list(0, 20, text(1, 40)))),
        locale: object.get("locale", report, language),
        settings: object.get("settings", report, settings),
        execution: object.get("execution", report, execution),
        scoring: object.get("scoring", report, scoring),
        sections: None,
        translations: object.get("translations", report, translations),
        extras: object.extras(),
    };
    if object.has("sections") && object.has("steps") {
        report.add(&root, "not", || "Keep either \"sections\" or \"steps\", not both.".to_owned());
    }
    read_sections(members, &root, &mut draft, report);
    draft
}

fn nothing() -> Template {
    Template {
        tdl: None,
        name: String::new(),
        description: None,
        tags: None,
        locale: None,
        settings: None,
        execution: None,
        scoring: None,
        sections: None,
        translations: None,
        extras: Map::new(),
    }
}

fn read_sections(members: &Map<String, Value>, root: &Path<'_>, draft: &mut Draft, report: &mut Report) {
    if let Some(value) = members.get("sections") {
        let path = root.member("sections");
        if let Some(items) = parts(value, &path, MAX_SECTIONS, draft, report) {
            let mut sections = Vec::with_capacity(items.len());
            for (index, item) in items.iter().enumerate() {
                match read_section(item, &path.index(index), index, draft, report) {
                    Some(section) => sections.push(section),
                    None => draft.has_gaps = true,
                }
            }
            draft.sections = Some(sections);
        }
    }
    if let Some(value) = members.get("steps") {
        let steps = read_steps(value, &root.member("steps"), draft, report);
        let flat = DraftSection { section: Section::default(), steps, index: None };
        draft.sections.get_or_insert_default().push(flat);
    }
}

fn read_section(value: &Value, path: &Path<'_>, index: usize, draft: &mut Draft, report: &mut Report) -> Option<DraftSection> {
    const MEMBERS: [&str; 6] = ["id", "title", "description", "condition", "pass_percent", "steps"];
    let object = Object::read(value, path, &MEMBERS, Extras::Allowed, report)?;
    let section = Section {
        id: object.get("id", report, id(IdKind::Section)).unwrap_or_default(),
        title: object.get("title", report, text(0, 120)),
        description: object.get("description", report, text(0, 1_000)),
        condition: object.get("condition", report, step::condition),
        pass_percent: object.get("pass_percent", report, percentage),
        steps: Vec::new(),
        extras: object.extras(),
    };
    // Read apart from the other members, since what is found in it concerns the whole draft.
    object.expect("steps", report);
    let steps = match object.members.get("steps") {
        Some(steps) => read_steps(steps, &path.member("steps"), draft, report),
        None => Vec::new(),
    };
    Some(DraftSection { section, steps, index: Some(index) })
}

fn read_steps(value: &Value, path: &Path<'_>, draft: &mut Draft, report: &mut Report) -> Vec<DraftStep> {
    let Some(items) = parts(value, path, MAX_STEPS_PER_SECTION, draft, report) else { return Vec::new() };
    let mut steps = Vec::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        match step::read(item, &path.index(index), index, report) {
            Some(step) => {
                draft.has_points |= step.has_points;
                draft.has_gaps |= !step.options_sound;
                steps.push(step);
            }
            None => draft.has_gaps = true,
        }
    }
    steps
}

/// The items of a list of parts, of which each is read whatever the others are.
fn parts<'v>(value: &'v Value, path: &Path<'_>, max: usize, draft: &mut Draft, report: &mut Report) -> Option<&'v [Value]> {
    let Value::Array(items) = value else {
        wrong_type(value, path, "a list", report);
        draft.has_gaps = true;
        return None;
    };
    if items.len() > max {
        report.add(path, "maxItems", || format!("Keep at most {max} items in {}; it has {}.", path.subject(), items.len()));
    }
    Some(items)
}

/// Reads an id of a kind.
pub(super) fn id(kind: IdKind) -> impl super::reader::Read<String> {
    let wanted = match kind {
        IdKind::Section => "g- and 3 to 12 lower-case letters or digits",
        IdKind::Step => "s- and 3 to 12 lower-case letters or digits",
        IdKind::Option => "o- and 3 to 12 lower-case letters or digits",
    };
    formed(wanted, move |text| kind.matches(text))
}

fn version(value: &Value, path: &Path<'_>, report: &mut Report) -> Option<String> {
    if value == TDL_VERSION {
        return Some(TDL_VERSION.to_owned());
    }
    report.add(path, "const", || format!("Set {} to \"{TDL_VERSION}\", or leave it out.", path.subject()));
    None
}

fn language(value: &Value, path: &Path<'_>, report: &mut Report) -> Option<String> {
    formed("a language tag such as en or pt-BR", is_language)(value, path, report)
}

/// Two or three lower-case letters, then any number of parts of 2 to 8 letters or digits, each after a hyphen.
fn is_language(text: &str) -> bool {
    let mut parts = text.split('-');
    let primary = parts.next().unwrap_or_default();
    (2..=3).contains(&primary.len())
        && primary.bytes().all(|byte| byte.is_ascii_lowercase())
        && parts.all(|part| (2..=8).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

fn settings(value: &Value, path: &Path<'_>, report: &mut Report) -> Option<Settings> {
    const MEMBERS: [&str; 9] = [
        "allow_skip",
        "signature_on_complete",
        "voice",
        "est_minutes",
        "timezone",
        "layout",
        "allow_edit",
        "review_before_submit",
        "photo_long_edge",
    ];
    let object = Object::read(value, path, &MEMBERS, Extras::Refused, report)?;
    Some(Settings {
        allow_skip: object.get("allow_skip", report, flag),
        signature_on_complete: object.get("signature_on_complete", report, flag),
        voice: object.get("voice", report, flag),
        est_minutes: object.get("est_minutes", report, minutes),
        timezone: object.get("timezone", report, text(0, 64)),
        layout: object.get("layout", report, word),
        allow_edit: object.get("allow_edit", report, flag),
        review_before_submit: object.get("review_before_submit", report, flag),
        photo_long_edge: object.get("photo_long_edge", report, whole(1_024, 4_096)),
    })
}

fn minutes(value: &Value, path: &Path<'_>, report: &mut Report) -> Option<Number> {
    let number = any_number(value, path, report)?;
    let rule = if decimal::compare(&number, &Number::from(0)).is_le() {
        "exclusiveMinimum"
    } else if decimal::compare(&number, &Number::from(1_440)).is_gt() {
        "maximum"
    } else {
        return Some(number);
    };
    report.add(path, rule, || format!("Set {} to a number of minutes above 0 and up to 1440.", path.subject()));
    None
}

fn execution(value: &Value, path: &Path<'_>, report: &mut Report) -> Option<Execution> {
    const MEMBERS: [&str; 3] = ["scope", "identity_required", "external_fields"];
    let object = Object::read(value, path, &MEMBERS, Extras::Refused, report)?;
    Some(Execution {
        scope: object.get("scope", report, word),
        identity_required: object.get("identity_required", report, word),
        external_fields: object.get("external_fields", report, distinct(list(0, 3, word))),
    })
}

fn scoring(value: &Value, path: &Path<'_>, report: &mut Report) -> Option<Scoring> {
    const MEMBERS: [&str; 3] = ["enabled", "pass_percent", "show_to_executor"];
    let object = Object::read(value, path, &MEMBERS, Extras::Refused, report)?;
    Some(Scoring {
        enabled: object.get("enabled", report, flag),
        pass_percent: object.get("pass_percent", report, percentage),
        show_to_executor: object.get("show_to_executor", report, flag),
    })
}

/// Languages and keys that are faulty are left out of what is read.
fn translations(value: &Value, path: &Path<'_>, report: &mut Report) -> Option<BTreeMap<String, BTreeMap<String, String>>> {
    const MAX_LANGUAGES: usize = 20;
    const MAX_TEXTS: usize = 2_000;
    let languages = map(value, path, MAX_LANGUAGES, report)?;
    let mut read = BTreeMap::new();
    for (tag, texts) in languages {
        let path = path.member(tag);
        if !is_language(tag) {
            report.add(&path, "propertyNames", || format!("Write {} as a language tag such as en or pt-BR.", quote(tag)));
        }
        let Some(texts) = map(texts, &path, MAX_TEXTS, report) else { continue };
        let mut translated = BTreeMap::new();
        for (key, value) in texts {
            let path = path.member(key);
            if text_key(key).is_none() {
                report.add(&path, "propertyNames", || {
                    format!("Write {} as an id and a member, such as s-ab12.label or template.name.", quote(key))
                });
            } else if let Some(value) = text(0, 10_000)(value, &path, report) {
                translated.insert(key.clone(), value);
            }
        }
        read.insert(tag.clone(), translated);
    }
    Some(read)
}

fn map<'v>(value: &'v Value, path: &Path<'_>, max: usize, report: &mut Report) -> Option<&'v Map<String, Value>> {
    let Value::Object(members) = value else {
        wrong_type(value, path, "an object", report);
        return None;
    };
    if members.len() > max {
        report.add(path, "maxProperties", || format!("Keep at most {max} members in {}; it has {}.", path.subject(), members.len()));
    }
    Some(members)
}

/// Splits the key of a translated text into the id (or `template`) and the member; `None` where it has no such form.
pub(super) fn text_key(key: &str) -> Option<(&str, &str)> {
    const MEMBERS: [&str; 9] = ["name", "description", "title", "label", "hint", "body", "true_label", "false_label", "placeholder"];
    let (owner, member) = key.split_once('.')?;
    let known_owner = owner == "template" || [IdKind::Section, IdKind::Step, IdKind::Option].iter().any(|kind| kind.matches(owner));
    (known_owner && MEMBERS.contains(&member)).then_some((owner, member))
}
