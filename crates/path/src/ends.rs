//! The two ends: a namespace each, with a device, an address a flow, and the settings of the kernel's TCP.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use penstock_law::quantity::{Bytes, Time};
use penstock_machine::namespace::{Namespace, aside};
use penstock_machine::program;

use super::address;
use super::device::{Device, NAME};
use super::packet::Direction;
use super::processors::Processors;

/// Settings of the kernel's TCP; without a value the kernel's own holds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Habits {
    /// Packets of any kind are no longer than this.
    pub mtu: u16,
    /// Whether segments have timestamps (RFC 7323), 12 B each.
    pub timestamps: bool,
    /// Packets that leave a sender together at most, where there is a limit.
    pub burst: Option<u32>,
    /// Whether a connection keeps its window however long it has nothing to send; the kernel lets it shrink (RFC 2861).
    pub keep_window: bool,
    /// Accurate ECN (RFC 9768), where all senders request it.
    pub accurate_ecn: Option<AccurateEcn>,
    /// Settings of each flow.
    pub flows: Vec<FlowHabits>,
}

/// The replies to senders that request accurate ECN.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AccurateEcn {
    /// Whether receivers know it; if not, connections fall back to RFC 3168.
    pub receivers: bool,
    /// Whether the AccECN Option is sent.
    pub option: bool,
}

impl AccurateEcn {
    /// Whether this kernel has it: none where that cannot be found out, without the right to make a namespace.
    pub fn in_kernel() -> Option<bool> {
        let namespace = Namespace::new().ok()?;
        Some(namespace.within(|| fs::write(Path::new("/proc/sys/net").join(ECN), ACCURATE)).is_ok())
    }
}

/// Settings of one flow.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FlowHabits {
    /// The window at the start [packets].
    pub initial_window: Option<u32>,
    /// The least retransmission timeout.
    pub min_rto: Option<Time>,
    /// Whether the sender requests ECN.
    pub ecn: bool,
    /// Whether every packet is acknowledged at once.
    pub quick_ack: bool,
    /// Largest window that the receiver offers.
    pub receive_window: Option<Bytes>,
    /// The controller that the receiver must have too, to echo marks packet by packet.
    pub echoes: Option<Arc<str>>,
    /// Whether the path makes ECT(1) of the ECT(0) of its data, as it reads them: the kernel sends no other, and a low-latency queue
    /// (RFC 9331) goes by it.
    pub low_latency: bool,
}

/// One end.
#[derive(Debug)]
pub struct End {
    /// Its addresses, and its device.
    pub namespace: Namespace,
    /// Its devices' figures, open since it takes rights to get there.
    figures: File,
    processors: Option<Processors>,
    /// Whether data come from here.
    direction: Direction,
}

/// ECN by default: no end requests it of its own accord, and each agrees to a request; or all request accurate ECN.
const ECN: &str = "ipv4/tcp_ecn";
const AGREE: &str = "2";
const ACCURATE: &str = "3";
/// Packets that may wait between an end and the path.
const QUEUE: u32 = 20_000;
/// Least, first and most memory of a socket: with less, one flow over 180 ms would be held at 157 Mbit/s.
const MEMORY: &str = "4096 1048576 268435456";
/// The smallest MTU of IPv6 (RFC 8200, section 5).
const LEAST_SIX: u16 = 1280;

impl End {
    /// Makes the end that data leave (`Direction::Forward`) or reach (`Direction::Reverse`), and the device to read and write.
    ///
    /// # Errors
    /// An error of the kernel or of `ip`.
    pub(super) fn new(
        direction: Direction,
        habits: &Habits,
        processors: Option<&Processors>,
    ) -> io::Result<(Self, Device)> {
        let namespace = Namespace::new()?;
        let (device, figures) = namespace.within(|| {
            let device = Device::new()?;
            for (name, value) in settings(direction, habits) {
                fs::write(Path::new("/proc/sys/net").join(name), value)
                    .map_err(|e| io::Error::new(e.kind(), format!("cannot set net/{name} to {value}: {e}")))?;
            }
            let six = habits.mtu >= LEAST_SIX && Path::new("/proc/sys/net/ipv6").is_dir();
            // Any account may send a ping where it says so; not every user namespace has all accounts.
            let _ = fs::write("/proc/sys/net/ipv4/ping_group_range", "0 2147483647");
            ip(&batch(direction, habits, six))?;
            Ok((device, File::open("/proc/thread-self/net/dev")?))
        })?;
        Ok((Self { namespace, figures, processors: processors.cloned(), direction }, device))
    }

    /// Puts the calling thread, and its children, to this end for good: into its namespace, and off the path's processor.
    ///
    /// # Errors
    /// An error of the kernel.
    pub fn enter(&self) -> io::Result<()> {
        self.namespace.enter()?;
        self.processors.as_ref().map_or(Ok(()), Processors::keep_to_ends)
    }

    /// Does something at this end, on a thread that ends then.
    ///
    /// # Errors
    /// Those of `work`, and of getting there.
    pub fn within<T: Send>(&self, work: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
        aside(|| {
            self.enter()?;
            work()
        })
    }

    /// Packets that this end could not give to its device.
    ///
    /// # Errors
    /// Where the kernel has no count.
    pub fn dropped(&self) -> io::Result<u64> {
        let mut figures = &self.figures;
        let mut text = String::new();
        figures.seek(SeekFrom::Start(0))?;
        figures.read_to_string(&mut text)?;
        // Name, eight figures of what was received, and of what was sent bytes, packets, errors and drops.
        let line = text.lines().find_map(|line| line.trim().strip_prefix(NAME)?.strip_prefix(':'));
        let figure = line.and_then(|line| line.split_whitespace().nth(11)).and_then(|word| word.parse().ok());
        figure.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, format!("no {NAME} in {text}")))
    }

    /// Whether data leave from here.
    pub fn sends(&self) -> bool {
        self.direction == Direction::Forward
    }
}

// The default controller is left alone: in a namespace other than the first, the kernel refuses what is not in
// `tcp_allowed_congestion_control`, and keeps a reference to it for good when it does.
fn settings(direction: Direction, habits: &Habits) -> Vec<(&'static str, &'static str)> {
    let accurate = habits.accurate_ecn.filter(|accurate| direction == Direction::Forward || accurate.receivers);
    let mut settings = vec![
        ("ipv4/tcp_rmem", MEMORY),
        ("ipv4/tcp_wmem", MEMORY),
        // What one connection has learned shall not help the next.
        ("ipv4/tcp_no_metrics_save", "1"),
        ("ipv4/tcp_timestamps", if habits.timestamps { "1" } else { "0" }),
        ("ipv4/tcp_slow_start_after_idle", if habits.keep_window { "0" } else { "1" }),
        // Who asks for ECN is said flow by flow, but for accurate ECN.
        (ECN, if accurate.is_some() { ACCURATE } else { AGREE }),
    ];
    if accurate.is_some_and(|accurate| !accurate.option) {
        settings.push(("ipv4/tcp_ecn_option", "0"));
    }
    settings
}

/// Lines for `ip -batch`.
fn batch(direction: Direction, habits: &Habits, six: bool) -> String {
    let mut lines = String::from("link set lo up\n");
    let burst = match (direction, habits.burst) {
        (Direction::Forward, Some(packets)) => format!(" gso_max_segs {packets}"),
        _ => String::new(),
    };
    let mtu = habits.mtu;
    let _ = writeln!(lines, "link set {NAME} mtu {mtu} txqueuelen {QUEUE}{burst}");
    let _ = writeln!(lines, "link set {NAME} up");
    let other = if direction == Direction::Forward { Direction::Reverse } else { Direction::Forward };
    for (flow, habits) in (0..).zip(&habits.flows) {
        // Packets that go `way` arrive at the other end.
        let (own, peer) = (address::v4(other, flow), address::v4(direction, flow));
        let mut metrics = String::new();
        if direction == Direction::Forward {
            if let Some(window) = habits.initial_window {
                let _ = write!(metrics, " initcwnd {window}");
            }
            if let Some(timeout) = habits.min_rto {
                let _ = write!(metrics, " rto_min {}ms", timeout.microseconds().div_ceil(1000));
            }
            metrics += if habits.ecn { " features ecn" } else { "" };
        } else {
            if let Some(window) = habits.receive_window {
                let _ = write!(metrics, " window {}", window.0);
            }
            metrics += if habits.quick_ack { " quickack 1" } else { "" };
            if let Some(controller) = &habits.echoes {
                let _ = write!(metrics, " congctl {controller}");
            }
        }
        reach(&mut lines, &format!("{own}/32"), &format!("{peer}/32"), &format!("src {own}{metrics}"));
        if six {
            let (own, peer) = (address::v6(other, flow), address::v6(direction, flow));
            reach(&mut lines, &format!("{own}/128 nodad"), &format!("{peer}/128"), &format!("src {own}{metrics}"));
        }
    }
    lines
}

/// The route of a flow's own address to its peer: over the device; and over the loopback once there is no device, which is when the
/// path ends or is killed. Nothing listens there, so that the kernel responds with a reset: a connection that a
/// program has left behind, with data that nobody can take any more, ends at its next retransmission. Otherwise it
/// would try for minutes, and keep its network namespace for that.
fn reach(lines: &mut String, own: &str, peer: &str, metrics: &str) {
    for device in [NAME, "lo"] {
        let _ = writeln!(lines, "addr add {own} dev {device}");
    }
    // The kernel looks for what is its own in this table only, before any other.
    let _ = writeln!(lines, "route add {peer} dev {NAME} table local metric 1 {metrics}");
    let _ = writeln!(lines, "route add local {peer} dev lo table local metric 2");
}

/// Has `ip` do this in the calling thread's namespace.
pub(super) fn ip(batch: &str) -> io::Result<()> {
    let cannot = |e: io::Error| io::Error::new(e.kind(), format!("cannot run `ip`: {e}"));
    let mut command = Command::new(program::of_system("ip").map_err(cannot)?);
    command.args(["-batch", "-"]).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(cannot)?;
    // It reads all before it complains, or complains and stops reading; either way what it says is what counts.
    let written = child.stdin.take().map_or(Ok(()), |mut stdin| stdin.write_all(batch.as_bytes()));
    let output = child.wait_with_output()?;
    if output.status.success() {
        return written;
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(io::Error::other(format!("`ip` says: {}", said.trim())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_end_is_told_of_its_flows() {
        let flow = FlowHabits {
            initial_window: Some(2),
            min_rto: Some(Time(200_000_000_000)),
            ecn: true,
            quick_ack: true,
            receive_window: Some(Bytes(90_000)),
            echoes: Some("leadlag_7".into()),
            low_latency: false,
        };
        let habits =
            Habits { mtu: 1500, burst: Some(1), flows: vec![FlowHabits::default(), flow], ..Habits::default() };
        let there = batch(Direction::Forward, &habits, true);
        assert!(there.contains("link set penstock0 mtu 1500 txqueuelen 20000 gso_max_segs 1\n"), "{there}");
        let first = "addr add 10.77.0.1/32 dev penstock0\naddr add 10.77.0.1/32 dev lo\n\
                     route add 10.78.0.1/32 dev penstock0 table local metric 1 src 10.77.0.1\n\
                     route add local 10.78.0.1/32 dev lo table local metric 2\n";
        assert!(there.contains(first), "{there}");
        let metrics = "src 10.77.0.2 initcwnd 2 rto_min 200ms features ecn\n";
        assert!(there.contains(&format!("10.78.0.2/32 dev penstock0 table local metric 1 {metrics}")), "{there}");
        assert!(there.contains("route add fd50:454e:5354:78::2/128"), "{there}");
        let back = batch(Direction::Reverse, &habits, false);
        assert!(
            back.contains(
                "10.77.0.2/32 dev penstock0 table local metric 1 src 10.78.0.2 window 90000 quickack 1 congctl leadlag_7\n"
            ),
            "{back}"
        );
        assert!(!back.contains("gso_max_segs") && !back.contains("fd50"), "{back}");
    }
}
