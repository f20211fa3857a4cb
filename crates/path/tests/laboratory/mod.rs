//! Paths for tests, and what is sent over them.
#![allow(unreachable_pub, missing_docs, dead_code)]

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddrV4, TcpListener, TcpStream};
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use nix::errno::Errno;
use nix::sys::socket::{
    AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, SockaddrIn, connect, getsockopt, recv, sendto,
    setsockopt, socket, sockopt,
};
use penstock_law::quantity::Time;
use penstock_machine::clock::Clock;
use penstock_path::ends::{FlowHabits, Habits};
use penstock_path::router::Outcome;
use penstock_path::{Laid, Running, Schedule};
use penstock_scenario::model::Scenario;
use penstock_scenario::read::Document;
use sha2::{Digest, Sha256};

/// A path of these links for so many flows, that carries for a minute at most.
pub struct Laboratory {
    pub path: Running,
    pub clock: Clock,
}

pub fn scenario(text: &str) -> Scenario {
    let cells = Document::parse(text, "test.toml").and_then(|document| document.cells()).unwrap();
    cells[0].scenario.clone()
}

/// One link of that rate and more, a duplex one, and a flow over it.
pub fn line(rate: &str, rtt: &str, more: &str) -> String {
    format!(
        r#"format = 1
        duration = "60 s"
        links.l = {{ from = "a", to = "b", rate = "{rate}", delay = "0 s", buffer = "unlimited", duplex = true{more} }}
        flows.f = {{ count = 2, from = "a", to = "b", rtt = "{rtt}", cc = {{ law = "newreno" }} }}"#
    )
}

/// A line that loses one packet in a thousand and marks one in 8 to 20. A share p of marks holds a window of sqrt(3/(2 p)) packets
/// (Mathis, Semke, Mahdavi and Ott, CCR 27(3), 1997). Spaced packets are hardly marked before a window fills the 5 that fit
/// on the line: 5.5 of them at 1/20. Of a window W that comes at once the k-th finds k - 1 before it, (W - 1)/20 are marked: 3.5 packets,
/// 1/8.
pub fn hard() -> String {
    line(
        "60 Mbit/s",
        "1 ms",
        r#", loss = 0.001, aqm = { law = "red", ecn = true, min_threshold = "0 packets", max_threshold = "10 packets",
             max_p = 1, weight = 1, wait = false, bytes = false, spare_empty_queue = false }"#,
    )
}

impl Laboratory {
    pub fn new(text: &str, ecn: bool) -> Self {
        Self::of(text, &FlowHabits { ecn, ..FlowHabits::default() })
    }

    /// The same with all that holds of a flow.
    pub fn of(text: &str, habits: &FlowHabits) -> Self {
        let scenario = scenario(text);
        let flows = vec![habits.clone(); scenario.groups["f"].count as usize];
        let habits = Habits { mtu: scenario.packet.wire.0 as u16, timestamps: true, flows, ..Habits::default() };
        let clock = Clock::start();
        let second = Time(Time::PER_SECOND);
        let schedule = Schedule { boundaries: Vec::new(), sample: second, end: scenario.duration };
        let path = Laid::new(&scenario, &habits).unwrap().start(clock, schedule).unwrap();
        Self { path, clock }
    }

    pub fn end(self) -> Outcome {
        self.path.end().unwrap()
    }

    /// Round trips of pings to the address of flow 0, one after the other. A pinger that sleeps until the answer is there
    /// measures its own waking too.
    pub fn ping(&self, count: usize, gap: Duration, sleeps: bool) -> Vec<Time> {
        let flags = if sleeps { MsgFlags::empty() } else { MsgFlags::MSG_DONTWAIT };
        let socket = self.path.sender.within(icmp).unwrap();
        let to = SockaddrIn::from(SocketAddrV4::new(Ipv4Addr::new(10, 78, 0, 1), 0));
        let mut rtts = Vec::new();
        for number in 0..count {
            std::thread::sleep(gap);
            let sent = self.clock.now();
            let request = echo(number as u16);
            sendto(socket.as_raw_fd(), &request, &to, MsgFlags::empty()).unwrap();
            let mut reply = [0; 2000];
            loop {
                let bytes = match recv(socket.as_raw_fd(), &mut reply, flags) {
                    Err(Errno::EAGAIN) if !sleeps => continue,
                    other => other.unwrap(),
                };
                // An echo reply with this number behind an IPv4 header.
                if bytes >= 28 && reply[20] == 0 && reply[26..28] == request[6..8] {
                    break;
                }
            }
            rtts.push(self.clock.now() - sent);
        }
        rtts.sort_unstable();
        rtts
    }

    /// Sends `bytes` over TCP to flow 0's address with the given controller; the digests at both ends, and the time.
    pub fn transfer(&self, bytes: usize, controller: &str) -> (Vec<u8>, Vec<u8>, Time) {
        self.send(controller, |sent| bytes - sent)
    }

    /// The same for so long, however much that is; and how much it was [B].
    pub fn transfer_for(&self, seconds: u64, controller: &str) -> (Vec<u8>, Vec<u8>, usize) {
        let (clock, all) = (self.clock, AtomicUsize::new(0));
        let end = clock.now() + Time(seconds * Time::PER_SECOND);
        let (sent, got, _) = self.send(controller, |sent| {
            all.store(sent, Ordering::Relaxed);
            if clock.now() < end { usize::MAX } else { 0 }
        });
        (sent, got, all.into_inner())
    }

    /// Sends to flow 0's address for as long as `left` has something left, by what was sent; digests and time.
    fn send(&self, controller: &str, left: impl Fn(usize) -> usize + Send) -> (Vec<u8>, Vec<u8>, Time) {
        let Running { sender, receiver, .. } = &self.path;
        let listener = receiver.within(|| TcpListener::bind("10.78.0.1:5000")).unwrap();
        let start = self.clock.now();
        let receive = || {
            let (mut stream, _) = listener.accept()?;
            let (mut digest, mut buffer) = (Sha256::new(), vec![0; 1 << 18]);
            loop {
                match stream.read(&mut buffer)? {
                    0 => return Ok(digest.finalize().to_vec()),
                    n => digest.update(&buffer[..n]),
                }
            }
        };
        std::thread::scope(|scope| {
            let got = scope.spawn(|| receiver.within(receive).unwrap());
            let sent = sender.within(|| send(controller, left)).unwrap();
            (sent, got.join().unwrap(), self.clock.now() - start)
        })
    }
}

/// Puts a thread to an end.
type Enter<'a> = &'a (dyn Fn() -> io::Result<()> + Sync);

/// Bits a second of user's data from one end to the other, with nothing computed on them.
pub fn bulk([sender, receiver]: [Enter<'_>; 2], to: SocketAddrV4, controller: &str, seconds: u64) -> f64 {
    let (listens, listening) = std::sync::mpsc::channel();
    let count = move || {
        receiver().unwrap();
        let listener = TcpListener::bind(to).unwrap();
        listens.send(()).unwrap();
        let (mut stream, _) = listener.accept().unwrap();
        let (mut buffer, mut bytes, clock) = (vec![0; 1 << 20], 0, Clock::start());
        while let Ok(n @ 1..) = stream.read(&mut buffer) {
            bytes += n;
        }
        bytes as f64 * 8.0 / clock.now().seconds()
    };
    let send = || {
        sender().unwrap();
        let mut stream = connected(to, controller).unwrap();
        let (buffer, clock) = (vec![0; 1 << 20], Clock::start());
        while clock.now() < Time(seconds * Time::PER_SECOND) {
            stream.write_all(&buffer).unwrap();
        }
    };
    std::thread::scope(|scope| {
        let counting = scope.spawn(count);
        listening.recv().unwrap();
        scope.spawn(send);
        counting.join().unwrap()
    })
}

fn connected(to: SocketAddrV4, controller: &str) -> io::Result<TcpStream> {
    let socket = socket(AddressFamily::Inet, SockType::Stream, SockFlag::empty(), None)?;
    setsockopt(&socket, sockopt::TcpCongestion, &controller.into())?;
    connect(socket.as_raw_fd(), &SockaddrIn::from(to))?;
    Ok(TcpStream::from(socket))
}

fn send(controller: &str, left: impl Fn(usize) -> usize) -> io::Result<Vec<u8>> {
    let mut stream = connected(SocketAddrV4::new(Ipv4Addr::new(10, 78, 0, 1), 5000), controller)?;
    let (mut digest, mut draw, mut sent) = (Sha256::new(), 88_172_645_463_325_252u64, 0);
    let mut buffer = vec![0; 1 << 18];
    loop {
        let now = left(sent).min(buffer.len());
        if now == 0 {
            break;
        }
        for chunk in buffer.chunks_exact_mut(8) {
            draw ^= draw << 13;
            draw ^= draw >> 7;
            draw ^= draw << 17;
            chunk.copy_from_slice(&draw.to_le_bytes());
        }
        digest.update(&buffer[..now]);
        stream.write_all(&buffer[..now])?;
        sent += now;
    }
    let in_effect = getsockopt(&stream, sockopt::TcpCongestion)?;
    assert_eq!(in_effect.to_string_lossy().trim_end_matches('\0'), controller, "the controller in effect");
    Ok(digest.finalize().to_vec())
}

/// Sends noise in IPv4 packets to the addresses of flows 0 and 1 and to one that is none's; how many the kernel took.
pub fn noise(count: u32) -> io::Result<u32> {
    let socket = socket(AddressFamily::Inet, SockType::Raw, SockFlag::empty(), SockProtocol::Raw)?;
    let (mut draw, mut taken) = (1u64, 0);
    let mut next = || {
        draw ^= draw << 13;
        draw ^= draw >> 7;
        draw ^= draw << 17;
        draw
    };
    for number in 0..count {
        let size = 20 + next() as usize % if number % 16 == 0 { 1481 } else { 80 };
        let mut bytes: Vec<u8> = (0..size.div_ceil(8)).flat_map(|_| next().to_le_bytes()).take(size).collect();
        // What the kernel would not send otherwise: no options, and addresses.
        let last = (next() % 3) as u8 + 1;
        bytes[0] = 0x45;
        bytes[9] = [6, 17, 1, bytes[9]][number as usize % 4];
        bytes[12..20].copy_from_slice(&[10, 77, 0, 1, 10, 78, 0, last]);
        let to = SockaddrIn::from(SocketAddrV4::new(Ipv4Addr::new(10, 78, 0, last), 0));
        taken += u32::from(sendto(socket.as_raw_fd(), &bytes, &to, MsgFlags::empty()).is_ok());
    }
    Ok(taken)
}

fn icmp() -> io::Result<OwnedFd> {
    let socket = socket(AddressFamily::Inet, SockType::Raw, SockFlag::empty(), SockProtocol::Icmp)?;
    let limit = nix::sys::time::TimeVal::new(5, 0);
    setsockopt(&socket, sockopt::ReceiveTimeout, &limit)?;
    Ok(socket)
}

/// An echo request with this number.
fn echo(number: u16) -> Vec<u8> {
    let mut bytes = vec![8, 0, 0, 0, 0x12, 0x34];
    bytes.extend(number.to_be_bytes());
    bytes.extend([7; 56]);
    let sum: u32 = bytes.chunks(2).map(|w| u32::from(u16::from_be_bytes([w[0], w[1]]))).sum();
    let sum = !((sum & 0xffff) + (sum >> 16)) as u16;
    bytes[2..4].copy_from_slice(&sum.to_be_bytes());
    bytes
}

pub fn quantile(sorted: &[Time], share: f64) -> Time {
    sorted[((sorted.len() - 1) as f64 * share) as usize]
}
