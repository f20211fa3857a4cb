//! The core of the playground: a request in, an answer out, both JSON. Pure: no files, no threads, no clock.
//!
//! | request | answer |
//! | --- | --- |
//! | `about` | version, JSON Schema of scenarios |
//! | `read` | cells of the scenario, numbers in its text that a slider may change |
//! | `run` | a run as sections of a page, with the data of its figures |
//! | `theory` | equilibrium and stability in the same form |
//! | `record` | the SHA-256 of each file that the command would write for the run |
//! | `open` | the scenario in a `record.toml` |
//!
//! An answer is `{"ok": ...}`, or `{"errors": [...]}` with places in the text, or `{"refused": [...]}` where a world or the
//! theory cannot do what the scenario asks for.

mod answer;
mod keys;
#[cfg(target_family = "wasm")]
mod module;
mod request;

pub use answer::{Progress, answer};

/// The example of the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
