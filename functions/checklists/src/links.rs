//! Addresses that people open.

/// Where the product's pages are served, without a slash at the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Site(String);

impl Site {
    /// `https://app.example.com`, say.
    pub fn at(address: &str) -> Self {
        Self(address.trim_end_matches('/').to_owned())
    }

    /// The link that opens a run. The id cannot be guessed, and is all that is needed.
    pub fn run(&self, run_id: &str) -> String {
        format!("{}/r/{run_id}", self.0)
    }

    /// The link that accepts an invitation. The token is stored hashed and shown in the mail alone.
    pub fn invitation(&self, invitation_id: &str, token: &str) -> String {
        format!("{}/i/{invitation_id}/{token}", self.0)
    }
}
