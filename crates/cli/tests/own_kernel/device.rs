//! AQMs of one's own at devices: the marks that they make, and the refusals.

use std::fs;
use std::io;
use std::net::UdpSocket;
use std::process::Command;
use std::thread;
use std::time::Duration;

use nix::sys::socket::{setsockopt, sockopt};
use penstock_machine::namespace::Namespace;
use serde_json::Value;

use crate::Own;
use crate::bench::Ended;
use crate::brisk::LIKE;

/// Datagrams of 1000 B that can carry a mark, over loopback: so many, 2 ms apart.
fn send(datagrams: u32) -> io::Result<()> {
    let (socket, hears) = (UdpSocket::bind("127.0.0.1:0")?, UdpSocket::bind("127.0.0.1:9000")?);
    setsockopt(&socket, sockopt::Ipv4Tos, &2)?;
    for _ in 0..datagrams {
        socket.send_to(&[0; 1000], "127.0.0.1:9000")?;
        thread::sleep(Duration::from_millis(2));
    }
    drop(hears);
    Ok(())
}

/// Packets that IP has received with CE.
fn ce_packets_in() -> io::Result<f64> {
    let text = fs::read_to_string("/proc/thread-self/net/netstat")?;
    let mut lines = text.lines().filter(|line| line.starts_with("IpExt:")).map(|line| line.split_whitespace());
    let (names, values) = (lines.next().unwrap(), lines.next().unwrap());
    Ok(names.zip(values).find(|(name, _)| *name == "InCEPkts").map_or(0.0, |(_, value)| value.parse().unwrap()))
}

/// In a namespace with loopback.
fn with_loopback(work: impl FnOnce() -> io::Result<()> + Send) {
    let up = || Command::new("ip").args(["link", "set", "lo", "up"]).status();
    let in_there = || {
        assert!(up()?.success());
        work()
    };
    Namespace::new().unwrap().within(in_there).unwrap();
}

fn status(own: &Own) -> Value {
    serde_json::from_str::<Value>(&own.well(&["status", "--json"])).unwrap()[0].take()
}

fn number(of: &Value, name: &str) -> f64 {
    of["figures"][name].as_f64().unwrap_or_else(|| panic!("no {name} in {of}"))
}

const MARKING: &[&str] = &["attach", "brim", "--device", "lo", "--set", "link.rate=2 Mbit/s", "--set", "aqm.ecn=true"];

/// Attached, listed with its parameters and numbers, by another program too, and detached. Its marks are those that the receiver
/// counts, every fourth packet at most.
pub(super) fn an_aqm_marks_at_a_device_and_goes_again() {
    let own = Own::at_device("brim", &["MAPS"]);
    with_loopback(|| {
        let said = own.well(&[MARKING, &["--set", "aqm.limit=10 packets"]].concat());
        assert_eq!(said, "brim is attached: packets that leave lo\n");
        send(500)?;
        let of = status(&own);
        let [seen, marked, queue] =
            ["packets_arrived", "packets_marked", "virtual_queue_packets"].map(|name| number(&of, name));
        assert_eq!((&of["name"], &of["kind"]), (&"brim".into(), &"tc program".into()), "{of}");
        assert_eq!(
            (&of["parameters"]["aqm.limit"], &of["parameters"]["link.rate"]),
            (&"10 packets".into(), &"2 Mbit/s".into())
        );
        assert_eq!((seen, marked), (500.0, ce_packets_in()?), "{of}");
        assert!(marked > 50.0 && marked <= 125.0 && queue > 1.0 && number(&of, "service_packets_per_s") >= 0.0, "{of}");
        assert_eq!(marked + number(&of, "packets_passed"), seen, "{of}");
        // By a program that does not know the law.
        let other = Own::compiled("brisk", &[]);
        assert_eq!(status(&other), of);
        assert!(own.run(&["linux", "check"]).out.contains("early-marking; by this program: brim\n"));
        assert!(own.well(&["detach", "brim", "--device", "lo"]).starts_with("detached: tc-"));
        send(50)?;
        assert_eq!(ce_packets_in()?, marked);
        // Without ECN it drops.
        own.well(&["attach", "brim", "--device", "lo", "--set", "link.rate=2 Mbit/s"]);
        send(200)?;
        let of = status(&own);
        assert!(number(&of, "packets_dropped") > 10.0 && number(&of, "packets_marked") == 0.0, "{of}");
        Ok(())
    });
}

/// Parameters change in place: counts and state stay. A wrong one is refused.
pub(super) fn other_parameters_keep_what_an_aqm_has_learned() {
    let own = Own::at_device("brim", &[]);
    with_loopback(|| {
        own.well(MARKING);
        send(100)?;
        let before = status(&own);
        own.well(&[MARKING, &["--set", "aqm.limit=30 packets", "--set", "not_ect=pass"]].concat());
        let after = status(&own);
        assert_eq!((&after["figures"], &after["pin"]), (&before["figures"], &before["pin"]));
        assert_eq!(
            (&after["parameters"]["aqm.limit"], &after["parameters"]["not_ect"]),
            (&"30 packets".into(), &"pass".into())
        );
        for (set, said) in
            [("aqm.limti=3 packets", "has no parameter `limti`"), ("aqm.gain=2", "outside the range of `gain`")]
        {
            let refused = own.linux(&["attach", "brim", "--device", "lo", "--set", "link.rate=2 Mbit/s", "--set", set]);
            assert!(refused.status == 2 && refused.err.contains(said), "{}", refused.err);
        }
        let drops =
            own.linux(&["attach", "brim", "--device", "lo", "--set", "link.rate=2 Mbit/s", "--set", "not_ect=pass"]);
        assert!(drops.status == 2 && drops.err.contains("with these parameters `brim` marks nothing"), "{}", drops.err);
        let sockets = own.linux(&["attach", "brim"]);
        assert!(
            sockets.status == 2 && sockets.err.contains("acts at a device: name it with --device"),
            "{}",
            sockets.err
        );
        assert_eq!(status(&own), after);
        Ok(())
    });
}

/// The program gives the numbers of the law in Rust; one that does not is noticed, wherever it differs.
pub(super) fn a_replay_holds_an_aqm_against_its_law() {
    let ended = Own::at_device("brim", &[]).run(&["linux", "replay"]);
    assert_eq!(ended.status, 0, "{}", ended.err);
    let row = ended.out.lines().find(|line| line.starts_with("brim")).unwrap();
    assert!(row.contains("65536") && row.contains("equal"), "{row}");
    for defect in ["SLIP", "NO_HIT"] {
        let ended = Own::at_device("brim", &[defect]).run(&["linux", "replay"]);
        assert_eq!(ended.status, 3, "{}", ended.err);
        assert!(
            ended.err.contains("`brim`: step ") && ended.err.contains("probability of its output is "),
            "{}",
            ended.err
        );
    }
    let wide = Own::at_device("brim", &["WIDE"]).run(&["linux", "replay"]);
    assert!(wide.status == 2 && wide.err.contains("its AQM_PARAMS has 48 B"), "{}", wide.err);
}

/// One error, and nothing is left.
fn refused(own: &Own, like: &str, status: i32, said: &str) {
    let name = own.asked.split(' ').nth(1).unwrap();
    let attach = [
        "linux",
        "attach",
        name,
        "--device",
        "lo",
        "--set",
        "link.rate=2 Mbit/s",
        "--pins",
        own.pins.to_str().unwrap(),
    ];
    let ended = Ended::of(&own.command(&attach).env(LIKE, like).output().unwrap());
    assert_eq!(ended.status, status, "{said}: {}", ended.err);
    assert!(ended.err.contains(said), "no `{said}` in {}", ended.err);
    assert_eq!((ended.err.lines().count(), own.pins.exists()), (1, false), "one error: {}", ended.err);
}

/// The object may be none at all, or that of another law, or a program without the header.
pub(super) fn programs_of_aqms_that_do_not_fit_are_refused() {
    let whole = Own::at_device("brim", &[]);
    let object = fs::read(whole.bench.path("brisk.bpf.o")).unwrap();
    let with = |name: &str, object: &[u8]| Own::with(name, object).of_an_aqm();
    with_loopback(|| {
        for (own, status, said) in [
            (with("brim", b"not an object"), 2, "it is no ELF object for BPF"),
            (with("brim", b""), 3, "this build has no kernel program of `brim`"),
            (with("brim", &object[..4096]), 3, "the kernel refused the program `brim`"),
            (
                with("brim", &crate::with_other(&object, b".rodata.shape\0", 0)),
                2,
                "the headers of another version of Penstock",
            ),
            (with("brims", &object), 2, "its program is `brim`: write `#define AQM_PROGRAM brims`"),
            (with("token_bucket", &object), 2, "its program is `brim`"),
            (with("brim-beyond-all-names", &object), 2, "has 21 characters, and a program of the kernel 15 at most"),
            (
                Own::at_device("brim", &["BY_HAND"]),
                2,
                "it has no section .rodata.shape, as a program over tc/aqm.h has",
            ),
            (Own::at_device("brim", &["WIDE"]), 2, "its AQM_PARAMS has 48 B, and the parameters of the law take 40 B"),
            (
                Own::at_device("brim", &["SHORT"]),
                2,
                "its AQM_STATE has 1 words, and the state of the law in Rust has 2",
            ),
            (
                Own::at_device("brim", &["NO_ARRIVAL"]),
                2,
                "it does not define AQM_ARRIVAL, and arrivals or hits change the law",
            ),
            (Own::at_device("brim", &["NO_TICK"]), 2, "it does not define AQM_TICK, and the law has a period"),
        ] {
            refused(&own, "", status, said);
            // The simulator runs the law whatever its object is.
            assert_eq!(own.run(&["laws", own.asked.split(' ').nth(1).unwrap()]).status, 0);
        }
        Ok(())
    });
}

/// Each requirement and each measurement that a device lacks has its own message.
pub(super) fn what_no_device_has_is_refused() {
    let own = Own::at_device("brim", &[]);
    with_loopback(|| {
        for (like, said) in [
            ("queue", "it uses the length of the queue, which no program at a device measures"),
            ("waits", "it uses the time that packets wait"),
            ("idle", "it uses the time that the line stands idle"),
            ("arrived", "it uses the arrivals of a period before its end"),
            ("head", "it decides when a packet leaves its queue"),
            ("never", "it decides nothing"),
            ("counting", "many travel as one: require `bytes`"),
            ("slow", "its period is not within 1 us and one hour"),
            ("second", "it requires a second coin for packets due for a mark, which no program at a device provides"),
            ("moment", "it requires the moment at which a transmission begins"),
            ("queues", "it requires queues of its own"),
            ("colours", "it requires the colour of each packet"),
            ("classes", "it requires an instance for each class"),
            ("full", "it requires an event for a full buffer"),
            ("departure", "it decides on departure and marks nothing"),
            ("departure marks", "it defines AQM_ARRIVAL, and the law decides on departure"),
            ("timeless", "it defines AQM_TICK, and the law has no period"),
            ("bare", "`brim` is an AQM without a kernel program; laws that have one: fast"),
        ] {
            refused(&own, like, 2, said);
        }
        Ok(())
    });
    let replay = Ended::of(&own.command(&["linux", "replay"]).env(LIKE, "queue").output().unwrap());
    assert!(replay.status == 2 && replay.err.contains("nothing of `brim` was compared"), "{}", replay.err);
}
