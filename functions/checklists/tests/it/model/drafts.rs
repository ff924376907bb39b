//! Templates of the model. Every id is given, so that none is drawn.

use serde_json::{Map, Value, json};

/// Templates that are drawn.
#[derive(Clone, Copy, Debug)]
pub enum Draft {
    /// A step that is required, and one that can be skipped and photographed.
    Plain,
    /// A step that is shown only after a certain answer.
    Branching,
    /// Answers stay as they were given first.
    Locked,
    /// Nothing that could be shown.
    Empty,
    /// A document that does not hold.
    Faulty,
}

impl Draft {
    pub const ALL: [Self; 5] = [Self::Plain, Self::Branching, Self::Locked, Self::Empty, Self::Faulty];

    pub fn document(self) -> Value {
        let mut document = self.parts();
        document.insert("name".into(), json!(format!("{self:?}")));
        Value::Object(document)
    }

    /// Settings and sections.
    pub fn parts(self) -> Map<String, Value> {
        let one = json!({ "id": "s-one", "type": "boolean", "label": "Is it clean?", "required": true });
        let two = json!({ "id": "s-two", "type": "text", "label": "Anything else?", "photo": { "min": 0, "max": 2 } });
        let when = json!({ "when": { "step": "s-one", "op": "eq", "value": false } });
        let why = json!({ "id": "s-why", "type": "text", "label": "Why not?", "required": true, "condition": when });
        let (settings, steps) = match self {
            Self::Plain => (json!({ "allow_skip": true, "est_minutes": 5 }), json!([one, two])),
            Self::Branching => (json!({ "allow_skip": true }), json!([one, why, two])),
            Self::Locked => (json!({ "allow_edit": false }), json!([one, two])),
            Self::Empty => (json!({}), json!([])),
            Self::Faulty => (json!({}), json!([{ "id": "s-one", "type": "guess", "label": "?" }])),
        };
        let parts = json!({ "settings": settings, "sections": [{ "id": "g-main", "steps": steps }] });
        parts.as_object().unwrap().clone()
    }
}
