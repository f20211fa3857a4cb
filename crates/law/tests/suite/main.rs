//! What every law holds to, and what some promise: one binary, so that there is one to link.

mod aqms;
mod controllers;
mod edges;
mod fix;
mod response;
mod states;
