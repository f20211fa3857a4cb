//! `penstock linux attach`, `status`, `trace` and `detach`. Needs root and a kernel with struct_ops.

mod bench;
#[path = "attach/kills.rs"]
mod kills;
mod optional;

use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use bench::Bench;
use optional::{available, eventually};
use penstock_kernel::attach;
use penstock_machine::capability::{CAP_SYS_PTRACE, Capabilities};
use serde_json::Value;

/// A directory of pins that is gone with all that is attached.
struct Pins {
    bench: Bench,
    folder: PathBuf,
}

impl Pins {
    fn new() -> Self {
        Self { bench: Bench::new(), folder: optional::pins("test") }
    }

    fn arguments<'a>(&'a self, arguments: &[&'a str]) -> Vec<&'a str> {
        let pins = ["--pins", self.folder.to_str().unwrap()];
        ["linux"].into_iter().chain(arguments.iter().copied()).chain(pins).collect()
    }

    fn run(&self, arguments: &[&str]) -> bench::Ended {
        self.bench.run(&self.arguments(arguments))
    }

    fn well(&self, arguments: &[&str]) -> String {
        self.bench.well(&self.arguments(arguments))
    }
}

impl Drop for Pins {
    fn drop(&mut self) {
        let _ = self.run(&["detach"]);
    }
}

/// On, reported in three ways, and off again: nothing is left.
fn a_controller_comes_and_goes() {
    let pins = Pins::new();
    assert!(pins.well(&["status"]).starts_with("nothing is attached"));
    let said = pins.well(&["attach", "fast", "--set", "law.alpha=50 packets"]);
    assert_eq!(said, "fast is attached: sockets, as `fast`\n");
    assert!(available().contains(&"fast".to_owned()));
    let table = pins.well(&["status"]);
    assert!(table.contains("fast (controller): sockets") && table.contains("alpha = 50 packets"), "{table}");
    let json: Value = serde_json::from_str(&pins.well(&["status", "--json"])).unwrap();
    assert_eq!((&json[0]["parameters"]["gamma"], &json[0]["figures"]["sockets"]), (&"0.5".into(), &0.0.into()));
    let text = pins.well(&["status", "--prometheus"]);
    assert!(
        text.contains("# TYPE penstock_connections_total counter\npenstock_connections_total{law=\"fast\""),
        "{text}"
    );
    assert_eq!(pins.well(&["detach"]), "detached: cc-fast\n");
    assert!(eventually(|| !available().contains(&"fast".to_owned())));
    assert!(!pins.folder.exists());
    assert_eq!(pins.well(&["status", "--prometheus"]), "# nothing is attached\n");
    assert_eq!(pins.well(&["status", "--json"]), "[]\n");
}

/// Without rights, or where pins cannot be seen: said so, with what would do, and not that nothing is attached.
fn what_cannot_be_seen_is_not_nothing() {
    let pins = Pins::new();
    pins.well(&["attach", "fast"]);
    let command = env!("CARGO_BIN_EXE_penstock");
    let powerless = |arguments: &[&str]| {
        let mut setpriv = Command::new("setpriv");
        setpriv.args(["--bounding-set", "-all", "--inh-caps", "-all", command]);
        let output = setpriv.args(pins.arguments(arguments)).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    for arguments in [
        &["attach", "fast"][..],
        &["attach", "price", "--device", "lo", "--set", "link.rate=1 Mbit/s"],
        &["status"],
        &["detach"],
    ] {
        let (status, said) = powerless(arguments);
        assert_eq!(status, Some(3), "{arguments:?}: {said}");
        assert!(said.contains("CAP_SYS_ADMIN") && said.contains("run it as root"), "{arguments:?}: {said}");
    }
    for folder in ["/etc", "/tmp/penstock-no-pins"] {
        for what in ["status", "detach"] {
            let ended = pins.bench.run(&["linux", what, "--pins", folder]);
            assert_eq!((ended.status, ended.out.as_str()), (3, ""), "{what} {folder}");
            assert!(ended.err.contains("is not on a BPF file system"), "{}", ended.err);
        }
    }
    let mounts = |script: &str| {
        let script = format!("umount /sys/fs/bpf; {script}");
        let output = Command::new("unshare").args(["--mount", "sh", "-c", &script, command]).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    // File systems of its own, which end with it, as `ip netns exec` has them: the pins are there, but not here.
    for what in ["status", "detach", "attach fast"] {
        let (status, said) = mounts(&format!("\"$0\" linux {what}"));
        assert_eq!(status, Some(3), "{what}: {said}");
        assert!(said.contains("this process has mounts of its own") && said.contains("nsenter"), "{what}: {said}");
    }
    let (status, said) = mounts("\"$0\" linux check");
    assert!(
        status == Some(3) && said.contains("`penstock linux attach`): this process has mounts of its own"),
        "{said}"
    );
}

/// A machine where no BPF file system is mounted, and whose first process may not be looked at: the command mounts it, and
/// says before that it would.
fn a_machine_that_nobody_has_prepared_is_enough() {
    let script = "umount /sys/fs/bpf 2> /dev/null
        penstock() { setpriv --bounding-set -sys_ptrace --inh-caps -sys_ptrace \"$PENSTOCK\" linux \"$@\"; }
        setpriv --bounding-set -sys_ptrace --inh-caps -sys_ptrace readlink /proc/1/ns/mnt && exit 77
        penstock check | grep 'attach.*: yes' || exit 78
        [ -z \"$(ls /sys/fs/bpf)\" ] || exit 79
        penstock status && penstock attach fast --default namespace && penstock status --json && penstock detach";
    let mut unshare = Command::new("unshare");
    unshare.args(["--mount", "--net", "--pid", "--fork", "--mount-proc", "sh", "-c", script]);
    let output = unshare.env("PENSTOCK", env!("CARGO_BIN_EXE_penstock")).output().unwrap();
    let (out, err) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert_eq!(output.status.code(), Some(0), "{out}\n{err}");
    assert!(out.contains("nothing is attached: no BPF file system is mounted here"), "{out}");
    assert!(out.contains("the default of network namespace") && out.contains("detached: cc-fast"), "{out}");
}

/// Controllers have the names that scenarios have.
fn the_check_has_the_names_of_scenarios() {
    let ended = Bench::new().run(&["linux", "check"]);
    let line = ended.out.lines().find(|line| line.starts_with("controllers for scenarios:")).unwrap_or_default();
    assert!(line.contains("newreno (the kernel's reno)"), "{}", ended.out);
}

/// Refused with the status that says whose fault it is, and nothing has changed.
fn what_is_wrong_is_refused_before_anything_changes() {
    let pins = Pins::new();
    for (arguments, status, said) in [
        (&["attach", "fest"][..], 2, "no law for this kernel is named `fest`"),
        (&["attach", "fast", "--set", "law.alpha=lots"], 2, "lots"),
        (&["attach", "fast", "--set", "law.speed=3"], 2, "no parameter `speed`"),
        (&["attach", "fast", "--device", "lo"], 2, "leave out --device"),
        (&["attach", "fast", "--default", "everywhere"], 2, "everywhere"),
        (&["detach", "fast"], 2, "`fast` is not attached"),
        (&["trace", "fast"], 2, "`linux attach fast --trace`"),
    ] {
        let ended = pins.run(arguments);
        assert_eq!(ended.status, status, "{arguments:?}: {}", ended.err);
        assert!(ended.err.contains(said), "{arguments:?}: {}", ended.err);
        assert!(!pins.folder.exists());
    }
    let ended = pins.bench.run(&["linux", "attach", "fast", "--pins", "/tmp/penstock-pins"]);
    assert_eq!(ended.status, 3, "{}", ended.err);
    assert!(ended.err.contains("not on a BPF file system"), "{}", ended.err);
}

/// Killed at any moment the old state is there or the new one: with a pin the controller is whole, without one it is gone. Kills
/// of both kinds have to be seen: before there is a pin, and as soon as there is one.
fn a_kill_leaves_the_old_state_or_the_new_one() {
    let mut seen = [0, 0];
    for attempt in 0..200_u64 {
        let pins = Pins::new();
        let mut command = pins.bench.command(&pins.arguments(&["attach", "fast"]));
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        if attempt % 2 == 0 {
            thread::sleep(Duration::from_millis(attempt % 30));
        } else {
            while !pins.folder.join("cc-fast").exists() && child.try_wait().unwrap().is_none() {
                std::hint::spin_loop();
            }
        }
        child.kill().unwrap();
        let killed = child.wait().unwrap().signal() == Some(9);
        let pinned = pins.folder.join("cc-fast").exists();
        assert!(killed || pinned, "without a kill it is attached");
        seen[usize::from(pinned)] += usize::from(killed);
        if pinned {
            assert!(pins.well(&["status"]).contains("fast (controller)"));
            assert!(available().contains(&"fast".to_owned()));
            pins.well(&["detach", "fast"]);
        } else {
            assert!(eventually(|| !available().contains(&"fast".to_owned())), "attempt {attempt}");
            assert!(pins.well(&["status"]).starts_with("nothing is attached"));
        }
        if seen.iter().all(|seen| *seen >= 3) {
            break;
        }
    }
    println!("killed {} times before the pin and {} times after it", seen[0], seen[1]);
    assert!(seen.iter().all(|seen| *seen >= 3), "kills on one side only say nothing: {seen:?}");
    assert!(eventually(|| !available().contains(&"fast".to_owned())));
}

/// A scenario whose law only Penstock has runs on real TCP, and says so; nothing is left of it.
fn a_scenario_brings_its_controller() {
    optional::timed(the_controller_is_in_effect);
}

fn the_controller_is_in_effect(late: &optional::Late) {
    let pins = Pins::new();
    let before = available();
    let text = r#"
format = 1
title = "FAST"
duration = "3 s"
warmup = "1 s"
packet = { wire = "1500 B", payload = "1448 B" }
[links.bottleneck]
from = "left"
to = "right"
rate = "20 Mbit/s"
delay = "5 ms"
buffer = "unlimited"
aqm = { law = "AQM" }
[flows.ours]
count = 2
from = "left"
to = "right"
rtt = "20 ms"
start = "0 s"
cc = { law = "LAW" }
sender = { initial_window = 10 }
"#;
    for (law, more, aqm, socket) in [
        (
            "leadlag",
            "leadlag\", taubar = \"1 s\", signal = \"delay\", form = \"linearised",
            "droptail",
            "leadlag, SACK, timestamps",
        ),
        ("fast", "fast\", alpha = \"20 packets", "droptail", "fast, SACK, timestamps"),
        ("leadlag", "leadlag\", taubar = \"1 s", "price", "leadlag, ECN, SACK, timestamps"),
        ("copa", "copa", "droptail", "copa, SACK, timestamps"),
        ("prague", "prague", "dualpi2", "prague, ECN, SACK, timestamps"),
    ] {
        pins.bench.write("ours.toml", &text.replace("LAW", more).replace("AQM", aqm));
        let ended = pins.bench.run(&["run", "ours.toml", "--world", "linux", "--json"]);
        assert!([0, 4].contains(&ended.status), "{}", ended.err);
        late.replace(ended.late());
        let told: Value = serde_json::from_str(&ended.out).unwrap();
        let summary = &told["runs"][0]["summary"];
        let path = &summary["path"];
        let sockets = path["sockets"]["ours"].as_str().unwrap();
        assert!(sockets.starts_with(socket), "{path}");
        let findings = path["findings"].to_string();
        assert!(findings.contains(&format!("{law} is Penstock's, by struct_ops")), "{findings}");
        assert!(summary["links"]["bottleneck"]["utilization"].as_f64().unwrap() > 0.2, "{summary}");
    }
    assert!(eventually(|| available() == before), "{before:?}");
}

/// Packet pairs of `ccpd` on real TCP tell the capacity of the emulated line: 1667 packets/s, 600 us a packet, to 15 %.
fn packet_pairs_tell_the_capacity() {
    optional::timed(pairs_tell_the_capacity);
}

fn pairs_tell_the_capacity(late: &optional::Late) {
    let pins = Pins::new();
    pins.bench.write(
        "pairs.toml",
        r#"
format = 1
title = "Packet pairs"
duration = "4 s"
warmup = "1 s"
packet = { wire = "1500 B", payload = "1448 B" }
[links.bottleneck]
from = "left"
to = "right"
rate = "20 Mbit/s"
delay = "5 ms"
buffer = "1 bdp"
duplex = true
[flows.pairs]
from = "left"
to = "right"
rtt = "20 ms"
start = "0 s"
cc = { law = "ccpd", kp = 4 }
sender = { initial_window = 10, burst = 2 }
"#,
    );
    let ended = pins.bench.run(&["run", "pairs.toml", "--world", "linux", "--json"]);
    assert!([0, 4].contains(&ended.status), "{}", ended.err);
    late.replace(ended.late());
    let told: Value = serde_json::from_str(&ended.out).unwrap();
    let summary = &told["runs"][0]["summary"];
    let findings = summary["path"]["findings"].as_array().unwrap().iter().filter_map(Value::as_str);
    let found = findings.clone().find(|finding| finding.contains("packet pairs")).expect("a law that looks for pairs");
    let words: Vec<&str> = found.split_whitespace().collect();
    let before = |word: &str| {
        let at = words.iter().position(|found| *found == word).unwrap_or_else(|| panic!("{found}"));
        words[at - 1].parse::<f64>().unwrap_or_else(|_| panic!("{found}"))
    };
    assert!(before("packet") >= 20.0, "{found}");
    let off = before("packets/s") / (20e6 / 12_000.0) - 1.0;
    assert!(off.abs() < 0.15, "{off}: {found}");
}

fn main() {
    let pins = attach::pins::Pins::at("/sys/fs/bpf/penstock-test");
    let missing = attach::missing(&pins).into_iter().chain(penstock_path::missing());
    let missing = optional::kernel(missing);
    let tests: &[(&str, fn())] = &[
        ("a_controller_comes_and_goes", a_controller_comes_and_goes),
        ("what_cannot_be_seen_is_not_nothing", what_cannot_be_seen_is_not_nothing),
        ("the_check_has_the_names_of_scenarios", the_check_has_the_names_of_scenarios),
        ("what_is_wrong_is_refused_before_anything_changes", what_is_wrong_is_refused_before_anything_changes),
        ("a_kill_leaves_the_old_state_or_the_new_one", a_kill_leaves_the_old_state_or_the_new_one),
        ("a_scenario_brings_its_controller", a_scenario_brings_its_controller),
        ("packet_pairs_tell_the_capacity", packet_pairs_tell_the_capacity),
    ];
    let traced: &[(&str, fn())] = &[(
        "a_kill_at_any_system_call_leaves_the_old_state_or_the_new_one",
        kills::a_kill_at_any_system_call_leaves_the_old_state_or_the_new_one,
    )];
    let unprepared: &[(&str, fn())] =
        &[("a_machine_that_nobody_has_prepared_is_enough", a_machine_that_nobody_has_prepared_is_enough)];
    // It makes a first process that has CAP_SYS_PTRACE, and looks at it without.
    let unable = (!Capabilities::of_this_process().has(CAP_SYS_PTRACE))
        .then(|| ("mounts", "CAP_SYS_PTRACE is missing here, so no test can take it away".to_owned()));
    optional::run_groups(&[
        optional::Group { tests, missing: missing.clone() },
        optional::Group { tests: unprepared, missing: missing.clone().or(unable) },
        optional::Group { tests: traced, missing: missing.or_else(kills::missing) },
    ]);
}
