//! Puts a controller under the vectors of this folder. Copy this file, and implement [`Stack`] for the controller.

use serde_json::Value;

/// A controller of one path. README.md has its events, whose times are microseconds from the beginning of a sequence.
pub(crate) trait Stack {
    fn sent(&mut self, at_us: u64, bytes: u64);
    fn acked(&mut self, at_us: u64, sent_us: u64, bytes: u64, datagrams: u64, marked: u64, limited: bool);
    fn lost(&mut self, at_us: u64, sent_us: u64, bytes: u64, persistent: bool);
    fn echo(&mut self, at_us: u64, sent_us: u64);
    /// The window [bytes], the slow-start threshold [bytes] and the pacing rate [bit/s]; none where the stack has none.
    fn outputs(&self) -> [Option<f64>; 3];
}

/// Makes a stack for a sequence, from the size of a datagram [bytes] and the first window [bytes].
pub(crate) type Make<'a> = &'a mut dyn FnMut(&Value, u64, u64) -> Box<dyn Stack>;

/// The outputs beyond a tolerance, `real` or `whole_datagrams`: sequence, event, time, output, the stack's number and the file's.
///
/// # Panics
/// If nothing is compared, or the text is no file of vectors. `prr.json` is none.
pub(crate) fn differences(text: &str, tolerance: &str, make: Make<'_>) -> Vec<String> {
    let file: Value = serde_json::from_str(text).expect("JSON");
    let number = |of: &Value, key: &str| of[key].as_u64().unwrap_or_else(|| panic!("no {key} in {of}"));
    let (size, window) = (number(&file, "datagram_bytes"), number(&file, "initial_window_bytes"));
    let bound = |key: &str| file["tolerance"][tolerance][key].as_f64().expect("a tolerance of the file");
    let bounds = [("cwnd_bytes", bound("bytes")), ("ssthresh_bytes", bound("bytes")), ("pacing_bit_per_s", 0.0)];
    let (mut differences, mut compared) = (Vec::new(), 0);
    for sequence in file["sequences"].as_array().expect("sequences") {
        let mut stack = make(sequence, size, window);
        for event in sequence["events"].as_array().expect("events") {
            let (kind, datagrams) = (event["event"].as_str().expect("a word"), number(event, "datagrams"));
            let (bytes, marked) = (size * datagrams, number(event, "marked"));
            for step in 0..number(event, "repeat") {
                let at = number(event, "at_us") + step * number(event, "every_us");
                let sent = number(event, "sent_us") + step * number(event, "sent_every_us");
                match kind {
                    "sent" => (0..datagrams).for_each(|_| stack.sent(at, size)),
                    "acked" | "limited" => stack.acked(at, sent, bytes, datagrams, marked, kind == "limited"),
                    "lost" | "persistent" => stack.lost(at, sent, bytes, kind == "persistent"),
                    "echo" => stack.echo(at, sent),
                    _ => panic!("no event is called {kind}"),
                }
            }
            for ((key, bytes), output) in bounds.into_iter().zip(stack.outputs()) {
                let (Some(want), Some(got)) = (event[key].as_f64(), output) else { continue };
                compared += 1;
                // NaN is not within.
                let within = (got - want).abs() <= f64::max(bound("relative") * want, bytes);
                if !within {
                    let (name, at) = (&sequence["name"], &event["at_us"]);
                    differences.push(format!("{name}, \"{kind}\" at {at} us: {key} {got:.1} for {want:.1}"));
                }
            }
        }
    }
    assert!(compared > 0, "the file has no outputs to compare");
    differences
}
