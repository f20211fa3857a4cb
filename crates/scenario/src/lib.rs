//! Scenario files, and the common interface of all worlds.
//!
//! [`read`] turns a scenario's text into resolved [`model::Scenario`]s, each default filled in; [`world::World`] runs
//! one and gives a [`world::Run`], which `penstock-record` turns into files. Nothing here touches a file or
//! starts a thread, so the same code serves the command, other programs and a page in the browser.

pub mod classes;
mod draw;
pub mod dynamics;
pub mod fairness;
pub mod finding;
pub mod format;
pub mod idle;
pub mod interval;
pub mod key;
pub mod model;
pub mod page;
mod profile;
pub mod quantity;
pub mod read;
pub mod seed;
mod site;
mod sizes;
pub mod student;
pub mod summary;
pub mod text;
pub mod transfer;
pub mod video;
pub mod visible;
pub mod world;
pub mod write;

/// The example of the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
