//! The analysis and the fluid in time against theorems, papers and each other.

mod ccpd;
mod clcc;
mod disturbance;
mod early_marking;
mod estimators;
mod fast_tcp;
mod fig8;
mod hollot;
mod large;
mod laws;
mod means;
mod networks;
mod newcomers;
mod packets_asked_for;
mod parking_lot;
mod recorded;
mod run;
mod scenarios;
mod several_rests;
mod slow_start;
mod theorems;
