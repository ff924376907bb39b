//! Prompts: plain, with arguments, with a resource, with an image, and one that asks first.

use onepost_core::catalog::Call;
use onepost_core::jsonrpc::Error;
use onepost_core::mcp::{Answer, Ask};
use serde_json::{Value, json};

use crate::asking::{filled_in, form};
use crate::content;

pub fn list() -> Result<Answer, Error> {
    let argument = |name: &str| json!({ "name": name, "description": "Put into the text.", "required": true });
    let prompts = json!([
        { "name": "test_simple_prompt", "description": "A plain one." },
        { "name": "test_prompt_with_arguments", "description": "Repeats two arguments.", "arguments": [argument("arg1"), argument("arg2")] },
        { "name": "test_prompt_with_embedded_resource", "description": "Holds a resource.", "arguments": [argument("resourceUri")] },
        { "name": "test_prompt_with_image", "description": "Holds an image." },
        { "name": "test_input_required_result_prompt", "description": "Asks first." },
    ]);
    Ok(Answer::Cacheable(json!({ "prompts": prompts })))
}

pub fn get(params: &Value, call: &Call<'_, ()>) -> Result<Answer, Error> {
    let argument = |name: &str| params["arguments"][name].as_str().unwrap_or_default();
    let says = |content: Value| json!({ "role": "user", "content": content });
    let messages = match params.get("name").and_then(Value::as_str) {
        Some("test_simple_prompt") => vec![says(content::text("Say something simple."))],
        Some("test_prompt_with_arguments") => {
            vec![says(content::text(&format!("The first is '{}', the second '{}'.", argument("arg1"), argument("arg2"))))]
        }
        Some("test_prompt_with_embedded_resource") => vec![
            says(content::resource(argument("resourceUri"), "text/plain", "The text of the resource.")),
            says(content::text("What does the resource say?")),
        ],
        Some("test_prompt_with_image") => vec![says(content::image()), says(content::text("What is in the image?"))],
        Some("test_input_required_result_prompt") => match filled_in(call, "user_context") {
            Some(form) => vec![says(content::text(&format!("Knowing this: {}", Value::Object(form))))],
            None => return Ok(Answer::Ask(Ask::of("user_context", form("What should be known?", "context", "string")))),
        },
        _ => return Err(Error::invalid_params("There is no prompt of this name: prompts/list tells which there are.")),
    };
    Ok(Answer::Result(json!({ "messages": messages })))
}

pub fn complete(params: &Value) -> Result<Answer, Error> {
    let begun = params["argument"]["value"].as_str().ok_or_else(|| Error::invalid_params("argument.value must be a string."))?;
    let values: Vec<&str> = ["paper", "parchment", "papyrus"].into_iter().filter(|word| word.starts_with(begun)).collect();
    Ok(Answer::Result(json!({ "completion": { "values": values, "total": values.len(), "hasMore": false } })))
}
