//! Responses to the page's requests.

use std::sync::Arc;

use penstock_law::Registry;
use penstock_packets::Packets;
use penstock_record::{Origin, Provenance, Record};
use penstock_scenario::read::Document;
use penstock_scenario::world::World as _;
use serde_json::{Value, json};

const SCENARIO: &str = r#"
format = 1
title = "<script>alert(1)</script>"
duration = "5 s"
packet = "1000 B"
[links.bottleneck]
from = "left"
to = "right"
rate = "10 Mbit/s"
delay = "10 ms"
buffer = "1 bdp"
duplex = true
[flows.ftp]
from = "left"
to = "right"
rtt = "100 ms"
cc = { law = "newreno" }
"#;

fn ask(request: &Value) -> Value {
    let answer = penstock_web::answer(&serde_json::to_vec(request).unwrap(), &mut |_| true);
    serde_json::from_slice(&answer).unwrap()
}

#[test]
fn a_title_stays_text() {
    let said = ask(&json!({ "do": "run", "name": "a.toml", "text": SCENARIO, "cell": 0, "world": "packets" }));
    let run = &said["ok"];
    assert_eq!(run["title"], "<script>alert(1)</script>");
    assert!(!run["html"].as_str().unwrap().contains("<script"), "{run}");
    let figures: Value = serde_json::from_str(run["figures"].as_str().unwrap()).unwrap();
    assert!(figures["figures"].as_array().unwrap().len() >= 3);
    assert!(run["summary"]["links"]["bottleneck"]["utilization"].as_f64().unwrap() > 0.5);
}

#[test]
fn errors_have_places_and_remedies() {
    let text = SCENARIO.replace("rate = ", "rat = ");
    let said = ask(&json!({ "do": "read", "name": "a.toml", "text": text }));
    let errors = said["errors"].as_array().unwrap();
    let wrong = errors.iter().find(|e| e["key"] == "links.bottleneck.rat").unwrap_or_else(|| panic!("{said}"));
    assert_eq!(
        (wrong["line"].as_u64(), wrong["column"].as_u64(), wrong["length"].as_u64()),
        (Some(9), Some(1), Some(3))
    );
    assert!(wrong["remedy"].as_str().unwrap().contains("rate"), "{wrong}");
}

#[test]
fn a_loop_has_margins_and_a_curve() {
    let text = SCENARIO
        .replace("duplex = true", "duplex = true\naqm = { law = \"pi\" }")
        .replace("\"newreno\"", "\"newreno\", ecn = true");
    let said = ask(&json!({ "do": "theory", "name": "a.toml", "text": text, "cell": 0 }));
    let theory = &said["ok"];
    assert!(theory["margins"]["verdict"].is_string(), "{said}");
    assert!(theory["figures"].as_str().unwrap().contains("Loop gain"), "{said}");
}

#[test]
fn what_cannot_be_done_is_refused_with_its_reason() {
    let said = ask(&json!({ "do": "theory", "name": "a.toml", "text": SCENARIO.replace("newreno", "bbr"), "cell": 0 }));
    assert!(!said["refused"][0].as_str().unwrap().is_empty(), "{said}");
    for wrong in [json!({ "do": "fly" }), json!({ "do": "read" }), json!(3)] {
        assert!(ask(&wrong)["refused"].is_array(), "{wrong}");
    }
    let damaged = ask(&json!({ "do": "open", "text": "format = 2\n" }));
    assert!(damaged["refused"].is_array(), "{damaged}");
}

#[test]
fn a_record_gives_back_its_scenario_and_its_world() {
    let registry = Arc::new(Registry::standard());
    let mut cells = Document::parse(SCENARIO, "a.toml").unwrap().with_laws(registry).cells().unwrap();
    let scenario = cells.remove(0).scenario;
    let run = Packets.run(&scenario, &mut |_: f64| true).unwrap();
    for world in ["packets", "fluid", "linux"] {
        let origin = Origin { world: world.to_owned(), ..Origin::default() };
        let record = Record::of(&scenario, &run, &Provenance { origin, ..Provenance::default() }).unwrap();
        let text = std::str::from_utf8(record.file("record.toml").unwrap()).unwrap();
        let said = ask(&json!({ "do": "open", "text": text }));
        assert_eq!(said["ok"]["world"], world, "{said}");
        assert!(said["ok"]["scenario"].as_str().unwrap().contains("[links.bottleneck]"), "{said}");
    }
}

#[test]
fn a_run_may_be_stopped() {
    // So long that it asks whether to go on.
    let text = SCENARIO.replace("5 s", "1000 s");
    let request = json!({ "do": "run", "name": "a.toml", "text": text, "cell": 0, "world": "packets" });
    let answer = penstock_web::answer(&serde_json::to_vec(&request).unwrap(), &mut |_| false);
    let said: Value = serde_json::from_slice(&answer).unwrap();
    assert_eq!(said["refused"][0], "stopped");
}

#[test]
fn a_sweep_has_cells() {
    let text =
        SCENARIO.to_owned() + "[sweep]\nseed = { count = 3 }\n\"links.bottleneck.buffer\" = [\"1 bdp\", \"2 bdp\"]\n";
    let said = ask(&json!({ "do": "read", "name": "a.toml", "text": text }));
    assert_eq!(said["ok"]["cells"].as_array().unwrap().len(), 6, "{said}");
}
