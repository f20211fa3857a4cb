//! Disks that are full or cannot be written to. Needs mounts of its own: root, or user namespaces.

mod bench;
mod optional;

use std::fs;
use std::process::Command;

use bench::{Bench, SMALL, SWEEP, names};

/// Runs a shell script in namespaces of its own, where a file system that it mounts is seen by nobody else and is gone
/// afterwards. `penstock` is the command.
fn alone(bench: &Bench, script: &str) -> (i32, String) {
    let script = format!("penstock() {{ {} \"$@\"; }}\nset -e\n{script}", env!("CARGO_BIN_EXE_penstock"));
    let mut command = Command::new("unshare");
    command.args(["--mount", "--map-root-user", "sh", "-c", &script]).current_dir(bench.path("."));
    let output = command.output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code().expect("ended by itself"), err)
}

fn a_full_disk_keeps_what_is_complete_and_the_sweep_goes_on_where_there_is_room() {
    let bench = Bench::new();
    bench.write("swept.toml", &format!("{SMALL}{SWEEP}"));
    bench.well(&["sweep", "swept.toml", "--out", "whole"]);
    let cells = names(&bench.path("whole/swept"));
    // Room for some cells and a part of the next: a file takes whole pages.
    let pages = |cell: &String| {
        let files = names(&bench.path("whole/swept").join(cell)).into_iter();
        let size = |file| fs::metadata(bench.path("whole/swept").join(cell).join(file)).unwrap().len();
        files.map(|file| size(file).div_ceil(4096)).sum::<u64>()
    };
    let cell_kib = 4 * cells.iter().filter(|name| !name.contains('.')).map(pages).max().unwrap();
    let script = format!(
        "mkdir out kept && mount -t tmpfs -o size={}k none out
         set +e
         penstock sweep swept.toml --jobs 1; status=$?
         ls -A out/swept > listed; cp -a out/swept/. kept
         mount -t tmpfs -o remount,size=64m none out && penstock sweep swept.toml 2> again.txt || exit 99
         cp out/swept/sweep.json resumed.json; exit $status",
        cell_kib * 5 / 2,
    );
    let (status, err) = alone(&bench, &script);
    assert_eq!(status, 3, "{err}");
    assert!(err.contains("penstock: no room for out/swept") && err.contains("--out DIR"), "{err}");
    let listed = fs::read_to_string(bench.path("listed")).unwrap();
    let kept: Vec<&str> = listed.lines().filter(|name| *name != "source.json").collect();
    assert!((1..6).contains(&kept.len()), "{kept:?}");
    for cell in &kept {
        assert!(cells.iter().any(|name| name == cell), "nothing half-written: {kept:?}");
        assert_eq!(names(&bench.path("kept").join(cell)), names(&bench.path("whole/swept").join(cell)));
    }
    let again = fs::read_to_string(bench.path("again.txt")).unwrap();
    assert!(again.contains(&format!("{} of 6 cells are finished", kept.len())), "each of them is whole: {again}");
    let whole = fs::read(bench.path("whole/swept/sweep.json")).unwrap();
    assert!(fs::read(bench.path("resumed.json")).unwrap() == whole);
}

fn a_capture_that_fills_the_disk_ends_the_run_and_is_removed() {
    let bench = Bench::new();
    bench.write("small.toml", SMALL);
    // A run this long would not end by itself.
    let script = "mkdir out && mount -t tmpfs -o size=2m none out
         set +e
         penstock run small.toml --pcap --set 'duration=4000 h' --set 'sample=1 min'; status=$?
         ls -A out > listed; exit $status";
    let (status, err) = alone(&bench, script);
    assert_eq!(status, 3, "{err}");
    assert!(err.contains("no room for out/small-duration-4000-h-sample-1-min-seed1/packets.pcapng"), "{err}");
    assert_eq!(fs::read_to_string(bench.path("listed")).unwrap(), "");
}

fn a_disk_that_is_read_only_is_found_before_the_run() {
    let bench = Bench::new();
    bench.write("small.toml", SMALL);
    let script = "mkdir out && mount -t tmpfs -o ro none out
         penstock run small.toml --set 'duration=4000 h' --set 'sample=1 min'";
    let (status, err) = alone(&bench, script);
    assert_eq!(status, 2, "{err}");
    assert!(err.contains("cannot write to out") && err.contains("--out DIR"), "{err}");
}

fn main() {
    let mut mount = Command::new("unshare");
    mount.args(["--mount", "--map-root-user", "mount", "-t", "tmpfs", "none", "/mnt"]);
    let can = mount.output().is_ok_and(|output| output.status.success());
    let missing = "no mounts here: run it as root, or where users may have namespaces, with unshare of util-linux";
    let missing = (!can).then(|| ("mounts", missing.to_owned()));
    optional::run(
        &[
            (
                "a_full_disk_keeps_what_is_complete_and_the_sweep_goes_on_where_there_is_room",
                a_full_disk_keeps_what_is_complete_and_the_sweep_goes_on_where_there_is_room,
            ),
            (
                "a_capture_that_fills_the_disk_ends_the_run_and_is_removed",
                a_capture_that_fills_the_disk_ends_the_run_and_is_removed,
            ),
            ("a_disk_that_is_read_only_is_found_before_the_run", a_disk_that_is_read_only_is_found_before_the_run),
        ],
        missing,
    );
}
