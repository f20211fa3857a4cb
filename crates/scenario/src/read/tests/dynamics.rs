//! `[dynamics]`: what a round is, and which rounds are refused.

use penstock_law::quantity::Time;

use super::{LAB, refusal, scenario};
use crate::model::Dynamics;
use crate::write::print;

fn with(dynamics: &str) -> String {
    format!("{LAB}{dynamics}\n")
}

/// Flows of 100 ms and 240 ms that respond, and one of 900 ms that does not.
#[test]
fn a_round_is_the_longest_round_trip_of_those_who_respond() {
    let flows = r#"
[flows.far]
from = "left"
to = "right"
rtt = { spread = ["50 ms", "240 ms"] }
cc = { law = "cubic" }
count = 3
[flows.call]
from = "left"
to = "right"
rtt = "900 ms"
cc = { law = "cbr", rate = "1 Mbit/s" }
"#;
    let round = |text: &str| scenario(text).dynamics.map(|Dynamics { round }| round);
    assert_eq!(round(LAB), None);
    assert_eq!(round(&with("[dynamics]")), Some(Time(100_000_000_000)));
    assert_eq!(round(&with(&format!("{flows}[dynamics]"))), Some(Time(240_000_000_000)));
    assert_eq!(round(&with(&format!("{flows}[dynamics]\nround = \"40 ms\""))), Some(Time(40_000_000_000)));
}

#[test]
fn a_round_is_read_back_and_its_absence_is_not_written() {
    let s = scenario(&with("[dynamics]\nround = \"33.3 ms\""));
    assert!(print(&s).ends_with("[dynamics]\nround = \"33.3 ms\"\n"), "{}", print(&s));
    assert_eq!(print(&scenario(&print(&s))), print(&s));
    assert!(!print(&scenario(LAB)).contains("dynamics"));
}

#[test]
fn rounds_that_are_refused() {
    let refused = [
        (
            "[dynamics]\nround = \"0 s\"",
            "lab.toml:22: dynamics.round: `0 s` is no time at all: write a duration above zero",
        ),
        ("[dynamics]\nround = 40", "lab.toml:22: dynamics.round: `40` is not a duration: write its unit too"),
        (
            "[dynamics]\nrounds = \"1 s\"",
            "lab.toml:22: dynamics.rounds: the key `rounds` is unknown here: did you mean `round`?",
        ),
        (
            "[dynamics]\nround = \"61 s\"",
            "lab.toml:22: dynamics.round: a round of 61 s is longer than the run: write at most the duration, 60 s",
        ),
        (
            "[dynamics]\nround = \"1 us\"",
            "lab.toml:22: dynamics.round: a round of 1 us makes 60000000 rounds in the run: write at least `round = \"6 us\"`",
        ),
    ];
    for (dynamics, says) in refused {
        let said = refusal(&with(dynamics));
        assert!(said.contains(says), "{said}\nnot {says}");
    }
    let top = LAB.replace("format = 1", "format = 1\ndynamics = true");
    let said = refusal(&top);
    assert!(said.contains("lab.toml:2: dynamics: `true` is not a table"), "{said}");
    let many = LAB.replace("count = 100", "count = 1000");
    let said = refusal(&format!("{many}[dynamics]\nround = \"10 us\"\n"));
    let says = "lab.toml:21: dynamics: samples of 2 links and 1000 flows in 6000000 rounds take about 72.4 GB of memory, and 16";
    assert!(said.contains(says), "{said}");
    let nobody = LAB.replace("law = \"newreno\", ecn = true", "law = \"cbr\", rate = \"1 Mbit/s\"");
    let said = refusal(&format!("{nobody}[dynamics]\n"));
    assert!(
        said.contains("lab.toml:21: dynamics: no group responds to congestion, so none has a round: write one"),
        "{said}"
    );
}
