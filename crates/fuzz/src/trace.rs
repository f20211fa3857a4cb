//! The reader of traces of a link's rate, in both formats, and of its delay.

use penstock_scenario::read::Document;

const SCENARIO: &str = r#"
    format = 1
    duration = "1 s"
    links.l = { from = "a", to = "b", rate = { trace = "t" }, delay = "1 ms", buffer = "10 packets" }
    flows.f = { from = "a", to = "b", cc = { law = "newreno" } }
"#;

/// A trace is read, or an error names its file.
///
/// # Panics
/// If not.
pub fn check(data: &[u8]) {
    let text = String::from_utf8_lossy(data).into_owned();
    let delay = SCENARIO.replace("{ trace = \"t\" }, delay = \"1 ms\"", "\"1 Mbit/s\", delay = { trace = \"t\" }");
    assert_ne!(delay, SCENARIO);
    for scenario in [SCENARIO.to_owned(), SCENARIO.replace("\"t\"", "\"t\", format = \"csv\""), delay] {
        let text = text.clone();
        let document = Document::parse_with(&scenario, "fuzz.toml", move |_| Ok(text.clone()));
        if let Err(errors) = document.expect("this scenario is one").cells() {
            let worded =
                |error: &penstock_scenario::read::ReadError| !error.found.is_empty() && !error.remedy.is_empty();
            assert!(errors.all().iter().all(worded), "an error without words: {errors}");
        }
    }
}

/// Traces that are read.
pub fn seeds() -> Vec<Vec<u8>> {
    vec![
        b"0\n1\n1\n7\n".to_vec(),
        b"5\r\n".to_vec(),
        b"0\n18446744073709551615\n".to_vec(),
        b"time,rate\n0,5e6\n2.5,0\n".to_vec(),
        b"time,delay\n0,0.027\n15,0.04\n".to_vec(),
    ]
}
