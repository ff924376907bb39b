//! Tools that ask before they go on.

use jiff::SignedDuration;
use onepost_core::catalog::{Call, Shown, ToolSpec};
use onepost_core::error::ToolError;
use onepost_core::mcp::{Ask, Input, Said};
use serde_json::{Map, Value, json};

use crate::content;
use crate::tools::{Exhibit, named, no_arguments};

/// How long a state may be carried.
const LIFETIME: SignedDuration = SignedDuration::from_mins(10);

const fn asking(name: &'static str, description: &'static str) -> ToolSpec {
    ToolSpec { asks: true, ..named(name, description) }
}

pub fn form(message: &str, field: &str, kind: &str) -> Input {
    let schema = json!({ "type": "object", "properties": { field: { "type": kind } }, "required": [field] });
    Input::Form { message: message.to_owned(), schema }
}

fn sampling(question: &str) -> Input {
    let messages = json!([{ "role": "user", "content": { "type": "text", "text": question } }]);
    Input::Other { capability: "sampling", method: "sampling/createMessage", params: json!({ "messages": messages, "maxTokens": 100 }) }
}

fn roots() -> Input {
    Input::Other { capability: "roots", method: "roots/list", params: json!({}) }
}

/// What the person filled in, once they have.
pub fn filled_in(call: &Call<'_, ()>, key: &str) -> Option<Map<String, Value>> {
    match call.client.answers.said(key)? {
        Said::Yes(form) => Some(form),
        Said::No | Said::Nothing => Some(Map::new()),
    }
}

fn tell(told: &str) -> Result<Shown, ToolError> {
    Ok(Shown::Content(vec![content::text(told)]))
}

fn ask(ask: Ask) -> Result<Shown, ToolError> {
    Ok(Shown::Ask(ask))
}

pub const ALL: &[Exhibit] = &[
    Exhibit {
        spec: asking("test_input_required_result_elicitation", "Asks for a name and greets."),
        schema: no_arguments,
        show: |call| match filled_in(call, "user_name") {
            Some(form) => tell(&format!("Hello, {}!", form.get("name").and_then(Value::as_str).unwrap_or("stranger"))),
            None => ask(Ask::of("user_name", form("Who are you?", "name", "string"))),
        },
    },
    Exhibit {
        spec: asking("test_input_required_result_sampling", "Asks the client's model a question."),
        schema: no_arguments,
        show: |call| match call.client.answers.other("capital_question") {
            Some(answer) => tell(answer.get("content").and_then(|content| content["text"].as_str()).unwrap_or("no text")),
            None => ask(Ask::of("capital_question", sampling("Which city is the capital of France?"))),
        },
    },
    Exhibit {
        spec: asking("test_input_required_result_list_roots", "Asks the client for its roots."),
        schema: no_arguments,
        show: |call| match call.client.answers.other("client_roots") {
            Some(answer) => tell(&Value::Object(answer.clone()).to_string()),
            None => ask(Ask::of("client_roots", roots())),
        },
    },
    Exhibit {
        spec: asking("test_input_required_result_request_state", "Has the client carry a state."),
        schema: no_arguments,
        show: |call| match call.client.answers.remembered::<String>()? {
            Some(state) if state == "carried" => tell("state-ok"),
            _ => ask(Ask::of("confirm", form("May I go on?", "ok", "boolean")).remembering(&"carried", LIFETIME)),
        },
    },
    Exhibit {
        spec: asking("test_input_required_result_multiple_inputs", "Asks three things at once."),
        schema: no_arguments,
        show: |call| {
            let answers = &call.client.answers;
            let all = ["user_name", "greeting", "client_roots"].iter().all(|key| answers.other(key).is_some());
            if all && answers.remembered::<u8>()? == Some(3) {
                return tell("All three were answered.");
            }
            let three = Ask::of("user_name", form("Who are you?", "name", "string"));
            ask(three.and("greeting", sampling("Greet somebody.")).and("client_roots", roots()).remembering(&3, LIFETIME))
        },
    },
    Exhibit {
        spec: asking("test_input_required_result_multi_round", "Asks one thing after the other."),
        schema: no_arguments,
        show: |call| match (call.client.answers.remembered::<u8>()?, filled_in(call, "step1"), filled_in(call, "step2")) {
            (Some(2), _, Some(_)) => tell("Both steps were taken."),
            (Some(1), Some(_), _) => ask(Ask::of("step2", form("Which colour do you like?", "color", "string")).remembering(&2, LIFETIME)),
            _ => ask(Ask::of("step1", form("Who are you?", "name", "string")).remembering(&1, LIFETIME)),
        },
    },
    Exhibit {
        spec: asking("test_input_required_result_tampered_state", "Notices a state that was changed."),
        schema: no_arguments,
        show: |call| match call.client.answers.remembered::<String>()? {
            Some(_) => tell("The state came back as it was."),
            None => ask(Ask::of("confirm", form("May I go on?", "ok", "boolean")).remembering(&"sealed", LIFETIME)),
        },
    },
    Exhibit {
        spec: asking("test_input_required_result_capabilities", "Asks only what the client can be asked."),
        schema: no_arguments,
        show: |call| {
            let answered = call.client.answers.other("greeting").is_some() || filled_in(call, "user_name").is_some();
            if answered {
                return tell("Answered.");
            }
            let can = [
                (call.client.declares("sampling"), "greeting", sampling("Greet somebody.")),
                (call.client.fills_forms(), "user_name", form("Who are you?", "name", "string")),
            ];
            let mut possible = can.into_iter().filter(|(can, ..)| *can).map(|(_, key, input)| (key, input));
            match possible.next() {
                Some((key, input)) => ask(possible.fold(Ask::of(key, input), |ask, (key, input)| ask.and(key, input))),
                None => tell("There is nothing that you can be asked."),
            }
        },
    },
    Exhibit {
        spec: asking("test_missing_capability", "Needs the client's model, and goes no other way."),
        schema: no_arguments,
        show: |call| match call.client.answers.other("thought") {
            Some(_) => tell("Thank you."),
            None => ask(Ask::of("thought", sampling("Think of something."))),
        },
    },
    Exhibit {
        spec: asking("test_streaming_elicitation", "Tells how far it is and then asks."),
        schema: no_arguments,
        show: |call| {
            call.progress(1.0, Some(2.0));
            match filled_in(call, "user_name") {
                Some(_) => tell("Hello."),
                None => ask(Ask::of("user_name", form("Who are you?", "name", "string"))),
            }
        },
    },
];
