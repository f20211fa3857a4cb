//! Scenarios and sweeps that are larger than a machine can hold.

use super::super::{LAB, cells, refusal, with};
use crate::read::Document;

#[test]
fn a_sweep_of_too_many_cells_is_refused() {
    let list = |n: usize| (1..=n).map(|i| i.to_string()).collect::<Vec<_>>().join(", ");
    let sweep = format!("{LAB}[sweep]\nseed = {{ count = 1000 }}\n\"flows.ftp.count\" = [{}]\n", list(101));
    assert!(
        refusal(&sweep)
            .starts_with("lab.toml:21: sweep: 101 x 1000 cells are too many: write a sweep of at most 100000")
    );
    let heavy = with("count = 100", &format!("rtts = [{}]\ncount = 100", list(2000)));
    let sweep = format!("{heavy}[sweep]\nseed = [{}]\n", list(90_000));
    assert!(refusal(&sweep).contains("sweep: 90000 cells of "), "{}", refusal(&sweep));
}

#[test]
fn what_no_machine_can_hold_is_refused_with_the_estimate() {
    let many = with("count = 100", "count = 5_000_000");
    let other = "[flows.more]\ncount = 5_000_000\nfrom = \"left\"\nto = \"right\"\ncc = { law = \"fast\" }\n";
    let said = refusal(&format!("{many}{other}"));
    assert!(
        said.starts_with(
            "lab.toml:21: flows.more: with this group there are 10000000 flows, which take about 20.5 GB of memory, 21.4 GB"
        ),
        "{said}"
    );
    let said = refusal(&with("count = 100", "count = 1_000_000\nseries = true"));
    assert!(said.contains("flows.ftp: the series of 600 rows take about 48 GB of memory"), "{said}");
    let said = refusal(&with("622 Mbit/s", "100 Tbit/s").replacen("\"100 ms\"", "\"50 s\"", 1));
    assert!(
        said.contains("links.bottleneck: the packets in flight at the rate of the link take about 60000 GB"),
        "{said}"
    );
    let said = refusal(&with("cc = {", "sender = { initial_window = 1e6 }\ncount = 1000\ncc = {").replacen(
        "count = 100\n",
        "",
        1,
    ));
    assert!(said.contains("flows.ftp: the initial windows of 1000 flows take about 96 GB"), "{said}");
    // A part that is small by itself says what it comes to.
    let said = refusal(&with("count = 100", "count = 7_800_000"));
    assert!(
        said.contains("take about 1.5 GB of memory, 17.5 GB with the whole scenario, and 16 GB are the most"),
        "{said}"
    );
}

#[test]
fn what_there_is_of_memory_is_for_others_to_say() {
    let mut document = Document::parse(&with("count = 100", "count = 100_000"), "lab.toml").unwrap();
    document.cells().unwrap();
    document.within(150_000_000, "are free on this machine");
    let said = document.cells().unwrap_err().to_string();
    assert!(said.contains("which take about 205 MB of memory, and 150 MB are free on this machine: write"), "{said}");
    document.within(u64::MAX, "are there");
    document.cells().unwrap();
}

/// 1 Gbit/s into 622 Mbit/s leaves 378 Mbit/s to wait: 47250 packets of 1000 B a second, of 96 B each in memory.
#[test]
fn an_overload_that_piles_up_is_refused_where_no_machine_can_hold_it() {
    let overload = |seconds: u32, buffer: &str, rate: &str| {
        let text = with("law = \"newreno\", ecn = true", &format!("law = \"cbr\", rate = {rate}"));
        text.replace("60 s", &format!("{seconds} s")).replace("1 bdp", buffer).replace("count = 100", "count = 10")
    };
    let all = "\"100 Mbit/s\"";
    cells(&overload(3500, "unlimited", all)).unwrap();
    let said = refusal(&overload(3550, "unlimited", all));
    assert!(said.starts_with("lab.toml:7: links.bottleneck: up to 167"), "{said}");
    assert!(said.contains("packets of unresponsive flows wait in the queue and take about 16.1 GB"), "{said}");
    assert!(said.ends_with("write a finite buffer, or a lower rate of those flows"), "{said}");
    cells(&overload(3550, "1000 packets", all)).unwrap();
    // Half of the time at twice the rate, and the queue never empties: as much waits in the end.
    refusal(&overload(3550, "unlimited", "{ every = \"1 s\", steps = [\"199 Mbit/s\", \"1.1 Mbit/s\"] }"));
    cells(&overload(3550, "unlimited", "{ every = \"1 s\", steps = [\"99 Mbit/s\", \"1 Mbit/s\"] }")).unwrap();
    // Half of the time silent.
    let silent =
        |text: String| text.replace("cc = {", "on_off = { on = \"1 s\", off = { exponential = \"1 s\" } }\ncc = {");
    cells(&silent(overload(3550, "unlimited", all))).unwrap();
    // An interface of its own holds it back.
    let access =
        |text: String, rate: &str| text.replace("cc = {", &format!("access = {{ rate = \"{rate}\" }}\ncc = {{"));
    let said = refusal(&access(overload(3550, "unlimited", "\"1 Gbit/s\""), "60 Mbit/s"));
    assert!(said.contains("flows.ftp: up to "), "{said}");
    let finite = access(overload(3550, "unlimited", "\"1 Gbit/s\""), "60 Mbit/s\", queue = \"100 packets");
    cells(&finite).unwrap();
}

/// Steps of equal length are few in the file and many in a cell.
#[test]
fn a_sweep_of_long_schedules_is_refused() {
    let text = with(
        "law = \"newreno\", ecn = true",
        "law = \"cbr\", rate = { every = \"1 ms\", steps = [\"1 Mbit/s\", \"2 Mbit/s\"] }",
    );
    assert_eq!(cells(&text).unwrap()[0].scenario.groups["ftp"].steps.len(), 59_999);
    let said = refusal(&format!("{text}[sweep]\nseed = {{ count = 1000 }}\n"));
    assert!(said.contains("sweep: 1000 cells of 59999 values each are too many"), "{said}");
}
