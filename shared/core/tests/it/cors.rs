//! Pages: which may call, and what a browser is told of it.

use http::HeaderMap;
use onepost_core::http::Gate;
use serde_json::json;

use library::client::{Answer, Door, Draft};
use library::{Branch, LikeAgents, LikeChecklists, LikeRent, LikeViewer, open, open_behind};

const SITE: &str = "https://library.example";

fn of_the_site() -> Door {
    open_behind::<LikeRent>(Gate { origins: vec![SITE.into()], local: false })
}

fn list(door: &Door) -> Draft<'_> {
    door.post().rpc("tools/list", json!({}))
}

fn has_cors(headers: &HeaderMap) -> bool {
    headers.keys().any(|name| name.as_str().starts_with("access-control-"))
}

fn preflight(door: &Door, origin: &str, asked: &str) -> Answer {
    let request = list(door).method("OPTIONS").without("authorization").without("content-type").body("");
    let request = request.header("origin", origin).header("access-control-request-method", "POST");
    request.header("access-control-request-headers", asked).send()
}

/// D57
#[test]
fn a_page_of_a_foreign_origin_is_403_and_a_program_without_one_is_served() {
    for door in [open::<LikeChecklists>(), of_the_site()] {
        for origin in [
            "https://evil.example",
            "null",
            "",
            "https://library.example.evil.example",
            "http://library.example",
            "HTTPS://LIBRARY.EXAMPLE/",
        ] {
            let answer = list(&door).header("origin", origin).send();
            assert_eq!(answer.status, 403, "{origin:?}");
            assert_eq!(answer.json()["id"], json!(null));
            assert!(!has_cors(&answer.headers), "{origin:?}");
        }
        assert_eq!(list(&door).send().status, 200);
    }
    let door = of_the_site();
    assert_eq!(list(&door).header("origin", SITE).send().status, 200);
    assert_eq!(list(&door).header("origin", SITE).header_too("origin", "https://evil.example").send().status, 403, "two origins are none");
    assert_eq!(list(&door).header_bytes("origin", b"https://library.example\xff").send().status, 403);
}

#[test]
fn the_origin_is_judged_before_the_key() {
    let door = of_the_site();
    assert_eq!(list(&door).header("origin", "null").without("authorization").send().status, 403);
}

#[test]
fn pages_of_this_machine_may_call_an_endpoint_on_this_machine_alone() {
    let local = open_behind::<LikeChecklists>(Gate { origins: Vec::new(), local: true });
    let far = open::<LikeChecklists>();
    for origin in ["http://localhost", "http://localhost:5173", "http://127.0.0.1:80", "http://[::1]:3000", "https://localhost"] {
        assert_eq!(list(&local).header("origin", origin).send().status, 200, "{origin}");
        assert_eq!(list(&far).header("origin", origin).send().status, 403, "{origin}");
    }
    for origin in [
        "http://localhost.evil.example",
        "http://evil.example:80",
        "localhost",
        "http://localhost@evil.example",
        "null",
        "http://localhost:x",
        "null,http://localhost",
        "ftp://localhost",
    ] {
        assert_eq!(list(&local).header("origin", origin).send().status, 403, "{origin}");
    }
}

/// Doors of every product that let pages in, each with a page that may.
fn that_let_pages_in() -> Vec<(Door, &'static str)> {
    fn both<B: Branch>() -> [(Door, &'static str); 2] {
        let of_its_site = Gate { origins: vec![SITE.into()], local: false };
        let of_this_machine = Gate { origins: Vec::new(), local: true };
        [(open_behind::<B>(of_its_site), SITE), (open_behind::<B>(of_this_machine), "http://localhost:5173")]
    }
    [both::<LikeChecklists>(), both::<LikeAgents>(), both::<LikeRent>(), both::<LikeViewer>()].into_iter().flatten().collect()
}

/// D53, D55. The same are allowed whatever is asked for: a page asks once and sends the others later.
#[test]
fn the_preflight_of_a_permitted_page_allows_every_header_that_clients_send() {
    let clients_send =
        ["authorization", "content-type", "accept", "x-api-key", "mcp-protocol-version", "mcp-method", "mcp-name", "mcp-session-id"];
    for (door, page) in that_let_pages_in() {
        for asked in
            ["authorization, content-type, mcp-protocol-version, mcp-method, mcp-name", "x-api-key", "authorization", "AUTHORIZATION", ""]
        {
            let answer = preflight(&door, page, asked);
            assert_eq!((answer.status, answer.body.len()), (204, 0), "{asked}");
            assert_eq!(answer.header("access-control-allow-origin"), Some(page));
            assert_eq!(answer.header("access-control-allow-methods"), Some("POST"));
            assert_eq!(answer.header("vary"), Some("origin"));
            let allowed: Vec<&str> = answer.header("access-control-allow-headers").unwrap().split(", ").collect();
            for name in clients_send {
                assert!(allowed.contains(&name), "{asked}: {name}");
            }
            assert!(answer.header("access-control-allow-credentials").is_none(), "a cookie has no business here");
        }
        assert_eq!(preflight(&door, "https://evil.example", "authorization").status, 403, "and for no other page");
    }
}

#[test]
fn the_preflight_of_another_page_is_refused_without_a_word_of_cors() {
    for origin in ["https://evil.example", "null"] {
        let answer = preflight(&of_the_site(), origin, "authorization");
        assert_eq!(answer.status, 403, "{origin}");
        assert!(!has_cors(&answer.headers), "{origin}");
    }
}

#[test]
fn where_no_origin_is_configured_a_preflight_is_405_like_any_other_method() {
    let answer = preflight(&open::<LikeChecklists>(), SITE, "authorization");
    assert_eq!((answer.status, answer.header("allow")), (405, Some("POST")));
    assert!(!has_cors(&answer.headers));
}

#[test]
fn a_permitted_page_may_read_refusals_too() {
    let door = of_the_site();
    let page = || list(&door).header("origin", SITE);
    for (answer, status) in [
        (page().send(), 200),
        (page().without("authorization").send(), 401),
        (page().header("content-type", "text/plain").send(), 415),
        (page().method("GET").send(), 405),
        (page().body(r#"{"jsonrpc":"2.0","method":"x"}"#).send(), 202),
    ] {
        assert_eq!(answer.status, status);
        assert_eq!(answer.header("access-control-allow-origin"), Some(SITE), "{status}");
        assert_eq!(answer.header("vary"), Some("origin"), "{status}");
        assert!(answer.header("access-control-expose-headers").unwrap().contains("www-authenticate"));
    }
}

#[test]
fn a_program_without_an_origin_is_told_nothing_of_cors() {
    assert!(!has_cors(&list(&of_the_site()).send().headers));
}
