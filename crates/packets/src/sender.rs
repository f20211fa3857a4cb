//! The sender: four parts, each in its own file and each replaceable, as FAST TCP divides them (Jin et al., section 4).
//!
//! *Estimation* turns samples into the observation of laws; *window control* is the law; *data control* finds the segment to
//! send and the lost ones; *burstiness control* finds the time.

pub(crate) mod bottleneck;
pub(crate) mod burst;
pub(crate) mod data;
pub(crate) mod estimation;
pub(crate) mod pacer;
pub(crate) mod sampler;
pub(crate) mod timer;
pub(crate) mod window;
