//! Which endpoint is served under which prefix.

use std::sync::Arc;

use http::Uri;
use http::uri::PathAndQuery;
use onepost_core::http::Endpoint;

/// One product's place on the front.
#[derive(Clone)]
pub struct Mount {
    /// Begins with a slash and does not end with one: `/checklists`.
    pub prefix: String,
    /// What it is, in a few words, for people.
    pub about: String,
    /// The paths under the prefix that are worth telling people, as the endpoint sees them: `/mcp`.
    pub paths: Vec<String>,
    /// What answers. It sees paths without the prefix.
    pub endpoint: Arc<dyn Endpoint>,
}

/// All that is served.
#[derive(Clone, Default)]
pub struct Routes {
    mounts: Vec<Mount>,
}

impl Routes {
    /// These and one more. Where two prefixes fit, the longer one is served.
    pub fn mount(mut self, mount: Mount) -> Routes {
        debug_assert!(mount.prefix.starts_with('/') && !mount.prefix.ends_with('/'), "a prefix is like /checklists");
        self.mounts.push(mount);
        self
    }

    /// The URLs that are worth telling people.
    pub fn endpoints(&self, base_url: &str) -> Vec<String> {
        self.mounts.iter().flat_map(|mount| mount.paths.iter().map(move |path| format!("{base_url}{}{path}", mount.prefix))).collect()
    }

    /// What answers, and the URI that it sees: path and query, without the prefix, otherwise as it came.
    pub(super) fn find(&self, uri: &Uri) -> Option<(&Arc<dyn Endpoint>, Uri)> {
        let whole = uri.path_and_query().map_or("", PathAndQuery::as_str);
        let (mount, rest) = self
            .mounts
            .iter()
            .filter_map(|mount| {
                let rest = whole.strip_prefix(mount.prefix.as_str())?;
                matches!(rest.as_bytes().first(), None | Some(b'/' | b'?')).then_some((mount, rest))
            })
            .max_by_key(|(mount, _)| mount.prefix.len())?;
        let rest = if rest.starts_with('/') { rest.to_owned() } else { format!("/{rest}") };
        let path = PathAndQuery::try_from(rest).expect("the end of a path and query, from a slash on, is one");
        Some((&mount.endpoint, Uri::from(path)))
    }

    /// The page at `/`.
    pub(super) fn page(&self, base_url: &str) -> String {
        let mut page = String::from("Onepost runs here, on this machine alone.\n");
        for mount in &self.mounts {
            page += &format!("\n{}\n", mount.about);
            for path in &mount.paths {
                page += &format!("  {base_url}{}{path}\n", mount.prefix);
            }
        }
        if self.mounts.is_empty() {
            page += "\nNo product is served.\n";
        }
        page
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Nothing;

    impl Endpoint for Nothing {
        fn answer(
            &self,
            _: onepost_core::http::Request,
        ) -> std::pin::Pin<Box<dyn Future<Output = onepost_core::http::Response> + Send + '_>> {
            unreachable!("only looked up")
        }
    }

    fn mount(prefix: &str) -> Mount {
        Mount { prefix: prefix.into(), about: prefix.into(), paths: vec![], endpoint: Arc::new(Nothing) }
    }

    fn seen(uri: &'static str) -> Option<String> {
        let routes = Routes::default().mount(mount("/rent")).mount(mount("/rent/admin"));
        routes.find(&Uri::from_static(uri)).map(|(_, uri)| uri.to_string())
    }

    #[test]
    fn an_endpoint_sees_the_path_without_its_prefix() {
        assert_eq!(seen("/rent/mcp").as_deref(), Some("/mcp"));
        assert_eq!(seen("/rent/v1/a%2Fb//c?x=%20y&z").as_deref(), Some("/v1/a%2Fb//c?x=%20y&z"));
        assert_eq!(seen("http://127.0.0.1:8787/rent/mcp?a").as_deref(), Some("/mcp?a"));
    }

    #[test]
    fn a_prefix_alone_is_the_root() {
        assert_eq!(seen("/rent").as_deref(), Some("/"));
        assert_eq!(seen("/rent?x=1").as_deref(), Some("/?x=1"));
    }

    #[test]
    fn the_longer_prefix_wins() {
        assert_eq!(seen("/rent/admin/x").as_deref(), Some("/x"));
    }

    #[test]
    fn a_prefix_ends_where_a_segment_ends() {
        assert_eq!(seen("/rental/mcp"), None);
        assert_eq!(seen("/"), None);
        assert_eq!(seen("*"), None);
    }
}
