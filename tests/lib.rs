//! End to end: real clients against the running stack. The tests are in `it/`, one module a topic; `clients/` drives the
//! same stack from other languages.
