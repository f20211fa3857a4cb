//! Killed at every system call that matters, by strace: the state of before or the new one, and what finishes it.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;

use penstock_kernel::attach::pins::Pins;
use penstock_kernel::attach::{self, Place, Request, Scope, Which};
use penstock_law::Registry;
use penstock_machine::namespace::Namespace;

use crate::optional::{available, eventually, pins};

/// Those that change something or look at it; `?` for those that not every processor has.
const CALLS: [&str; 11] =
    ["bpf", "?mkdir", "?mkdirat", "mount", "setns", "write", "?unlink", "?unlinkat", "?rmdir", "flock", "?openat"];
const SYSCTL: &str = "/proc/sys/net/ipv4/tcp_congestion_control";

/// A network namespace with pins of its own.
struct Bench {
    namespace: Namespace,
    pins: Pins,
    folder: PathBuf,
}

impl Bench {
    fn new() -> Self {
        let folder = pins("kills");
        Self { namespace: Namespace::new().unwrap(), pins: Pins::at(&folder), folder }
    }

    fn default(&self) -> String {
        self.namespace.within(|| fs::read_to_string(SYSCTL)).unwrap().trim().to_owned()
    }

    fn attach(&self, name: &str) {
        let place = Place::Sockets { default: Some(Scope::Namespace), trace: false };
        let request = Request { laws: &Arc::new(Registry::standard()), name, place, settings: &[] };
        self.namespace.within(|| Ok(attach::attach(&self.pins, &request).unwrap())).unwrap();
    }

    fn detach(&self) {
        self.namespace.within(|| Ok(attach::detach(&self.pins, Which::default()).unwrap())).unwrap();
    }

    fn has(&self, law: &str) -> bool {
        self.pins.path(&format!("cc-{law}")).exists()
    }

    /// Runs the command, killed at its n-th such system call; whether it came to that.
    fn killed(&self, call: &str, at: usize, arguments: &[&str]) -> bool {
        let mut command = Command::new("strace");
        command.args(["-f", "-qq", "-o", "/dev/null", "-e", &format!("trace={call}"), "-e", "signal=none"]);
        command.args(["-e", &format!("inject={call}:signal=KILL:when={at}"), env!("CARGO_BIN_EXE_penstock"), "linux"]);
        command.args(arguments).arg("--pins").arg(&self.folder).stdout(Stdio::null()).stderr(Stdio::null());
        let ended = self.namespace.within(|| command.status()).unwrap();
        // strace ends as the command did.
        ended.signal() == Some(9) || ended.code() == Some(137)
    }
}

/// A test that fails leaves no controller in the kernel, where the next test would meet it.
impl Drop for Bench {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// The operation, its initial state, and the defaults it may leave.
struct Case {
    arguments: &'static [&'static str],
    attached: &'static [&'static str],
    defaults: &'static [&'static str],
}

/// `BEFORE` is what the namespace begins with.
const BEFORE: &str = "";
const CASES: [Case; 3] = [
    Case { arguments: &["attach", "fast", "--default", "namespace"], attached: &[], defaults: &[BEFORE, "fast"] },
    Case {
        arguments: &["attach", "ccpd", "--default", "namespace", "--set", "law.kp=4"],
        attached: &["ccpd", "fast"],
        defaults: &["fast", "ccpd"],
    },
    Case { arguments: &["detach"], attached: &["ccpd", "fast"], defaults: &["fast", "ccpd", BEFORE] },
];

pub(super) fn a_kill_at_any_system_call_leaves_the_old_state_or_the_new_one() {
    let bench = Bench::new();
    let before = bench.default();
    for Case { arguments, attached, defaults } in CASES {
        let (mut kills, mut sides) = (0, [0, 0]);
        for call in CALLS {
            // Programs and files are read hundreds of times. PENSTOCK_EVERY_CALL kills at each of them, in some ten minutes.
            let all = std::env::var_os("PENSTOCK_EVERY_CALL").is_some();
            for at in (1..).step_by(if all || !["bpf", "?openat"].contains(&call) { 1 } else { 16 }) {
                for law in attached {
                    bench.attach(law);
                }
                let killed = bench.killed(call, at, arguments);
                let what = format!("{arguments:?} killed at {call} {at}");
                let now = bench.default();
                assert!(
                    defaults.iter().any(|one| now == if *one == BEFORE { before.as_str() } else { *one }),
                    "{what}: {now}"
                );
                // One that has no pin goes, the default that there is does not.
                for law in ["fast", "ccpd"] {
                    assert!(eventually(|| bench.has(law) == available().contains(&law.to_owned())), "{what}: {law}");
                }
                assert!(available().contains(&now), "{what}: {now}");
                assert!(now == before || bench.has(&now), "{what}: {now}");
                sides[usize::from(bench.has("fast"))] += usize::from(killed);
                kills += usize::from(killed);
                if arguments[0] == "attach" {
                    bench.attach(arguments[1]);
                    assert_eq!(bench.default(), arguments[1], "{what}, and again");
                }
                bench.detach();
                assert_eq!(bench.default(), before, "{what}, and detached");
                assert!(!bench.has("fast") && !bench.has("ccpd") && !fs::exists(&bench.folder).unwrap(), "{what}");
                if !killed {
                    break;
                }
            }
        }
        println!("{arguments:?}: {kills} kills, {sides:?} without and with `fast` attached then");
        assert!(kills > 10 && sides[1] > 0 && (arguments[1..].contains(&"ccpd") || sides[0] > 0), "{sides:?}");
    }
}

/// Requirements besides the kernel.
pub(super) fn missing() -> Option<(&'static str, String)> {
    let there = Command::new("strace").arg("-V").stdout(Stdio::null()).stderr(Stdio::null()).status();
    there.err().map(|error| ("strace", format!("cannot run `strace` ({error})")))
}
