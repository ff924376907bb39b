//! The value of an answer, by type of step.

use regex_lite::{Regex, RegexBuilder};
use serde_json::{Number, Value};

use super::moment;
use crate::decimal::{self, Decimal};
use crate::template::{
    ChoiceOption, DatetimeConfig, MultiChoiceConfig, NumberConfig, RatingConfig, Step, StepKind, TextConfig, TextFormat,
};

/// Longest name of a signer, in characters.
pub(crate) const MAX_NAME_CHARS: usize = 120;
/// Longest address or id of a signature's image, in bytes.
const MAX_IMAGE_BYTES: usize = 2_048;
/// Longest barcode, in characters: what a QR code holds in bytes at its largest, rounded up.
const MAX_BARCODE_CHARS: usize = 3_000;
/// Largest compiled pattern, in bytes. Matching takes time in proportion to it and to the text (up to 5,000 characters).
const MAX_PATTERN_BYTES: usize = 64 * 1024;

/// Checks a value against the step; the error is a sentence that says what to change.
pub(super) fn check(step: &Step, value: &Value) -> Result<(), String> {
    match &step.kind {
        StepKind::Boolean(_) => match value {
            Value::Bool(_) => Ok(()),
            _ => Err("Answer with true or false.".to_owned()),
        },
        StepKind::Choice(config) => check_choice(&config.options, value),
        StepKind::MultiChoice(config) => check_choices(config, step.is_required(), value),
        StepKind::Text(config) => check_text(config.as_ref(), value),
        StepKind::Number(config) => check_number(config.as_ref(), value),
        StepKind::Rating(config) => check_rating(config.as_ref(), value),
        StepKind::Photo(_) => match value {
            Value::Null => Ok(()),
            _ => Err("Answer with null: the photos are the answer.".to_owned()),
        },
        StepKind::Instruction(_) => match value {
            Value::Null => Ok(()),
            _ => Err("Acknowledge with null.".to_owned()),
        },
        StepKind::Signature(_) => check_signature(value),
        StepKind::Barcode(_) => check_barcode(value),
        StepKind::Datetime(config) => check_datetime(config.as_ref(), value),
    }
}

fn check_choice(options: &[ChoiceOption], value: &Value) -> Result<(), String> {
    let known = value.as_str().is_some_and(|id| options.iter().any(|option| option.id == id));
    if known { Ok(()) } else { Err(format!("Answer with the id of one option: {}.", ids(options))) }
}

fn check_choices(config: &MultiChoiceConfig, required: bool, value: &Value) -> Result<(), String> {
    let options = &config.options;
    let refusal = || format!("Answer with a list of option ids: {}.", ids(options));
    let chosen = value.as_array().ok_or_else(refusal)?;
    for (index, id) in chosen.iter().enumerate() {
        if !id.as_str().is_some_and(|id| options.iter().any(|option| option.id == id)) {
            return Err(refusal());
        }
        // The list holds known ids only, so it is no longer than the options before a repeat is met.
        if chosen[..index].contains(id) {
            return Err("Name each option once.".to_owned());
        }
    }
    // A required step without a lower bound of its own asks for something to be chosen.
    let min = config.min_selected.unwrap_or(u32::from(required));
    let max = config.max_selected.unwrap_or(u32::MAX);
    let count = u32::try_from(chosen.len()).unwrap_or(u32::MAX);
    if count < min {
        return Err(format!("Choose at least {min}."));
    }
    if count > max {
        return Err(format!("Choose at most {max}."));
    }
    Ok(())
}

fn ids(options: &[ChoiceOption]) -> String {
    options.iter().map(|option| option.id.as_str()).collect::<Vec<_>>().join(", ")
}

fn check_text(config: Option<&TextConfig>, value: &Value) -> Result<(), String> {
    let text = value.as_str().ok_or("Answer with a text.")?;
    let max = config.and_then(|config| config.max_length).unwrap_or(TextConfig::DEFAULT_MAX_LENGTH);
    let min = config.and_then(|config| config.min_length).unwrap_or(0);
    let count = u32::try_from(text.chars().count()).unwrap_or(u32::MAX);
    if count > max {
        return Err(format!("Keep the text within {max} characters; it has {count}."));
    }
    if text.trim().is_empty() {
        return Err("Write something, or clear the answer.".to_owned());
    }
    if count < min {
        return Err(format!("Write at least {min} characters; there are {count}."));
    }
    let multiline = config.and_then(|config| config.multiline).unwrap_or(false);
    if text.chars().any(|character| character.is_control() && !(multiline && matches!(character, '\n' | '\r' | '\t'))) {
        return Err(match multiline {
            true => "Leave control characters out.".to_owned(),
            false => "Write one line, without line breaks or control characters.".to_owned(),
        });
    }
    check_format(config.and_then(|config| config.format).unwrap_or(TextFormat::Plain), text)?;
    match config.and_then(|config| config.pattern.as_deref()) {
        Some(pattern) => check_pattern(pattern, text),
        None => Ok(()),
    }
}

fn check_format(format: TextFormat, text: &str) -> Result<(), String> {
    let (fits, wanted) = match format {
        TextFormat::Plain => return Ok(()),
        TextFormat::Email => (is_email(text), "an e-mail address such as mara@example.org"),
        TextFormat::Phone => (is_phone(text), "a telephone number of 5 to 15 digits such as +39 06 1234 5678"),
        TextFormat::Url => (is_url(text), "a web address that begins with https:// or http://"),
    };
    if fits { Ok(()) } else { Err(format!("Write {wanted}.")) }
}

/// Whether it could be delivered to; whether it is, only sending shows.
pub(crate) fn is_email(text: &str) -> bool {
    let Some((local, domain)) = text.rsplit_once('@') else { return false };
    let plain = text.len() <= 254 && !text.chars().any(|character| character.is_whitespace() || character == ',');
    plain
        && (1..=64).contains(&local.len())
        && !local.contains('@')
        && domain.contains('.')
        && domain.split('.').all(|label| !label.is_empty() && !label.starts_with('-') && !label.ends_with('-'))
}

/// Whether it looks like a telephone number: 5 to 15 digits with the usual separators.
pub(crate) fn is_phone(text: &str) -> bool {
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let number = text.strip_prefix('+').unwrap_or(text);
    (5..=15).contains(&digits) && number.bytes().all(|byte| byte.is_ascii_digit() || b" -./()".contains(&byte))
}

fn is_url(text: &str) -> bool {
    let rest = ["https://", "http://"].iter().find_map(|scheme| {
        let head = text.get(..scheme.len())?;
        head.eq_ignore_ascii_case(scheme).then(|| &text[scheme.len()..])
    });
    let Some(rest) = rest else { return false };
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    !host.is_empty() && !text.chars().any(char::is_whitespace)
}

/// Compiles a pattern so that it matches whole texts only; the error says what is wrong with it.
///
/// The pattern is compiled alone first: one with a stray parenthesis could otherwise close the group around it and
/// escape the anchors. One in verbose mode, `(?x)`, may end in a comment, which runs until the end of the line and would
/// swallow what closes the group: hence the line break, in a second alternative that never matches, so that elsewhere it
/// asks for nothing.
pub(crate) fn compile_pattern(pattern: &str) -> Result<Regex, String> {
    let compile = |pattern: &str| RegexBuilder::new(pattern).size_limit(MAX_PATTERN_BYTES).build().map_err(|error| error.to_string());
    compile(pattern)?;
    compile(&format!("\\A(?:{pattern}|[^\\s\\S]\n)\\z"))
}

fn check_pattern(pattern: &str, text: &str) -> Result<(), String> {
    let regex = compile_pattern(pattern).map_err(|_| "The template's pattern cannot be read.".to_owned())?;
    if regex.is_match(text) { Ok(()) } else { Err(format!("Write a text that matches the pattern {pattern}")) }
}

fn check_number(config: Option<&NumberConfig>, value: &Value) -> Result<(), String> {
    let number = value.as_number().ok_or("Answer with a number.")?;
    let decimals = config.and_then(|config| config.decimals).unwrap_or(0);
    if Decimal::of(number).places() > decimals {
        return Err(match decimals {
            0 => "Answer with a whole number.".to_owned(),
            1 => "Give at most 1 decimal place.".to_owned(),
            _ => format!("Give at most {decimals} decimal places."),
        });
    }
    let bound = |pick: fn(&NumberConfig) -> Option<&Number>| config.and_then(pick);
    if let Some(min) = bound(|config| config.min.as_ref()).filter(|min| decimal::compare(number, min).is_lt()) {
        return Err(format!("Give a number of at least {min}."));
    }
    if let Some(max) = bound(|config| config.max.as_ref()).filter(|max| decimal::compare(number, max).is_gt()) {
        return Err(format!("Give a number of at most {max}."));
    }
    Ok(())
}

fn check_rating(config: Option<&RatingConfig>, value: &Value) -> Result<(), String> {
    let (min, max) = RatingConfig::range(config);
    let rating = value.as_number().and_then(decimal::whole);
    let fits = rating.is_some_and(|rating| (i64::from(min)..=i64::from(max)).contains(&rating));
    if fits { Ok(()) } else { Err(format!("Answer with a whole number from {min} to {max}.")) }
}

fn check_signature(value: &Value) -> Result<(), String> {
    is_image(value.as_str().unwrap_or_default())
        .then_some(())
        .ok_or_else(|| format!("Answer with the address or id of the signature's image, up to {MAX_IMAGE_BYTES} bytes without blanks."))
}

/// Whether a text may name the image of a signature.
pub(crate) fn is_image(text: &str) -> bool {
    (1..=MAX_IMAGE_BYTES).contains(&text.len()) && !text.chars().any(|character| character.is_whitespace() || character.is_control())
}

fn check_barcode(value: &Value) -> Result<(), String> {
    let fits = value.as_str().is_some_and(|code| {
        let count = code.chars().count();
        (1..=MAX_BARCODE_CHARS).contains(&count) && !code.trim().is_empty()
    });
    if fits { Ok(()) } else { Err(format!("Answer with the code as a text of 1 to {MAX_BARCODE_CHARS} characters.")) }
}

fn check_datetime(config: Option<&DatetimeConfig>, value: &Value) -> Result<(), String> {
    let mode = DatetimeConfig::mode(config);
    let given = value.as_str().and_then(|text| moment::read(mode, text));
    let given = given.ok_or_else(|| format!("Answer with {}.", moment::spelling(mode)))?;
    let bound = |pick: fn(&DatetimeConfig) -> Option<&str>| {
        let text = config.and_then(pick)?;
        Some((text, moment::read(mode, text)?))
    };
    if let Some((text, _)) = bound(|config| config.not_before.as_deref()).filter(|(_, bound)| given < *bound) {
        return Err(format!("Give {text} or later."));
    }
    if let Some((text, _)) = bound(|config| config.not_after.as_deref()).filter(|(_, bound)| given > *bound) {
        return Err(format!("Give {text} or earlier."));
    }
    Ok(())
}
