//! Puts a controller under the vectors of this folder. Copy this file, and implement [`Stack`] for the controller.

use serde_json::Value;

/// What a stack begins with.
pub(crate) struct Start<'a> {
    /// The sequence in the file.
    pub(crate) sequence: &'a Value,
    /// The size of every datagram [bytes].
    pub(crate) datagram_bytes: u64,
    /// The congestion window [bytes].
    pub(crate) window_bytes: u64,
}

/// A controller of one path, with the events of RFC 9002, appendix B.
pub(crate) trait Stack {
    /// A datagram with so many bytes leaves.
    fn sent(&mut self, at_us: u64, bytes: u64);
    /// One ACK frame acknowledges so many datagrams, the newest of which was sent then, some of them marked.
    fn acked(&mut self, at_us: u64, sent_us: u64, bytes: u64, datagrams: u64, marked: u64, limited: bool);
    /// Datagrams are lost, the newest of which was sent then.
    fn lost(&mut self, at_us: u64, sent_us: u64, bytes: u64, persistent: bool);
    /// The count of marks has risen, by an ACK frame whose newest datagram was sent then.
    fn echo(&mut self, at_us: u64, sent_us: u64);
    /// The congestion window [bytes].
    fn window(&self) -> f64;
    /// The slow-start threshold [bytes], if it has one and tells it.
    fn ssthresh(&self) -> Option<f64> {
        None
    }
    /// The pacing rate [bit/s], if it has one.
    fn pacing(&self) -> Option<f64> {
        None
    }
}

/// The outputs of a stack that are not within `bound` (`real` or `whole_datagrams`) of the file's: sequence, time, output, got, want.
///
/// # Panics
/// If nothing is compared: the file has no sequences, as `prr.json`.
pub(crate) fn differences(text: &str, bound: &str, make: &mut dyn FnMut(&Start<'_>) -> Box<dyn Stack>) -> Vec<String> {
    let file: Value = serde_json::from_str(text).expect("JSON");
    let sequences = file["sequences"].as_array().expect("`sequences`, which prr.json lacks");
    let number = |value: &Value, key: &str| value[key].as_u64().unwrap_or_else(|| panic!("no {key} in {value}"));
    let (size, window_bytes) = (number(&file, "datagram_bytes"), number(&file, "initial_window_bytes"));
    let part = |key: &str| file["tolerance"][bound][key].as_f64().expect("a number");
    let (relative, least) = (part("relative"), part("bytes"));
    let (mut differences, mut compared) = (Vec::new(), 0);
    for sequence in sequences {
        let mut stack = make(&Start { sequence, datagram_bytes: size, window_bytes });
        for event in sequence["events"].as_array().expect("events") {
            let (datagrams, marked) = (number(event, "datagrams"), number(event, "marked"));
            for step in 0..number(event, "repeat") {
                let at = number(event, "at_us") + step * number(event, "every_us");
                let sent = number(event, "sent_us") + step * number(event, "sent_every_us");
                let bytes = size * datagrams;
                match event["event"].as_str().expect("a word") {
                    "sent" => (0..datagrams).for_each(|_| stack.sent(at, size)),
                    "acked" => stack.acked(at, sent, bytes, datagrams, marked, false),
                    "limited" => stack.acked(at, sent, bytes, datagrams, marked, true),
                    "lost" => stack.lost(at, sent, bytes, false),
                    "persistent" => stack.lost(at, sent, bytes, true),
                    "echo" => stack.echo(at, sent),
                    other => panic!("no event is called {other}"),
                }
            }
            let outputs = [
                ("cwnd_bytes", Some(stack.window()), least),
                ("ssthresh_bytes", stack.ssthresh(), least),
                ("pacing_bit_per_s", stack.pacing(), 0.0),
            ];
            for (key, got, least) in outputs {
                let (Some(want), Some(got)) = (event[key].as_f64(), got) else { continue };
                compared += 1;
                let within = (got - want).abs() <= f64::max(relative * want, least);
                // What is not a number is not within.
                if !within {
                    let (name, kind, at) = (&sequence["name"], &event["event"], &event["at_us"]);
                    differences.push(format!("{name}, {kind} at {at} us: {key} {got:.1} for {want:.1}"));
                }
            }
        }
    }
    assert!(compared > 0, "the file has no outputs to compare");
    differences
}
