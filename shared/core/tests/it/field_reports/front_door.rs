//! Area 3, headers and encodings: what the tests of the transport and of pages leave open. What events do to them is tried
//! with the Lambda shell.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

use library::client::BOTH;
use library::every_kind;

/// 64 KiB of zeros, as gzip.
const ZEROS: &str =
    "H4sIAAAAAAACA+3BAQEAAACAkP6v7ggKAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAauuOl9cAAAEA";

/// D51. 415 comes before 413: the body is never unpacked, so that how large it would be is nobody's business.
#[test]
fn a_small_body_that_unpacks_to_ten_megabytes_is_415_and_stays_small() {
    let bomb = STANDARD.decode(ZEROS).unwrap().repeat(160);
    assert!((8_000..20_000).contains(&bomb.len()), "{} bytes", bomb.len());
    for (kind, door) in every_kind() {
        for era in BOTH {
            for encoding in ["gzip", "br", "zstd"] {
                let draft = door.ask(era, "tools/list", json!({})).header("content-encoding", encoding);
                let answer = draft.body(bomb.clone()).send();
                assert_eq!((answer.status, answer.header("www-authenticate")), (415, None), "{kind} {encoding}");
                assert!(answer.text().contains("Content-Encoding") && answer.body.len() < 300, "{kind}: {}", answer.text());
            }
        }
    }
}

/// D51. Without a word of it, what is packed is no JSON.
#[test]
fn a_compressed_body_that_does_not_say_so_is_no_json() {
    for (kind, door) in every_kind() {
        let answer = door.post().body(STANDARD.decode(ZEROS).unwrap()).send();
        assert_eq!(answer.fault(), (200, -32700), "{kind}");
    }
}
