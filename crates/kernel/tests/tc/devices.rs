//! Programs at devices: what they do to traffic, and what is left of them.

use std::env;
use std::io;
use std::net::UdpSocket;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::process::ExitStatusExt;
use std::process::Command;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use libbpf_rs::query::{LinkInfoIter, LinkTypeInfo, MapInfoIter, ProgInfoIter};
use nix::sys::socket::{setsockopt, sockopt};
use penstock_kernel::attach::pins::Pins;
use penstock_kernel::attach::{self, Direction, Error, Place, Request, Which, tc};
use penstock_law::Registry;
use penstock_law::quantity::Time;
use penstock_machine::clock::Clock;
use penstock_machine::namespace::Namespace;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::figures::{ce_packets_in, ended, figure, said};

/// Two ends and a wire between them, in network namespaces of their own that go with the test.
struct Wire {
    near: Namespace,
    far: Namespace,
}

const DEVICE: &str = "penstock-t0";

impl Wire {
    fn new() -> Self {
        let (near, far) = (Namespace::new().unwrap(), Namespace::new().unwrap());
        let there = format!("/proc/{}/fd/{}", std::process::id(), far.as_fd().as_raw_fd());
        let ecn = || std::fs::write("/proc/sys/net/ipv4/tcp_ecn", "1");
        near.within(|| {
            ecn()?;
            ip(&format!("link add {DEVICE} type veth peer name {DEVICE} netns {there}"))?;
            ip(&format!("addr add 10.99.0.1/24 dev {DEVICE}"))?;
            ip(&format!("link set {DEVICE} up"))
        })
        .unwrap();
        far.within(|| {
            ecn()?;
            ip(&format!("addr add 10.99.0.2/24 dev {DEVICE}"))?;
            ip(&format!("link set {DEVICE} up"))
        })
        .unwrap();
        near.within(reach_the_far_end).unwrap();
        Self { near, far }
    }
}

/// Waits until the far end answers that nothing listens there. The first search for its address is lost where the queue of a device
/// that has just come up is not in place yet, and the next one follows after a second.
fn reach_the_far_end() -> io::Result<()> {
    let socket = UdpSocket::bind("10.99.0.1:0")?;
    socket.connect("10.99.0.2:9")?;
    socket.set_read_timeout(Some(Duration::from_millis(100)))?;
    for _ in 0..100 {
        let answer = socket.send(&[0]).and_then(|_| socket.recv(&mut [0]));
        if answer.is_err_and(|e| e.kind() == io::ErrorKind::ConnectionRefused) {
            return Ok(());
        }
    }
    Err(io::Error::other("the far end does not answer"))
}

fn ip(arguments: &str) -> io::Result<()> {
    let ended = Command::new("ip").args(arguments.split(' ')).output()?;
    let said = String::from_utf8_lossy(&ended.stderr).into_owned();
    if ended.status.success() { Ok(()) } else { Err(io::Error::other(format!("ip {arguments}: {said}"))) }
}

/// The parts that the tests need beyond those of programs at devices.
pub(crate) fn missing() -> Option<String> {
    let there = Command::new("ip").arg("-V").output().is_ok();
    (!there).then(|| "`ip` is missing: install iproute2".to_owned())
}

/// A directory of pins for this process alone.
pub(crate) fn pins() -> Pins {
    Pins::at(crate::optional::pins("test"))
}

fn request<'a>(name: &'a str, direction: Direction, settings: &'a [String]) -> Request<'a> {
    static LAWS: LazyLock<Arc<Registry>> = LazyLock::new(|| Arc::new(Registry::standard()));
    Request { laws: &LAWS, name, place: Place::Device { name: DEVICE, direction: Some(direction) }, settings }
}

/// Super-packets of UDP over Ethernet, twice the configured rate of the device, out of it and into it: the marked packets
/// are those that the receiver's IP counts with CE, by segments.
fn datagrams_are_marked_on_their_way(direction: Direction) {
    const SEGMENTS: u32 = 8;
    let (wire, pins, settings) = (Wire::new(), pins(), said(&["link.rate=1 Mbit/s"]));
    let side = if direction == Direction::Egress { &wire.near } else { &wire.far };
    side.within(|| Ok(attach::attach(&pins, &request("price", direction, &settings)).unwrap())).unwrap();
    let send = || {
        let socket = UdpSocket::bind("10.99.0.1:0")?;
        setsockopt(&socket, sockopt::Ipv4Tos, &2)?;
        setsockopt(&socket, sockopt::UdpGsoSegment, &1000)?;
        let clock = Clock::start();
        // 68 kbit each 2 ms: more than enough for a price within a second.
        while clock.now() < Time(Time::PER_SECOND) {
            socket.send_to(&[0; 1000 * SEGMENTS as usize], "10.99.0.2:9")?;
            std::thread::sleep(Duration::from_millis(2));
        }
        Ok(())
    };
    wire.near.within(send).unwrap();
    let attached = side.within(|| Ok(attach::status(&pins).unwrap().pop().unwrap())).unwrap();
    side.within(|| Ok(attach::detach(&pins, Which::default()).unwrap())).unwrap();
    let ce = wire.far.within(ce_packets_in).unwrap();
    let [seen, bytes, pieces, marked] =
        ["packets_arrived", "bytes_arrived", "pieces_arrived", "packets_marked"].map(|name| figure(&attached, name));
    println!("{direction:?}: {seen} packets of {bytes} B in {pieces} pieces, {marked} marked, {ce} arrived with CE");
    assert!(marked > 100.0 && marked == ce, "{attached:?}");
    // What is not ours is alone in its piece, if there is any: neighbours are looked for. A datagram has 42 B of headers on Ethernet.
    let ours = (seen - pieces) / f64::from(SEGMENTS - 1);
    assert!(ours > 50.0 && bytes - ours * f64::from(SEGMENTS) * 1042.0 <= 110.0 * (pieces - ours), "{attached:?}");
    assert_eq!(ended(&attached), seen);
}

pub(crate) fn datagrams_are_marked_on_their_way_out() {
    datagrams_are_marked_on_their_way(Direction::Egress);
}

pub(crate) fn datagrams_are_marked_on_their_way_in() {
    datagrams_are_marked_on_their_way(Direction::Ingress);
}

/// Our objects in the kernel: links at devices, programs and maps.
fn leftovers() -> Vec<String> {
    let ours = |name: &str| ["books", "settings", "state", ".rodata.place"].iter().any(|map| name.ends_with(map));
    let laws = tc::names();
    let links = LinkInfoIter::default().filter(|link| matches!(link.info, LinkTypeInfo::Tcx(_)));
    let programs =
        ProgInfoIter::default().filter(|p| laws.iter().any(|law| p.name.to_string_lossy() == law.replace('-', "_")));
    let maps = MapInfoIter::default().filter(|map| ours(&map.name.to_string_lossy()));
    links
        .map(|link| format!("link {}", link.id))
        .chain(programs.map(|program| format!("program {}", program.id)))
        .chain(maps.map(|map| format!("map {}", map.id)))
        .collect()
}

/// The objects that are new since `before`; the kernel lets go of programs a little after they were detached.
fn new_leftovers(before: &[String]) -> Vec<String> {
    let mut new = Vec::new();
    for _ in 0..100 {
        new = leftovers();
        new.retain(|what| !before.contains(what));
        if new.is_empty() {
            break;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    new
}

/// Twenty times attached, given other parameters, replaced by another, and detached: nothing is left, nothing is lost on the
/// way.
pub(crate) fn what_is_detached_leaves_nothing() {
    let (wire, pins, before) = (Wire::new(), pins(), leftovers());
    for round in 0..20 {
        let work = || {
            let attach = |law, settings: &[&str]| {
                attach::attach(&pins, &request(law, Direction::Egress, &said(settings))).unwrap()
            };
            let first = attach("price", &["link.rate=1 Gbit/s"]);
            assert!(first.parameters.contains(&("aqm.target".to_owned(), "0.95".to_owned())), "{first:?}");
            let again = attach("price", &["link.rate=1 Gbit/s", "aqm.target=0.5"]);
            assert!(again.parameters.contains(&("aqm.target".to_owned(), "0.5".to_owned())), "{again:?}");
            let other = attach("avq", &["link.rate=1 Gbit/s"]);
            assert_eq!((other.name.as_str(), &other.place, &other.pin), ("avq", &first.place, &first.pin));
            assert_eq!(attach::status(&pins).unwrap().len(), 1);
            let wrong = attach::detach(&pins, Which { name: Some("price"), device: Some(DEVICE) }).unwrap_err();
            assert!(wrong.to_string().contains("`price` is not attached"), "{wrong}");
            assert_eq!(attach::detach(&pins, Which { name: Some("avq"), device: Some(DEVICE) }).unwrap().gone.len(), 1);
            Ok(())
        };
        wire.near.within(work).unwrap();
        assert_eq!(new_leftovers(&before), Vec::<String>::new(), "round {round}");
    }
    assert!(pins.names().unwrap().is_empty() && !pins.path("x").parent().unwrap().exists());
}

/// A device that is not there, or a parameter out of range: refused, and nothing has changed.
pub(crate) fn what_is_refused_changes_nothing() {
    let (wire, pins, before) = (Wire::new(), pins(), leftovers());
    let work = || {
        let refuse = |device: &str, law: &str, settings: &[&str]| {
            let settings = said(settings);
            let place = Place::Device { name: device, direction: None };
            attach::attach(
                &pins,
                &Request { laws: &Arc::new(Registry::standard()), name: law, place, settings: &settings },
            )
            .unwrap_err()
        };
        for (device, law, settings, what) in [
            ("eth9", "price", &["link.rate=1 Gbit/s"][..], "there is no device `eth9` here; there are"),
            (DEVICE, "price", &["link.rate=1 Gbit/s", "aqm.target=2"], "outside the range"),
            (DEVICE, "prize", &["link.rate=1 Gbit/s"], "`prize`"),
        ] {
            let error = refuse(device, law, settings);
            assert!(matches!(error, Error::Input(_)) && error.to_string().contains(what), "{error}");
        }
        Ok(())
    };
    wire.near.within(work).unwrap();
    assert!(pins.names().unwrap().is_empty() && new_leftovers(&before).is_empty());
}

/// A device that goes takes the program with it; the report of the pin shows it, and it can be detached.
pub(crate) fn a_device_that_is_gone_is_told_of() {
    let (wire, pins) = (Wire::new(), pins());
    let work = || {
        let settings = said(&["link.rate=1 Gbit/s"]);
        attach::attach(&pins, &request("price", Direction::Egress, &settings)).unwrap();
        ip(&format!("link del {DEVICE}"))?;
        let attached = attach::status(&pins).unwrap().pop().unwrap();
        assert!(attached.notes.iter().any(|note| note.contains("the device is gone")), "{attached:?}");
        assert_eq!(attach::detach(&pins, Which::default()).unwrap().gone.len(), 1);
        Ok(())
    };
    wire.near.within(work).unwrap();
    assert!(pins.names().unwrap().is_empty());
}

/// Attaches and replaces again and again, until it is killed. Only if the test below has set it.
pub(crate) const KILLED: &str = "PENSTOCK_TEST_TO_BE_KILLED";

pub(crate) fn attach_until_killed(folder: &str) -> ! {
    let pins = Pins::at(folder);
    loop {
        for law in ["price", "avq"] {
            attach::attach(&pins, &request(law, Direction::Egress, &said(&["link.rate=1 Gbit/s"]))).unwrap();
        }
        attach::detach(&pins, Which::default()).unwrap();
    }
}

/// Kills at random moments leave the device with a program that works and can be detached, or with none. Both must occur.
pub(crate) fn a_kill_leaves_the_old_state_or_the_new_one() {
    let (wire, pins, before) = (Wire::new(), pins(), leftovers());
    let mut draw = Xoshiro256PlusPlus::seed_from_u64(std::process::id().into());
    let folder = pins.path("x").parent().unwrap().display().to_string();
    let (mut kills, mut found) = (0, 0);
    while kills < 20 || (kills < 400 && (found < 3 || kills - found < 3)) {
        let start = || Command::new(env::current_exe()?).env(KILLED, &folder).spawn();
        let mut child = wire.near.within(start).unwrap();
        std::thread::sleep(Duration::from_micros(20_000 + draw.next_u64() % 200_000));
        child.kill().unwrap();
        assert_eq!(child.wait().unwrap().signal(), Some(9), "it goes on until it is killed");
        kills += 1;
        let work = || {
            let attached = attach::status(&pins).unwrap();
            assert!(attached.len() <= 1, "{attached:?}");
            for one in &attached {
                assert!(one.parameters.contains(&("link.rate".to_owned(), "1 Gbit/s".to_owned())), "{one:?}");
                assert!(one.notes.is_empty(), "{one:?}");
            }
            found += attached.len();
            attach::detach(&pins, Which::default()).unwrap();
            Ok(())
        };
        wire.near.within(work).unwrap();
        assert_eq!(new_leftovers(&before), Vec::<String>::new());
    }
    println!("kills: {found} of {kills} left a program behind, all of them whole");
    assert!(found >= 3 && kills - found >= 3, "{found} of {kills}: kills on one side only say nothing");
}
