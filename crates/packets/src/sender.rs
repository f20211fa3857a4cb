//! The sender: four parts, each in its own file and each replaceable, as FAST TCP divides them (Jin et al., section 4).
//!
//! *Estimation* turns samples into what laws see; *window control* is the law; *data control* says which segment to send
//! and what was lost; *burstiness control* says when.

pub(crate) mod bottleneck;
pub(crate) mod burst;
pub(crate) mod data;
pub(crate) mod estimation;
pub(crate) mod sampler;
pub(crate) mod timer;
pub(crate) mod window;
