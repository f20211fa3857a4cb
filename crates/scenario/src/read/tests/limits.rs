//! Values at the ends of what can be said.

use super::scenario;
use crate::write::print;

fn text(link: &str, flows: &str) -> String {
    format!(
        r#"format = 1
        duration = "60 s"
        links.l = {{ from = "a", to = "b", delay = "5 ms", {link} }}
        flows.f = {{ from = "a", to = "b", cc = {{ law = "newreno" }}, {flows} }}"#
    )
}

/// A buffer in time is bytes, and no more than can be written.
#[test]
fn a_buffer_of_a_day_is_read_back() {
    let s = scenario(&text(r#"rate = "100 Tbit/s", buffer = "24 h""#, "count = 1"));
    assert_eq!(print(&scenario(&print(&s))), print(&s));
}

/// Transfers arrive from the first start on, however many connections there are for them.
#[test]
fn an_open_loop_starts_with_its_first_flow() {
    let flows = r#"size = "10 kB", arrivals = { poisson = "20 /s" }, start = { every = "5 s" }"#;
    let s = scenario(&text(r#"rate = "10 Mbit/s", buffer = "100 packets""#, flows));
    assert!(s.groups["f"].count > 1000);
}
