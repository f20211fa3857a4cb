//! `penstock linux path`: who its programs are, what they see of other networks, what it leaves behind, and what it does not.
//! Needs root, or a user namespace, and TUN.

mod bench;
mod optional;

use std::fs;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use bench::{Bench, Ended};
use penstock_machine::namespace::Namespace;
use serde_json::Value;

const LINE: &str = r#"
format = 1
title = "Reno"
duration = "2 s"
[links.bottleneck]
from = "left"
to = "right"
rate = "2 Mbit/s"
delay = "5 ms"
buffer = "1000 packets"
duplex = true
[flows.reno]
from = "left"
to = "right"
rtt = "20 ms"
start = "0 s"
cc = { law = "newreno" }
sender = { initial_window = 10 }
"#;

/// A link of the options' own.
const LINK: [&str; 6] = ["linux", "path", "--rate", "20 Mbit/s", "--delay", "5 ms"];

fn is_root() -> bool {
    let map = fs::read_to_string("/proc/self/uid_map").unwrap();
    let numbers: Vec<&str> = map.split_whitespace().collect();
    // Elsewhere there is no account but the own one.
    numbers == ["0", "0", "4294967295"]
}

/// The outcome of a path with these options and this command, where sudo has or has not called it.
fn path(bench: &Bench, options: &[&str], command: &[&str], sudo: Option<(&str, &str)>) -> Ended {
    over(bench, &[&LINK[..], options].concat(), command, sudo)
}

/// The same with options for the links too.
fn over(bench: &Bench, options: &[&str], command: &[&str], sudo: Option<(&str, &str)>) -> Ended {
    let arguments = [options, &["--"], command].concat();
    let mut called = bench.command(&arguments);
    called.env_remove("SUDO_UID").env_remove("SUDO_GID");
    if let Some((user, group)) = sudo {
        called.env("SUDO_UID", user).env("SUDO_GID", group);
    }
    Ended::of(&called.output().unwrap())
}

/// The figures of a process or thread, by their names.
fn status(text: &str, name: &str) -> String {
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    line.unwrap_or_else(|| panic!("no {name} in {text}")).trim().to_owned()
}

/// The command and the server have the caller's account or nobody's, no capability and no way to one, and know their account.
fn programs_have_no_rights() {
    let bench = Bench::new();
    let shown = ["sh", "-c", "cat /proc/self/status; echo; echo $HOME $USER $LOGNAME"];
    let none = "0000000000000000";
    let see = |options: &[&str], sudo, user: &str, group: &str| {
        let ended = path(&bench, options, &shown, sudo);
        assert_eq!(ended.status, 0, "{}", ended.err);
        let text = &ended.out;
        assert_eq!(status(text, "Uid").split_whitespace().collect::<Vec<_>>(), [user; 4], "{text}");
        assert_eq!(status(text, "Gid").split_whitespace().collect::<Vec<_>>(), [group; 4], "{text}");
        for set in ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"] {
            assert_eq!(status(text, set), none, "{set}: {text}");
        }
        assert_eq!(status(text, "NoNewPrivs"), "1", "{text}");
        assert!(!status(text, "Groups").split_whitespace().any(|group| group == "0"), "{text}");
        text.lines().last().unwrap_or_default().to_owned()
    };
    if !is_root() {
        println!("not as another account: this user namespace has none");
        return;
    }
    assert!(see(&[], None, "65534", "65534").ends_with("nobody nobody"));
    assert_eq!(see(&[], Some(("54321", "54322")), "54321", "54322"), "/ 54321 54321");
    assert_eq!(see(&["--user", "12345"], Some(("54321", "54322")), "12345", "65534"), "/ 12345 12345");
    // `sudo` called by root says so, and root is not asked for.
    see(&[], Some(("0", "0")), "65534", "65534");

    let ended = path(&bench, &["--user", "root"], &shown, None);
    assert_eq!(status(&ended.out, "Uid").split_whitespace().next(), Some("0"), "{}", ended.out);
    assert_ne!(status(&ended.out, "CapEff"), none, "asked for by name, root is root");
    let ended = path(&bench, &["--user", "no such account"], &shown, None);
    assert!(ended.status == 2 && ended.err.contains("--user: there is no account"), "{}", ended.err);

    let server = format!("cat /proc/self/status > {}", bench.path("server/status").display());
    bench.write("server/there", "");
    fs::set_permissions(bench.path(""), fs::Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(bench.path("server"), fs::Permissions::from_mode(0o777)).unwrap();
    let ended = path(&bench, &["--server", &server], &["sleep", "0.5"], None);
    assert_eq!(ended.status, 0, "{}", ended.err);
    let text = fs::read_to_string(bench.path("server/status")).unwrap();
    assert_eq!((status(&text, "CapBnd").as_str(), status(&text, "NoNewPrivs").as_str()), (none, "1"));
}

/// While the command runs, no thread of the tool can do more than write its record.
fn the_tool_gives_up_its_rights() {
    let bench = Bench::new();
    let arguments: Vec<&str> = LINK.iter().chain(&["--pcap", "--", "sleep", "2"]).copied().collect();
    let mut child = bench.command(&arguments).stderr(Stdio::null()).spawn().unwrap();
    thread::sleep(Duration::from_millis(1500));
    let mut threads = Vec::new();
    for entry in fs::read_dir(format!("/proc/{}/task", child.id())).unwrap().flatten() {
        let text = fs::read_to_string(entry.path().join("status")).unwrap();
        threads.push((status(&text, "Name"), u64::from_str_radix(&status(&text, "CapPrm"), 16).unwrap()));
    }
    child.wait().unwrap();
    assert!(threads.iter().any(|(name, _)| name == "penstock-path") && threads.len() >= 4, "{threads:?}");
    for (name, capabilities) in &threads {
        let may = if name == "penstock" { 2 } else { 0 };
        assert!(*capabilities <= 2 && (name == "penstock" || *capabilities == may), "{threads:?}");
    }
}

/// Programs that run with the tool's rights are the system's, whatever the caller's PATH has first.
fn a_false_tool_is_not_run() {
    let bench = Bench::new();
    let mark = bench.path("taken");
    for name in ["ip", "iperf3"] {
        let file = format!("false/{name}");
        bench.write(&file, &format!("#!/bin/sh\ntouch {}\nexec /usr/sbin/{name} \"$@\"\n", mark.display()));
        fs::set_permissions(bench.path(&file), fs::Permissions::from_mode(0o755)).unwrap();
    }
    bench.write("line.toml", LINE);
    let search = format!("{}:/usr/bin:/bin:/usr/sbin:/sbin", bench.path("false").display());
    let generator: &[&str] = &["run", "line.toml", "--world", "linux", "--generator", "iperf3"];
    let tool: Vec<&str> = LINK.iter().chain(&["--", "true"]).copied().collect();
    for arguments in [&["linux", "check"], tool.as_slice(), generator] {
        let ended = Ended::of(&bench.command(arguments).env("PATH", &search).output().unwrap());
        assert!([0, 3, 4].contains(&ended.status), "{arguments:?}: {}", ended.err);
        assert!(!mark.exists(), "{arguments:?}");
    }
}

/// An invalid command is reported before anything is made, and so is any other error of the call.
fn a_wrong_call_leaves_nothing() {
    let bench = Bench::new();
    bench.write("line.toml", LINE);
    let long = LINK.to_vec();
    for (arguments, named) in [
        (vec!["linux", "path", "line.toml", "--", "no-such-program"], "cannot run `no-such-program`"),
        (vec!["linux", "path", "line.toml", "--", "/proc"], "cannot run `/proc`: it is a directory"),
        ([long.clone(), vec!["--", "./line.toml"]].concat(), "it is not executable"),
        ([long.clone(), vec!["--aqm", "coddle", "--", "true"]].concat(), "--aqm: no AQM is named `coddle`"),
        (vec!["linux", "path", "--rate", "10 Mb", "--", "true"], "--rate: "),
        (vec!["linux", "path", "line.toml", "--rate", "1 Mbit/s", "--", "true"], "cannot be used with"),
        (vec!["linux", "path", "--delay", "1 ms", "--", "true"], "--rate"),
        (vec!["linux", "path", "--", "true"], "required"),
    ] {
        let ended = bench.run(&arguments);
        assert!(ended.status == 2 && ended.err.contains(named), "{arguments:?}: {} {}", ended.status, ended.err);
        assert!(bench.names("out").is_empty(), "{arguments:?}");
    }
}

/// This file's own programs at the ends of a path.
fn own(arguments: &str) -> String {
    format!("'{}' {arguments}", std::env::current_exe().unwrap().display())
}

/// The example of `penstock-quinn`, as cargo builds it: where it is. Of the whole workspace it has the dependencies that tests
/// have, so that it is there already. What cargo tells a test would have build scripts run again.
fn transfer() -> String {
    let build = ["build", "--locked", "--workspace", "--example", "transfer", "--message-format", "json"];
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(build).current_dir(env!("CARGO_MANIFEST_DIR"));
    for (name, _) in std::env::vars_os() {
        let of_this_test = |start: &&str| name.to_string_lossy().starts_with(start);
        if ["OUT_DIR", "CARGO_MANIFEST", "CARGO_PKG_", "CARGO_BIN_EXE_"].iter().any(of_this_test) {
            cargo.env_remove(name);
        }
    }
    let built = cargo.output().unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let text = String::from_utf8(built.stdout).unwrap();
    let messages = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut executables = messages.filter_map(|message| Some(message["executable"].as_str()?.to_owned()));
    executables.next_back().expect("an executable")
}

/// A file comes over QUIC as it was sent. FAST is the sender's controller: it keeps alpha packets queued, 20, and loses none, over
/// a buffer of 200 packets that a controller of losses would fill.
fn a_law_carries_a_file_over_quic() {
    let bench = Bench::new();
    let example = transfer();
    let data: Vec<u8> = (0..8_000_000u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    fs::write(bench.path("original"), &data).unwrap();
    let [certificate, copy, original] = ["certificate.der", "copy", "original"].map(|name| bench.path(name));
    let server = format!("'{example}' receive 0.0.0.0:4433 '{}' '{}'", certificate.display(), copy.display());
    let client = format!(
        "'{example}' send $PENSTOCK_RECEIVER:4433 '{}' '{}' fast alpha=20",
        certificate.display(),
        original.display()
    );
    let link = ["linux", "path", "--rate", "20 Mbit/s", "--delay", "20 ms", "--queue", "200 packets"];
    let options = [&link[..], &["--user", "root", "--server", &server]].concat();
    let ended = over(&bench, &options, &["sh", "-c", &client], None);
    assert_eq!(ended.status, 0, "{}", ended.err);
    assert!(ended.out.contains("fast: 8000000 B in") && ended.out.contains(" 0 packets lost"), "{}", ended.out);
    assert!(fs::read(copy).unwrap() == data, "the copy differs");
    let summary: Value = serde_json::from_slice(&fs::read(bench.path("out/path/summary.json")).unwrap()).unwrap();
    let uplink = &summary["links"]["uplink"];
    let queue = ["queue_mean_packets", "queue_max_packets"].map(|name| uplink[name].as_f64().unwrap());
    println!("{} {queue:?}", ended.out.trim());
    assert!((8.0..24.0).contains(&queue[0]) && queue[1] < 60.0, "{uplink}");
}

/// The record says what the links did to the command's packets, the terminal shows it, and the status is the command's own.
fn a_path_leaves_a_record() {
    let bench = Bench::new();
    let client = own("send 10.78.0.1:5000 3000000");
    let options = ["--queue", "20 packets", "--server", &own("serve 10.78.0.1:5000"), "--user", "root", "--pcap"];
    let ended = path(&bench, &options, &["sh", "-c", &format!("sleep 0.5; {client} && exit 9")], None);
    assert_eq!(ended.status, 9, "{}", ended.err);
    assert_eq!(ended.out, "", "standard output is the command's");
    for shown in ["drops", "marks", "uplink", "downlink", "lateness", "record  out/path\n", "packets.pcapng"] {
        assert!(ended.err.contains(shown), "no {shown}: {}", ended.err);
    }
    let record = bench.path("out/path");
    for file in ["record.toml", "links.parquet", "groups.parquet", "flows.parquet", "report.html"] {
        assert!(record.join(file).is_file(), "{file}");
    }
    let summary: Value = serde_json::from_slice(&fs::read(record.join("summary.json")).unwrap()).unwrap();
    let number =
        |path: &str| summary.pointer(path).and_then(Value::as_f64).unwrap_or_else(|| panic!("no {path}: {summary}"));
    // 3 MB in segments of 1448 B, and what was lost again; over a buffer of 20 packets something is.
    assert!(number("/links/uplink/departures") >= 2072.0 && number("/links/uplink/drops") >= 1.0, "{summary}");
    assert!(number("/links/uplink/queue_max_packets") <= 20.0 && number("/links/uplink/queue_mean_packets") > 0.1);
    assert!(number("/links/downlink/departures") > 500.0, "acknowledgements: {summary}");
    assert!(number("/path/lateness_p99_s") > 0.0 && number("/path/packets") > 2500.0, "{summary}");
    // 24.9 Mbit and headers at 20 Mbit/s.
    assert!(number("/measured_s") > 1.2 && number("/groups/traffic/goodput_bit_per_s") < 20e6, "{summary}");
    assert_eq!(summary["path"]["findings"][0], "the command ran as root, and ended with status 9");
    let capture = fs::read(record.join("packets.pcapng")).unwrap();
    // A section header in this machine's order of bytes; a segment of 1448 B has 52 B of headers.
    assert_eq!(capture[..4], 0x0a0d_0d0a_u32.to_ne_bytes());
    assert!(capture.len() > 500 * 100 && capture.windows(4).any(|bytes| bytes == [10, 78, 0, 1]), "{}", capture.len());

    // The same again has a name of its own, and can be built again and run as a scenario.
    assert_eq!(path(&bench, &[], &["true"], None).status, 0);
    assert_eq!(bench.names("out"), ["path", "path-2"]);
    bench.well(&["report", "out/path-2"]);
    bench.well(&["check", "out/path/record.toml"]);
}

/// `ip` in a namespace.
fn ip(namespace: &Namespace, lines: &str) {
    let run = || {
        for line in lines.lines().filter(|line| !line.trim().is_empty()) {
            let done = Command::new("ip").args(line.split_whitespace()).output()?;
            assert!(done.status.success(), "{line}: {}", String::from_utf8_lossy(&done.stderr));
        }
        Ok(())
    };
    namespace.within(run).unwrap();
}

fn sysctl(namespace: &Namespace, name: &str, value: &str) {
    namespace.within(|| fs::write(format!("/proc/sys/net/ipv4/{name}"), value)).unwrap();
}

/// Runs in a machine's namespace.
fn within(machine: &Namespace, mut command: Command) -> Child {
    machine.within(|| command.spawn()).unwrap()
}

/// A machine with a neighbour that knows no way to the path: what comes there comes from the machine's own address. After the path,
/// however it ended, nothing of it is left on the machine.
fn a_way_out_is_there_on_request_and_gone_after() {
    let bench = Bench::new();
    let (machine, neighbour) = (Namespace::new().unwrap(), Namespace::new().unwrap());
    let place = {
        use std::os::fd::{AsFd, AsRawFd};
        format!("/proc/{}/fd/{}", std::process::id(), neighbour.as_fd().as_raw_fd())
    };
    ip(&machine, &format!("link set lo up\nlink add near type veth peer name far netns {place}"));
    ip(&machine, "addr add 198.51.100.1/30 dev near\nlink set near up");
    ip(&neighbour, "link set lo up\naddr add 198.51.100.2/30 dev far\nlink set far up");
    for name in ["conf/all/rp_filter", "conf/far/rp_filter"] {
        sysctl(&neighbour, name, "0");
    }
    let arguments = |command: &str| {
        let mut arguments: Vec<String> =
            LINK.iter().chain(&["--nat", "--user", "root", "--", "sh", "-c"]).map(|a| (*a).to_owned()).collect();
        arguments.push(command.to_owned());
        arguments
    };
    let call = |command: &str| {
        let arguments = arguments(command);
        let mut call = bench.command(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
        call.stdout(Stdio::piped()).stderr(Stdio::piped());
        call
    };
    let devices = || machine.within(|| fs::read_to_string("/proc/thread-self/net/dev")).unwrap();

    // Where nothing is forwarded, nothing is made.
    sysctl(&machine, "ip_forward", "0");
    let ended = Ended::of(&within(&machine, call("true")).wait_with_output().unwrap());
    assert!(ended.status == 3 && ended.err.contains("net.ipv4.ip_forward"), "{} {}", ended.status, ended.err);
    sysctl(&machine, "ip_forward", "1");

    let listener = neighbour.within(|| TcpListener::bind("198.51.100.2:8000")).unwrap();
    let serve = thread::spawn(move || -> io::Result<SocketAddr> {
        let (mut stream, peer) = listener.accept()?;
        stream.write_all(&vec![0; 1_000_000])?;
        Ok(peer)
    });
    let ended = within(&machine, call(&own("fetch 198.51.100.2:8000 1000000"))).wait_with_output().unwrap();
    let ended = Ended::of(&ended);
    assert_eq!(ended.status, 0, "{}", ended.err);
    assert_eq!(serve.join().unwrap().unwrap().ip().to_string(), "198.51.100.1");
    let summary: Value = serde_json::from_slice(&fs::read(bench.path("out/path/summary.json")).unwrap()).unwrap();
    let carried = summary["links"]["downlink"]["departures"].as_f64().unwrap();
    assert!(carried >= 1_000_000.0 / 1460.0, "it came over the links: {summary}");

    // Without the option there is no way out, for all that the machine forwards.
    let closed = bench
        .command(
            &LINK
                .iter()
                .chain(&["--user", "root", "--", "sh", "-c"])
                .copied()
                .chain([own("fetch 198.51.100.2:8000 1").as_str()])
                .collect::<Vec<_>>(),
        )
        .output();
    assert_eq!(closed.unwrap().status.code(), Some(1), "no route");

    let mut child = within(&machine, call("sleep 60"));
    let outer = || {
        devices().lines().find_map(|line| Some(line.trim().strip_prefix("penstock-")?.split(':').next()?.to_owned()))
    };
    assert!(optional::eventually(|| outer().is_some()), "a pair of devices while it runs");
    let number: u32 = outer().unwrap().parse().unwrap();
    thread::sleep(Duration::from_millis(500));
    let [_, _, high, low] = (number * 4).to_be_bytes();
    let translated = format!("10.79.{high}.{}", low + 2);
    ip(&machine, &format!("addr add {translated}/32 dev lo"));
    let receiver = neighbour.within(|| UdpSocket::bind("198.51.100.2:9000")).unwrap();
    receiver.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    let seen = |port: u16| {
        let from = format!("{translated}:{port}");
        let sender = machine.within(|| UdpSocket::bind(from)).unwrap();
        sender.send_to(b"who", "198.51.100.2:9000").unwrap();
        receiver.recv_from(&mut [0; 10]).unwrap().1.ip().to_string()
    };
    assert_eq!(seen(4000), "198.51.100.1", "translated while it runs");
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(optional::eventually(|| !devices().contains("penstock")), "{}", devices());
    assert_eq!(seen(4001), translated, "no rule is left");
}

/// In a user namespace of four network namespaces: if a run, however it ends, leaves one of its two, four can soon not be made
/// any more. What would keep one are sockets: `lsns` cannot see that, and so the kernel counts.
fn whatever_ends_it_leaves_no_namespace() {
    let bench = Bench::new();
    bench.write("line.toml", LINE);
    let penstock = env!("CARGO_BIN_EXE_penstock");
    let leave = own("leave 10.78.0.1:5000");
    let path = format!(
        "{penstock} linux path line.toml --server \"{}\" -- sh -c \"sleep 0.5; {leave}",
        own("serve 10.78.0.1:5000")
    );
    let kill = "p=$!; sleep 1.7; kill -9 $p; wait $p";
    let mut cases = vec![
        ("a run that ends", format!("{penstock} run line.toml --world linux")),
        ("a run that is killed", format!("{penstock} run line.toml --world linux & {kill}")),
        ("a path whose command leaves data unsent", format!("{path}\"")),
        ("a path that is killed after that", format!("{path}; sleep 60\" & {kill}")),
    ];
    if fs::metadata("/usr/bin/iperf3").is_ok() {
        cases.push(("a run with iperf3", format!("{penstock} run line.toml --world linux --generator iperf3")));
    }
    for (name, line) in cases {
        // One of the four is in the way of none; a run has two at once.
        let script = format!(
            "echo 4 > /proc/sys/user/max_net_namespaces || exit 98
             {line}
             for i in $(seq 60); do
                unshare -n unshare -n unshare -n unshare -n true 2>/dev/null && exit 0
                sleep 0.1
             done
             exit 99"
        );
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user", "sh", "-c", &script]).current_dir(bench.path(""));
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{name} leaves a network namespace: {said}");
    }
}

/// The work of the programs at the ends: this file's own, since not every machine has others.
fn act(what: &str, address: &str, bytes: usize) -> io::Result<()> {
    match what {
        "serve" => {
            let listener = TcpListener::bind(address)?;
            for stream in listener.incoming() {
                io::copy(&mut stream?, &mut io::sink())?;
            }
        }
        "send" => {
            let mut stream = TcpStream::connect(address)?;
            stream.write_all(&vec![0; bytes])?;
            stream.shutdown(std::net::Shutdown::Write)?;
            stream.read_to_end(&mut Vec::new())?;
        }
        "fetch" => {
            let mut got = Vec::new();
            TcpStream::connect(address)?.read_to_end(&mut got)?;
            assert_eq!(got.len(), bytes);
        }
        // As much as there is room for, and gone.
        "leave" => {
            let mut stream = TcpStream::connect(address)?;
            stream.set_nonblocking(true)?;
            loop {
                match stream.write(&[0; 1 << 13]) {
                    Ok(_) => {}
                    Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                    Err(error) => return Err(error),
                }
            }
        }
        other => panic!("{other}"),
    }
    Ok(())
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [what, address, bytes @ ..] = arguments.as_slice()
        && ["serve", "send", "fetch", "leave"].contains(&what.as_str())
    {
        let bytes = bytes.first().and_then(|bytes| bytes.parse().ok()).unwrap_or_default();
        if let Err(error) = act(what, address, bytes) {
            eprintln!("{what} {address}: {error}");
            std::process::exit(1);
        }
        return;
    }
    optional::run(
        &[
            ("programs_have_no_rights", programs_have_no_rights),
            ("the_tool_gives_up_its_rights", the_tool_gives_up_its_rights),
            ("a_false_tool_is_not_run", a_false_tool_is_not_run),
            ("a_wrong_call_leaves_nothing", a_wrong_call_leaves_nothing),
            ("a_path_leaves_a_record", a_path_leaves_a_record),
            ("a_law_carries_a_file_over_quic", a_law_carries_a_file_over_quic),
            ("a_way_out_is_there_on_request_and_gone_after", a_way_out_is_there_on_request_and_gone_after),
            ("whatever_ends_it_leaves_no_namespace", whatever_ends_it_leaves_no_namespace),
        ],
        optional::kernel(penstock_path::missing()),
    );
}
