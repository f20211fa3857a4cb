//! The properties of every law, and those of some: one binary, so that there is one to link.

mod aqms;
mod conditioners;
mod controllers;
mod fix;
mod means;
mod mistakes;
mod response;
mod spared;
mod states;
