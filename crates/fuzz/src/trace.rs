//! The reader of traces of a link's rate, in both formats, and of its delay, and of distributions of sizes.

use penstock_scenario::model::Size;
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
    let csv = SCENARIO.replace("\"t\"", "\"t\", format = \"csv\"");
    let constant = SCENARIO.replace("{ trace = \"t\" }", "\"1 Mbit/s\"");
    let sizes = constant.replace("cc =", "size = { distribution = \"t\" }, cc =");
    let delays = constant.replace("\"1 ms\"", "{ trace = \"t\" }");
    for scenario in [SCENARIO.to_owned(), csv, sizes, delays] {
        let text = text.clone();
        let document = Document::parse_with(&scenario, "fuzz.toml", move |_| Ok(text.clone()));
        let cells = document.expect("this scenario is one").cells();
        if let Ok(cells) = &cells
            && let Some(Size::Measured(sizes)) = &cells[0].scenario.groups["f"].size
        {
            let sound = sizes.points.is_sorted_by(|a, b| a.0 <= b.0 && a.1 <= b.1);
            let ends = sizes.points.last().is_some_and(|(size, share)| *size >= 1.0 && *share == 1.0);
            assert!(sound && ends && sizes.points[0].0 >= 0.0 && sizes.points[0].1 >= 0.0, "{:?}", sizes.points);
        }
        if let Err(errors) = cells {
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
        b"# bytes,share\n100,0.5\n1000,0.5\n1e6,1\n".to_vec(),
        b"100,0\nnan,1\n".to_vec(),
        b"100,0.5\n90,1.5\n-1,1\n".to_vec(),
    ]
}
