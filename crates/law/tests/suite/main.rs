//! What every law holds to, and what some promise: one binary, so that there is one to link.

mod aqms;
mod conditioners;
mod controllers;
mod fix;
mod mistakes;
mod response;
mod states;
