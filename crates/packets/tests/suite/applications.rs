//! Web pages and chunked video: requests depend on earlier transfers.

use crate::laboratory::{Dumbbell, assert_near, group, numbers};
use penstock_scenario::world::Run;

/// A packet of 1000 B at 10 Mbit/s, the round trip, and an acknowledgement of 40 B on the way back [s].
const PACKET: f64 = 0.0008;
const RTT: f64 = 0.04;
const ACK: f64 = 0.000_032;

fn loaded(keys: &str) -> Run {
    let flows = format!("start = \"1 s\"\ncc = {{ law = \"newreno\" }}\n{keys}");
    Dumbbell { flows: &flows, ..Dumbbell::PLAIN }.run()
}

fn near(is: f64, should: f64, what: &str) {
    assert!((is - should).abs() < 1e-11, "{what}: {is}, not {should}");
}

/// A page of one object is a transfer of its size, whether it is multiplexed or not.
#[test]
fn a_page_of_one_object_is_a_transfer() {
    let [alone] = numbers(&loaded("size = \"96 kB\""), "transfers", "completion_s")[..] else { panic!("one transfer") };
    for page in ["rounds = [1], connections = 1", "rounds = [1], multiplexed = true", "rounds = [1]"] {
        let run = loaded(&format!("size = \"96 kB\"\npage = {{ {page} }}"));
        assert_eq!(numbers(&run, "transfers", "completion_s"), [alone], "{page}");
        assert_eq!(numbers(&run, "pages", "load_s"), [alone], "{page}");
        let pages = group(&run, "f").pages.clone().unwrap();
        assert_eq!((pages.completed, pages.load_mean_s, pages.load_p99_s), (1, Some(alone), Some(alone)), "{page}");
    }
}

/// Objects of one packet: a round takes a round trip and a packet; what one round has goes side by side on its connections, and
/// what has no connection waits for one, a round trip more.
#[test]
fn rounds_take_round_trips() {
    let one = PACKET + RTT + ACK;
    for (page, objects, seconds) in [
        ("rounds = [1, 1, 1], connections = 1", 3, 3.0 * one),
        ("rounds = [1, 1, 1]", 3, 3.0 * one),
        ("rounds = [1, 5]", 6, 2.0 * one + 4.0 * PACKET),
        // Of twelve the last six follow the first, each as its connection is free.
        ("rounds = [12]", 12, 2.0 * one + 5.0 * PACKET),
        ("rounds = [12], connections = 2", 12, 6.0 * one + PACKET),
        ("rounds = [12], connections = 12", 12, one + 11.0 * PACKET),
        // A window of twelve packets holds them all: one round trip.
        ("rounds = [12], multiplexed = true", 1, one + 11.0 * PACKET),
        ("rounds = [1, 11], multiplexed = true", 2, 2.0 * one + 10.0 * PACKET),
    ] {
        let run = loaded(&format!("size = \"960 B\"\nsender = {{ initial_window = 12 }}\npage = {{ {page} }}"));
        let [load] = numbers(&run, "pages", "load_s")[..] else { panic!("one page: {page}") };
        near(load, seconds, page);
        assert_eq!(numbers(&run, "transfers", "completion_s").len(), objects, "{page}");
        let total: f64 = numbers(&run, "transfers", "bytes").iter().sum();
        assert_eq!(numbers(&run, "pages", "bytes"), [total], "{page}");
    }
}

/// A handshake is a round trip before the first object of each connection, not before the others: six connections that open
/// for the second round cost one more, and one that is open none.
#[test]
fn each_connection_opens_once() {
    let load = |page: &str, handshake: bool| {
        let run = loaded(&format!("size = \"960 B\"\nsender = {{ handshake = {handshake} }}\npage = {{ {page} }}"));
        numbers(&run, "pages", "load_s")[0]
    };
    for (page, opened) in [
        ("rounds = [1, 1, 1], connections = 1", 1.0),
        ("rounds = [1, 1, 1]", 1.0),
        ("rounds = [1, 6]", 2.0),
        ("rounds = [1, 6, 6]", 2.0),
    ] {
        let more = load(page, true) - load(page, false);
        assert!((more - opened * RTT).abs() < 0.002, "{page}: {more}");
    }
}

/// A browser pauses after a page for just the time that `idle` has. The next page begins on new connections, or on those that
/// are open: 96 kB take six round trips from a window of two packets, and one from the window that they left.
#[test]
fn a_browser_pauses_between_pages() {
    for (remember, later) in [("nothing", 6.0), ("everything", 1.0)] {
        let keys = format!(
            "size = \"96 kB\"\nidle = \"500 ms\"\npage = {{ rounds = [1], connections = 1 }}\nsender = {{ remember = \"{remember}\" }}"
        );
        let run = loaded(&keys);
        let (began, ended) = (numbers(&run, "pages", "began_s"), numbers(&run, "pages", "ended_s"));
        assert!(began.len() > 20);
        assert_eq!(numbers(&run, "pages", "number"), (0..began.len()).map(|n| n as f64).collect::<Vec<_>>());
        for at in 1..began.len() {
            near(began[at] - ended[at - 1], 0.5, remember);
            let rounds = ((ended[at] - began[at]) / RTT).floor();
            assert!((rounds - later).abs() <= 1.0 + 2.0 * f64::from(u8::from(later == 1.0)), "{remember}: {rounds}");
        }
        let loads = numbers(&run, "pages", "load_s");
        assert!((later == 1.0) == (loads[5] < loads[0] / 2.0), "{remember}: {loads:?}");
    }
}

/// Browsers start one by one with all of their connections, and a run ends when the last page is there.
#[test]
fn a_run_may_end_with_its_pages() {
    let keys = "count = 12\nsize = { pareto = { mean = \"20 kB\", shape = 1.5 } }\npage = { rounds = [1, 9], connections = 4 }\n\
                [stop]\nwhen = \"transfers complete\"";
    let run = loaded(&keys.replace("count", "series = true\ncount"));
    let ended = numbers(&run, "pages", "ended_s");
    assert_eq!((ended.len(), numbers(&run, "transfers", "number").len()), (3, 30));
    let last = ended.iter().copied().fold(0.0, f64::max);
    near(run.summary.whole.measured_s, last, "the end");
    assert_eq!(numbers(&run, "pages", "flow").iter().map(|flow| flow % 4.0).sum::<f64>(), 0.0, "named by first flows");
}

fn watched(rate: &str, duration: &str, video: &str) -> Run {
    let top = format!("duration = \"{duration}\"");
    let flows = format!("start = \"0 s\"\ncc = {{ law = \"newreno\" }}\nvideo = {{ {video} }}");
    Dumbbell { top: &top, rate, buffer: "\"100 packets\"", flows: &flows, ..Dumbbell::PLAIN }.run()
}

/// Where the link is faster than the highest rate, nothing ever stalls, the buffer fills, and the rate is the highest from then
/// on, a chunk each as long as it plays.
#[test]
fn video_on_a_fast_link_never_stalls() {
    let run = watched(
        "\"100 Mbit/s\"",
        "120 s",
        "chunk = \"2 s\", buffer = \"30 s\", reservoir = \"8 s\", cushion = \"12 s\"",
    );
    let video = group(&run, "f").video.clone().unwrap();
    assert_eq!((video.sessions, video.rebuffers, video.rebuffer_s), (1, 0, 0.0));
    let (rates, held) = (numbers(&run, "chunks", "rate_bit_per_s"), numbers(&run, "chunks", "held_s"));
    assert!(rates.is_sorted() && rates[0] == 235e3 && *rates.last().unwrap() == 5.8e6, "{rates:?}");
    assert!(video.switches >= 1 && held.iter().all(|held| *held <= 30.0), "{held:?}");
    let requested = numbers(&run, "chunks", "requested_s");
    let n = requested.len();
    for at in n - 30..n {
        near(requested[at] - requested[at - 1], 2.0, "one chunk for another");
    }
    assert_eq!(video.chunks as usize, n);
    // What was sent is what chunks have.
    let bytes: f64 = rates.iter().map(|rate| rate * 2.0 / 8.0).sum();
    assert_near(numbers(&run, "transfers", "bytes").iter().sum(), bytes, 1e-6, "bytes");
}

/// Where the link is slower than the lowest rate, that is the rate, and playing takes as long as the data: of T seconds are
/// played what came, and all others stall.
#[test]
fn video_on_a_slow_link_stalls_for_what_is_missing() {
    let run = watched("\"1 Mbit/s\"", "300 s", "rates = [\"2 Mbit/s\", \"4 Mbit/s\"], chunk = \"2 s\"");
    let video = group(&run, "f").video.clone().unwrap();
    assert_eq!((video.rate_mean_bit_per_s, video.switches), (Some(2e6), 0));
    // 0.96 Mbit/s of payload bring 0.48 s of video a second.
    assert_near(video.chunks as f64, 300.0 * 0.48 / 2.0, 0.03, "chunks");
    let (first, last) =
        (numbers(&run, "chunks", "arrived_s")[0], *numbers(&run, "chunks", "arrived_s").last().unwrap());
    let played = 2.0 * (video.chunks - 1) as f64 + (300.0 - last).min(2.0);
    assert!((video.rebuffer_s - (300.0 - first - played)).abs() < 1e-6, "{video:?}");
    assert!((video.rebuffers as f64 - video.chunks as f64).abs() <= 1.0, "after each chunk: {video:?}");
    assert_near(video.startup_mean_s.unwrap(), first, 1e-12, "startup");
}

/// Between two rates the player takes both, so that it plays what comes: the mean of its rates is the goodput, and it never
/// stalls once its buffer is above the reservoir.
#[test]
fn video_follows_the_rate_of_its_link() {
    let run = watched(
        "\"3 Mbit/s\"",
        "1200 s\"\nwarmup = \"200 s",
        "chunk = \"2 s\", buffer = \"60 s\", reservoir = \"10 s\", cushion = \"40 s\"",
    );
    let video = group(&run, "f").video.clone().unwrap();
    let goodput = group(&run, "f").goodput_bit_per_s;
    assert_eq!(video.rebuffers, 0, "{video:?}");
    assert!(goodput > 2.5e6, "the link is busy: {goodput}");
    assert_near(video.rate_mean_bit_per_s.unwrap(), goodput, 0.02, "what comes is played");
    assert_near(video.chunks as f64, 500.0, 0.02, "as fast as it is played");
    assert!(video.switches > 0);
    let rates = numbers(&run, "chunks", "rate_bit_per_s");
    assert!(rates[150..].iter().all(|rate| (1.75e6..=4.3e6).contains(rate)), "the rates beside it");
}
