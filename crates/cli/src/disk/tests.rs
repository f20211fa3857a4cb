//! Power failures, at every step of a sweep: what a disk may hold then, and that the same command goes on from it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use clap::Parser;
use penstock_record::{read_header, read_table};

use super::journal::{self, Step};
use crate::arguments::Arguments;
use crate::content;
use crate::embedded;
use crate::failure::Done;

const SWEEP: &str = r#"
format = 1
duration = "300 ms"
[links.l]
from = "a"
to = "b"
rate = "1 Mbit/s"
delay = "1 ms"
buffer = "10 packets"
[flows.f]
from = "a"
to = "b"
cc = { law = "newreno" }
[sweep]
"links.l.rate" = ["1 Mbit/s", "2 Mbit/s"]
"#;

/// A tree of files: paths and contents, none for a directory.
type Tree = BTreeMap<PathBuf, Option<Vec<u8>>>;

/// Content in the kernel's memory, and content certain to be on disk.
#[derive(Debug)]
enum Node {
    File { now: Vec<u8>, synced: Vec<u8> },
    Directory { now: BTreeMap<String, usize>, synced: BTreeMap<String, usize>, since: Vec<Change> },
}

/// A change of a directory since it was synced. A journal of a file system has each as a whole, or not.
#[derive(Debug, Clone)]
enum Change {
    Link(String, usize),
    Rename(String, String),
    Unlink(String),
}

/// The loss by a power failure.
#[derive(Debug, Clone, Copy)]
enum Loss {
    /// Nothing: the process was killed, and the kernel goes on.
    Nothing,
    /// Everything that was not synced.
    Everything,
    /// Content of files that were not synced; directories are as they were.
    Contents,
    /// The same, and the files have their lengths, of zeros.
    Zeros,
    /// Some of it, of each file a part and of each directory some changes, by that seed.
    Some(u64),
}

/// A disk that is written to by [`Step`]s.
struct Disk {
    root: PathBuf,
    nodes: Vec<Node>,
}

impl Change {
    fn apply(&self, names: &mut BTreeMap<String, usize>) {
        match self {
            Self::Link(name, node) => drop(names.insert(name.clone(), *node)),
            Self::Rename(from, to) => {
                if let Some(node) = names.remove(from) {
                    names.insert(to.clone(), node);
                }
            }
            Self::Unlink(name) => drop(names.remove(name)),
        }
    }
}

fn directory() -> Node {
    Node::Directory { now: BTreeMap::new(), synced: BTreeMap::new(), since: Vec::new() }
}

impl Disk {
    fn new(root: &Path) -> Self {
        Self { root: root.to_path_buf(), nodes: vec![directory()] }
    }

    fn find(&self, path: &Path) -> usize {
        path.strip_prefix(&self.root).unwrap().iter().fold(0, |at, part| match &self.nodes[at] {
            Node::Directory { now, .. } => now[part.to_str().unwrap()],
            Node::File { .. } => panic!("{}", path.display()),
        })
    }

    fn change(&mut self, parent: &Path, change: Change) {
        let parent = self.find(parent);
        let Node::Directory { now, since, .. } = &mut self.nodes[parent] else { panic!("{change:?}") };
        change.apply(now);
        since.push(change);
    }

    fn take(&mut self, step: &Step) {
        let split = |path: &Path| {
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            (path.parent().unwrap().to_path_buf(), name)
        };
        match step {
            Step::MakeDirectory(path) | Step::Create(path) => {
                let file = Node::File { now: Vec::new(), synced: Vec::new() };
                self.nodes.push(if matches!(step, Step::Create(_)) { file } else { directory() });
                let (parent, name) = split(path);
                self.change(&parent, Change::Link(name, self.nodes.len() - 1));
            }
            Step::Write(path, bytes) => {
                let at = self.find(path);
                let Node::File { now, .. } = &mut self.nodes[at] else { panic!("{step:?}") };
                now.extend(bytes);
            }
            Step::Sync(path) => {
                let at = self.find(path);
                match &mut self.nodes[at] {
                    Node::File { now, synced } => synced.clone_from(now),
                    Node::Directory { now, synced, since } => {
                        synced.clone_from(now);
                        since.clear();
                    }
                }
            }
            Step::Rename(from, to) => {
                let ((parent, from), (other, to)) = (split(from), split(to));
                assert_eq!(parent, other, "two directories never change at once");
                self.change(&parent, Change::Rename(from, to));
            }
            Step::Remove(path) => {
                let (parent, name) = split(path);
                self.change(&parent, Change::Unlink(name));
            }
        }
    }

    /// The content of the disk after a loss.
    fn after(&self, loss: Loss) -> Tree {
        let mut tree = Tree::new();
        let mut state = if let Loss::Some(seed) = loss { seed } else { 0 };
        // Marsaglia's xorshift64: any will do that gives the same states every time.
        let mut draw = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        self.collect(0, Path::new(""), loss, &mut draw, &mut tree);
        tree
    }

    fn collect(&self, at: usize, path: &Path, loss: Loss, draw: &mut dyn FnMut() -> u64, tree: &mut Tree) {
        match &self.nodes[at] {
            Node::File { now, synced } => {
                let more = (now.len() - synced.len()) as u64 + 1;
                let content = match loss {
                    Loss::Nothing => now.clone(),
                    Loss::Everything | Loss::Contents => synced.clone(),
                    Loss::Zeros => (0..now.len()).map(|at| synced.get(at).copied().unwrap_or(0)).collect(),
                    Loss::Some(_) => now[..synced.len() + usize::try_from(draw() % more).unwrap()].to_vec(),
                };
                tree.insert(path.to_path_buf(), Some(content));
            }
            Node::Directory { synced, since, .. } => {
                if at > 0 {
                    tree.insert(path.to_path_buf(), None);
                }
                let mut names = synced.clone();
                for change in since {
                    let kept = match loss {
                        Loss::Nothing | Loss::Contents | Loss::Zeros => true,
                        Loss::Everything => false,
                        Loss::Some(_) => draw().is_multiple_of(2),
                    };
                    if kept {
                        change.apply(&mut names);
                    }
                }
                for (name, node) in names {
                    self.collect(node, &path.join(name), loss, draw, tree);
                }
            }
        }
    }
}

fn read(root: &Path, below: &Path, tree: &mut Tree) {
    for entry in fs::read_dir(root.join(below)).unwrap() {
        let entry = entry.unwrap();
        let path = below.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            tree.insert(path.clone(), None);
            read(root, &path, tree);
        } else {
            tree.insert(path.clone(), Some(fs::read(entry.path()).unwrap()));
        }
    }
}

fn write(root: &Path, tree: &Tree) {
    for (path, content) in tree {
        match content {
            None => fs::create_dir(root.join(path)).unwrap(),
            Some(content) => fs::write(root.join(path), content).unwrap(),
        }
    }
}

/// Runs the sweep with its results below `home`.
fn sweep(home: &Path, scenario: &Path) {
    let out = home.join("out");
    let line = ["penstock".as_ref(), "sweep".as_ref(), scenario.as_os_str(), "--jobs".as_ref(), "1".as_ref()];
    let arguments = Arguments::try_parse_from(line.into_iter().chain(["--out".as_ref(), out.as_os_str()])).unwrap();
    assert_eq!(crate::command(&arguments.command), Ok(Done::Well));
}

/// Sees that whatever has its name is whole: records, and files that are of the sweep as a whole.
fn check(home: &Path, sweep_json: &[u8], what: &str) {
    let place = home.join("out/s");
    for entry in fs::read_dir(&place).into_iter().flatten() {
        let (path, name) = (place.join(entry.as_ref().unwrap().file_name()), entry.unwrap().file_name());
        match name.to_str().unwrap() {
            hidden if hidden.starts_with('.') => {}
            "sweep.json" => assert!(fs::read(path).unwrap() == sweep_json, "{what}: sweep.json"),
            "report.html" => {
                assert!(fs::read_to_string(path).unwrap().trim_end().ends_with("</html>"), "{what}: report");
            }
            "cells.parquet" => {
                let table =
                    read_table(&fs::read(path).unwrap()).unwrap_or_else(|e| panic!("{what}: cells.parquet: {e}"));
                assert!(table.rows() > 0, "{what}: cells.parquet");
            }
            "source.json" => drop(serde_json::from_slice::<serde_json::Value>(&fs::read(path).unwrap()).expect(what)),
            record => {
                assert!(!record.ends_with(".damaged"), "{what}: {record}");
                let header = fs::read(path.join("record.toml")).unwrap_or_else(|e| panic!("{what}: {record}: {e}"));
                let header = read_header(&header).unwrap_or_else(|e| panic!("{what}: {record}: {e}"));
                let intact = header.intact(|name| content::listed(&path, name));
                intact.unwrap_or_else(|e| panic!("{what}: {record}: {e}"));
            }
        }
    }
}

/// A record or a file has its name only when the disk has it whole; the same command finds what is there, makes the rest,
/// and gives the same bytes; and when the command has ended everything is there for good.
#[test]
fn a_power_failure_at_any_step_leaves_the_old_state_or_the_new_one() {
    let _alone = embedded::alone();
    let bench = tempfile::tempdir().unwrap();
    let scenario = bench.path().join("s.toml");
    fs::write(&scenario, SWEEP).unwrap();
    let home = bench.path().join("whole");
    fs::create_dir(&home).unwrap();
    let steps = journal::of(&home, || sweep(&home, &scenario));
    let sweep_json = fs::read(home.join("out/s/sweep.json")).unwrap();
    check(&home, &sweep_json, "undisturbed");

    let mut disk = Disk::new(&home);
    let mut seen: BTreeSet<Tree> = BTreeSet::new();
    for (at, step) in std::iter::once(None).chain(steps.iter().map(Some)).enumerate() {
        if let Some(step) = step {
            disk.take(step);
        }
        let some = (1..=4).map(|n| Loss::Some((at as u64 + 1) * 1_000_003 + n));
        for loss in [Loss::Nothing, Loss::Everything, Loss::Contents, Loss::Zeros].into_iter().chain(some) {
            let tree = disk.after(loss);
            if !seen.insert(tree.clone()) {
                continue;
            }
            let what = format!("{loss:?} after step {at} of {}, {step:?}", steps.len());
            let again = bench.path().join(format!("again-{}", seen.len()));
            fs::create_dir(&again).unwrap();
            write(&again, &tree);
            check(&again, &sweep_json, &what);
            sweep(&again, &scenario);
            check(&again, &sweep_json, &what);
            assert!(again.join("out/s/sweep.json").is_file(), "{what}");
            fs::remove_dir_all(&again).unwrap();
        }
    }
    // What is written past these functions would be missing here.
    let mut whole = Tree::new();
    read(&home, Path::new(""), &mut whole);
    assert!(disk.after(Loss::Nothing) == whole, "everything was seen");
    assert!(disk.after(Loss::Everything) == whole, "everything is on disk");
    assert!(seen.len() > 100, "{} states", seen.len());
}
