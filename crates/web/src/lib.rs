//! The core of the playground: a request in, a response out, both JSON. Pure: no files, no threads, no clock.
//!
//! | request | response |
//! | --- | --- |
//! | `about` | version, JSON Schema of scenarios |
//! | `read` | cells of the scenario, numbers in its text that a slider may change |
//! | `run` | a run as sections of a page, with the data of its figures |
//! | `theory` | equilibrium and stability in the same form |
//! | `record` | the SHA-256 of each file that the command would write for the run |
//! | `open` | the scenario in a `record.toml` |
//!
//! A response is `{"ok": ...}`, or `{"errors": [...]}` with positions in the text, or `{"refused": [...]}` where a world or the
//! theory lacks a feature that the scenario requires.

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
