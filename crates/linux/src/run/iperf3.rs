//! iperf3 instead of the own senders of TCP: a client and a server for each flow, as a user would run them by hand.
//!
//! Its sockets are watched from outside: a client's is looked for among its descriptors, and a copy of that one
//! reports as an own socket would.

use std::fmt::Write;
use std::fs;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::process::{Command, Stdio};

use nix::sys::socket::{SockaddrIn, getsockname};
use penstock_law::quantity::Time;
use penstock_machine::program;
use penstock_path::packet::Direction;
use penstock_path::{Refused, address};
use penstock_scenario::model::Scenario;

use super::plan::{FlowPlan, Source};
use crate::account::Account;
use crate::syscall::{Bounded, MAY_CHOOSE_CONTROLLERS, copy_of_descriptor, looking_as};

/// Where servers listen, and where the connection that carries a client's data comes from.
const SERVER: u16 = 5201;
const CLIENT: u16 = 41_000;
/// The longest test that iperf3 knows [s].
const LONGEST_S: f64 = 86_400.0;

/// Features that iperf3 lacks, and whether it is there.
pub(super) fn refusals(scenario: &Scenario) -> Result<(), Refused> {
    for (name, group) in &scenario.groups {
        if group.cc.law.name == "cbr" {
            continue;
        }
        let other = [("size", group.size.is_some()), ("on_off", group.on_off.is_some())];
        if let Some((key, _)) = other.iter().find(|(_, there)| *there) {
            let what = format!("flows.{name}.{key}: iperf3 sends without end");
            return Err(Refused::new(what, "leave out --generator: the own senders do that"));
        }
    }
    if scenario.duration.seconds() >= LONGEST_S {
        return Err(Refused::new("duration: iperf3 sends for a day at most", "leave out --generator"));
    }
    let remedy = "install it: the package is `iperf3`";
    program::of_system("iperf3").map(drop).map_err(|e| Refused::new(format!("cannot run `iperf3` ({e})"), remedy))
}

/// The finding of a run by it.
pub(super) const FINDING: &str = "the flows of TCP are iperf3's: their data are those acknowledged, and each client has a \
                                  second connection for its arrangements";

fn of_tcp(flows: &[FlowPlan]) -> impl Iterator<Item = (u32, &FlowPlan, &str)> {
    (0..).zip(flows).filter_map(|(number, flow)| match &flow.source {
        Source::Tcp { controller, .. } => Some((number, flow, controller.name())),
        Source::Quic(_) | Source::Datagrams(_) | Source::Programs => None,
    })
}

/// Runs lines of a shell, in which `$0` is iperf3, as an account that may choose controllers, which most kernels allow root only, and
/// nothing else.
fn start(lines: &str, account: &Account) -> io::Result<Bounded> {
    let mut shell = Command::new(program::of_system("sh")?);
    shell.arg("-c").arg(lines).arg(program::of_system("iperf3")?);
    shell.env_clear().env("PATH", program::search_path()).current_dir("/");
    shell.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    Bounded::spawn(&mut shell, account.rights(), MAY_CHOOSE_CONTROLLERS)
}

fn account() -> io::Result<Account> {
    Account::nobody().map_err(io::Error::other)
}

/// A server for each flow, on this thread's network.
pub(super) fn servers(flows: &[FlowPlan]) -> io::Result<Bounded> {
    let mut lines = String::new();
    for (number, ..) in of_tcp(flows) {
        let at = address::v4(Direction::Forward, number);
        let _ = writeln!(lines, "\"$0\" -s -1 -i 0 -B {at} -p {SERVER} &");
    }
    start(&(lines + "wait"), &account()?)
}

/// A client for each flow, on this thread's network, and their sockets.
#[derive(Debug)]
pub(super) struct Clients {
    programs: Bounded,
    /// Whose they are.
    account: Account,
    /// Processes whose socket was found.
    seen: Vec<u32>,
    /// Flows whose socket was not.
    missing: usize,
}

impl Clients {
    /// Each begins when its flow does, and its connection by that controller, where `now` is the time of the run; it goes on
    /// until its socket is shut.
    pub(super) fn start(flows: &[FlowPlan], now: Time) -> io::Result<Self> {
        // iperf3 chooses a controller after it has connected, and one that spaces packets would leave its spacing behind.
        fs::write("/proc/sys/net/ipv4/tcp_congestion_control", "reno")?;
        let (mut lines, mut missing) = (String::new(), 0);
        for (number, flow, controller) in of_tcp(flows) {
            let [from, to] = [Direction::Reverse, Direction::Forward].map(|end| address::v4(end, number));
            let wait = flow.start.since(now).seconds();
            let _ = writeln!(
                lines,
                "(sleep {wait:.6}; exec \"$0\" -c {to} -B {from} -p {SERVER} --cport {CLIENT} -C {controller} -i 0 -t {LONGEST_S}) &"
            );
            missing += 1;
        }
        let account = account()?;
        Ok(Self { programs: start(&(lines + "wait"), &account)?, account, seen: Vec::new(), missing })
    }

    /// Flows that send since the last look, each with a copy of its socket.
    pub(super) fn begun(&mut self) -> io::Result<Vec<(u32, OwnedFd)>> {
        if self.missing == 0 {
            return Ok(Vec::new());
        }
        let begun = looking_as(self.account.rights(), || {
            let mut begun = Vec::new();
            let mut processes = vec![self.programs.id()];
            while let Some(process) = processes.pop() {
                processes.extend(children(process));
                if self.seen.contains(&process) {
                    continue;
                }
                if let Some(found) = sockets(process).find_map(|socket| Some((sends(&socket)?, socket))) {
                    self.seen.push(process);
                    begun.push(found);
                }
            }
            begun
        })?;
        self.missing -= begun.len().min(self.missing);
        Ok(begun)
    }
}

/// Of a process that has ended there is nothing to read, here and below.
fn children(process: u32) -> Vec<u32> {
    let list = fs::read_to_string(format!("/proc/{process}/task/{process}/children")).unwrap_or_default();
    list.split_whitespace().filter_map(|number| number.parse().ok()).collect()
}

/// Copies of the sockets of a process.
fn sockets(process: u32) -> impl Iterator<Item = OwnedFd> {
    let descriptors = fs::read_dir(format!("/proc/{process}/fd")).into_iter().flatten().flatten();
    descriptors.filter_map(move |entry| {
        let is_socket = fs::read_link(entry.path()).is_ok_and(|to| to.to_string_lossy().starts_with("socket:"));
        let number: RawFd = entry.file_name().to_str().filter(|_| is_socket)?.parse().ok()?;
        copy_of_descriptor(process, number).ok()
    })
}

/// The flow whose data go over this socket, if any do.
fn sends(socket: &OwnedFd) -> Option<u32> {
    let name = getsockname::<SockaddrIn>(socket.as_raw_fd()).ok()?;
    address::flow(Direction::Reverse, name.ip().into()).filter(|_| name.port() == CLIENT)
}
