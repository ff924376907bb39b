//! What can be made of an id or a cursor by somebody who tries.

use serde_json::{Value, json};

/// An id of the same kind that nothing ever had: every digit of its last group is another one.
pub fn never(id: &str) -> String {
    let (head, tail) = id.split_at(id.len() - 12);
    let other = |digit: char| char::from_digit((digit.to_digit(16).unwrap_or(0) + 7) % 16, 16).unwrap();
    head.chars().chain(tail.chars().map(other)).collect()
}

/// Forms that any kind of id is tried in where another one belongs.
pub fn few(id: &str) -> Vec<(String, Value)> {
    let forms: [(&str, String); 8] = [
        ("as it is", id.to_owned()),
        ("in capitals", id.to_uppercase()),
        ("with a room", format!("A#{id}")),
        ("with a row", format!("{id}#META")),
        ("below", format!("{id}/.")),
        ("cut off", id[..id.len() - 1].to_owned()),
        ("ended", format!("{id}\0")),
        ("padded", format!(" {id} ")),
    ];
    forms.into_iter().map(|(form, text)| (form.to_owned(), json!(text))).collect()
}

/// Every form. Those that keep the shape of an id are such that nothing has them either.
pub fn of(id: &str) -> Vec<(String, Value)> {
    let mut forms = few(id);
    let mut push = |form: String, value: Value| forms.push((form, value));
    for part in [
        "#", "/", "\\", "\0", " ", "\t", "\n", "\r\n", "%00", "%23", "\u{200b}", "\u{feff}", "..", "*", "'", "\"", "$", "?", ";", "=", "-",
        "é",
    ] {
        push(format!("{part:?} after"), json!(format!("{id}{part}")));
        push(format!("{part:?} before"), json!(format!("{part}{id}")));
        push(format!("{part:?} within"), json!(format!("{}{part}{}", &id[..10], &id[10..])));
    }
    for length in 0..id.len() {
        push(format!("the first {length} characters"), json!(&id[..length]));
    }
    push("with a capital prefix".into(), json!(format!("{}{}", id[..1].to_uppercase(), &id[1..])));
    for (at, _) in id.char_indices().filter(|(at, letter)| letter.is_ascii_hexdigit() && *at > 1) {
        for by in [1, 8] {
            let digit = char::from_digit((id[at..=at].chars().next().unwrap().to_digit(16).unwrap() + by) % 16, 16).unwrap();
            push(format!("digit {at} raised by {by}"), json!(format!("{}{digit}{}", &id[..at], &id[at + 1..])));
        }
    }
    let (prefix, uuid) = id.split_once('-').unwrap();
    for other in ["a", "t", "r", "u", "inv", "org", "l", "", "A", "M#u", "R#r", "a-a", "-"] {
        push(format!("of the kind {other:?}"), json!(format!("{other}-{uuid}")));
    }
    push("without a kind".into(), json!(uuid));
    push("without dashes".into(), json!(id.replace('-', "")));
    push("in braces".into(), json!(format!("{prefix}-{{{uuid}}}")));
    push("as a URN".into(), json!(format!("urn:uuid:{uuid}")));
    push("with other dashes".into(), json!(id.replace('-', "\u{2010}")));
    push("in wide digits".into(), json!(id.chars().map(wide).collect::<String>()));
    push("twice".into(), json!(format!("{id}{id}")));
    push("twice with a comma".into(), json!(format!("{id},{id}")));
    push("backwards".into(), json!(id.chars().rev().collect::<String>()));
    push("in a list".into(), json!([id]));
    push("in an object".into(), json!({ "$eq": id }));
    push("as DynamoDB writes it".into(), json!({ "S": id }));
    push("as JSON text".into(), json!(format!("\"{id}\"")));
    push("as a list in text".into(), json!(format!("[\"{id}\"]")));
    push("as a link".into(), json!(format!("https://checklists.example/r/{id}")));
    forms
}

fn wide(letter: char) -> char {
    if letter.is_ascii_digit() { char::from_u32(u32::from(letter) - u32::from('0') + 0xff10).unwrap() } else { letter }
}

/// A cursor with every character changed, in turn, and cut off at every length.
pub fn mutations(cursor: &str) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for at in 0..cursor.len() {
        for letter in ["A", "_", "=", "#"] {
            if cursor[at..=at] != *letter {
                all.push((format!("{letter} at {at}"), format!("{}{letter}{}", &cursor[..at], &cursor[at + 1..])));
            }
        }
        if at > 0 {
            all.push((format!("{at} characters"), cursor[..at].to_owned()));
        }
    }
    for (form, text) in [
        ("padded", format!("{cursor}=")),
        ("longer", format!("{cursor}A")),
        ("twice", cursor.repeat(2)),
        ("with a blank", format!(" {cursor}")),
    ] {
        all.push((form.to_owned(), text));
    }
    all
}
