//! Scenario files as arguments of the command.

use std::fs::{self, File};
use std::io::{self, IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use penstock_fluid::Fluid;
use penstock_law::Registry;
use penstock_packets::Packets;
use penstock_record::{RecordError, read_header, read_scenario};
use penstock_scenario::idle::idle;
use penstock_scenario::read::{Cell, Document, ReadErrors};
use penstock_scenario::world::World;

use crate::arguments::{Changes, Generator, WorldName};
use crate::failure::{Failure, causes};
use crate::named::Shown as _;
use crate::{embedded, examples, interrupt, memory, program, registry, terminal};

/// The largest scenario file or trace that is read [B].
const LARGEST: u64 = 64_000_000;
/// The most values that the text of a scenario may have. Each takes some hundred bytes of memory.
const MOST_VALUES: usize = 250_000;
/// The file of a record that holds its scenario.
const RECORD: &str = "record.toml";

/// The name of standard input, and of its records.
const STDIN: &str = "stdin";

/// Whether a path stands for standard input.
pub(crate) fn is_stdin(path: &Path) -> bool {
    [Path::new("-"), Path::new("/dev/stdin")].contains(&path)
}

/// The name of a file in messages.
pub(crate) fn called(path: &Path) -> String {
    if is_stdin(path) { STDIN.to_owned() } else { path.shown() }
}

/// The text of standard input, which can be read once only.
fn from_stdin() -> Result<Vec<u8>, String> {
    static READ: OnceLock<Result<Vec<u8>, String>> = OnceLock::new();
    let read = || {
        if io::stdin().is_terminal() {
            terminal::note("reads a scenario from the terminal; Ctrl-D ends it");
        }
        let mut bytes = Vec::new();
        io::stdin().lock().take(LARGEST + 1).read_to_end(&mut bytes).map_err(|e| e.to_string())?;
        if bytes.len() as u64 > LARGEST {
            return Err(format!("it has more than {LARGEST} bytes, the most that a file may have"));
        }
        Ok(bytes)
    };
    READ.get_or_init(read).clone()
}

/// Reads the text of a scenario file, or the scenario of a record that somebody named.
pub(crate) fn text(path: &Path) -> Result<String, Failure> {
    if let Some(text) = embedded::text(path) {
        return Ok(text);
    }
    let bytes = if is_stdin(path) { from_stdin() } else { bytes(path) };
    let bytes = bytes.map_err(|why| Failure::Input(format!("cannot read {}: {why}{}", called(path), meant(path))))?;
    if is_record(path) {
        return read_scenario(&bytes).map_err(|e| Failure::Input(format!("{}: {}", path.shown(), causes(&e))));
    }
    // Values are separated by commas or line ends, whatever their errors.
    let values = bytes.iter().filter(|byte| matches!(byte, b',' | b'\n')).count();
    if values > MOST_VALUES {
        return Err(Failure::Input(format!(
            "{}: its text has {values} commas and line ends, and a scenario may have {MOST_VALUES}: put long lists into a file of \
             their own, such as a trace",
            called(path)
        )));
    }
    String::from_utf8(bytes).map_err(|e| {
        let valid = e.utf8_error().valid_up_to();
        let line = 1 + String::from_utf8_lossy(&e.as_bytes()[..valid]).matches('\n').count();
        Failure::Input(format!(
            "{}:{line}: not text: byte {valid} is the first that is not UTF-8: give the path of a scenario, or save it as UTF-8",
            called(path)
        ))
    })
}

/// The bytes of a file, if it is one and not too large. A pipe or device may have no end, or never begin.
fn bytes(path: &Path) -> Result<Vec<u8>, String> {
    let about = fs::metadata(path).map_err(|e| e.to_string())?;
    if about.is_dir() {
        return Err("it is a directory; name a file in it".into());
    }
    if !about.is_file() {
        return Err("it is not a file; copy its content into one".into());
    }
    if about.len() > LARGEST {
        return Err(format!("it has {} bytes, and {LARGEST} at most are read", about.len()));
    }
    let mut bytes = Vec::new();
    // Files of the kernel's own say that they are empty.
    File::open(path).and_then(|file| file.take(LARGEST).read_to_end(&mut bytes)).map_err(|e| e.to_string())?;
    terminal::detail(format!("read {}: {} B", path.shown(), bytes.len()));
    Ok(bytes)
}

/// The probable meaning of a file that is not there.
fn meant(path: &Path) -> String {
    let example = path.to_str().filter(|_| !path.exists()).and_then(examples::find);
    example.map_or_else(String::new, |example| {
        let (program, name) = (program::name(), example.name);
        format!("; `{program} examples {name} > {}.toml` writes the example of that name", examples::stem(name))
    })
}

fn is_record(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == RECORD)
}

/// The directory `name` that is `wanted`, here or above, by the shortest path from here.
pub(crate) fn above(name: &str, wanted: impl Fn(&Path) -> bool) -> Option<PathBuf> {
    let here = std::env::current_dir().ok()?;
    let found = here.ancestors().map(|a| a.join(name)).find(|path| wanted(path))?;
    Some(found.strip_prefix(&here).map_or_else(|_| found.clone(), Path::to_path_buf))
}

/// The document of a text that came from `path`, with these laws. Files that it names are relative to the path's folder.
pub(crate) fn loaded(text: &str, path: &Path, laws: Arc<Registry>) -> Result<Document, Failure> {
    loaded_in(text, path, laws, None)
}

/// The same, where the files that it names are in the folder `root`, if there is one.
fn loaded_in(text: &str, path: &Path, laws: Arc<Registry>, root: Option<&Path>) -> Result<Document, Failure> {
    let root = root.map(Path::to_path_buf);
    let folder = if is_stdin(path) { None } else { path.parent() };
    let folder = folder.map(Path::to_path_buf).unwrap_or_default();
    // A file that cannot be read is told at the place that names it.
    let load = move |name: &str| {
        let file = folder.join(name);
        if root.as_deref().is_some_and(|root| leads_out(root, &file)) {
            return Err(format!("it is outside of {}", root.as_deref().unwrap_or(&folder).shown()));
        }
        let bytes = bytes(&file)?;
        String::from_utf8(bytes).map_err(|_| "it is not text".to_owned())
    };
    let mut document = Document::parse_with(text, &called(path), load)?.with_laws(laws);
    if let Some((bytes, why)) = memory::available() {
        document.within(bytes, why);
    }
    Ok(document)
}

/// Whether a file is not in a folder, by the paths without links: a link, or `..`, leads out of it. A file that does not exist
/// leads nowhere.
pub(crate) fn leads_out(folder: &Path, file: &Path) -> bool {
    match (folder.canonicalize(), file.canonicalize()) {
        (Ok(folder), Ok(file)) => !file.starts_with(folder),
        _ => false,
    }
}

/// Refuses a file that a link, or `..`, leads out of the folder of `whose`: an error would print its lines.
pub(crate) fn stay_in(folder: &Path, file: &Path, whose: &str) -> Result<(), Failure> {
    if !leads_out(folder, file) {
        return Ok(());
    }
    Err(Failure::Input(format!(
        "{}: a link leads to a file outside of the {whose}'s folder: put a copy of that file in its place",
        file.shown()
    )))
}

/// Reads a scenario file of a folder that has all that it names.
pub(crate) fn document_of(folder: &Path, path: &Path) -> Result<Document, Failure> {
    loaded_in(&text(path)?, path, Arc::clone(registry::laws()), Some(folder))
}

/// Reads a scenario file with `--seed` and `--set`.
pub(crate) fn document(path: &Path, seed: Option<u64>, changes: &Changes) -> Result<Document, Failure> {
    let mut document = loaded(&text(path)?, path, Arc::clone(registry::laws()))?;
    let mut wrong: Option<ReadErrors> = None;
    let mut set = |key: &str, value: &str| {
        if let Err(errors) = document.set(key, value) {
            wrong = Some(match wrong.take() {
                Some(before) => before.and(errors),
                None => errors,
            });
        }
    };
    if let Some(seed) = seed {
        let sets_it = |change: &&String| change.split_once('=').is_some_and(|(key, _)| key.trim() == "seed");
        if let Some(change) = changes.set.iter().find(sets_it) {
            return Err(Failure::Input(format!("--seed {seed} and --set {change}: give the seed once")));
        }
        set("seed", &seed.to_string());
    }
    for change in &changes.set {
        let Some((key, value)) = change.split_once('=') else {
            let what = format!("--set {change}: no `=`; write it as in --set links.bottleneck.rate=\"100 Mbit/s\"");
            return Err(Failure::Input(what));
        };
        set(key.trim(), value.trim());
    }
    match (wrong, document) {
        (None, document) => Ok(document),
        // What is wrong with the file itself is said at once.
        (Some(wrong), document) => Err(match document.cells() {
            Err(errors) => errors.and(wrong).into(),
            Ok(_) => wrong.into(),
        }),
    }
}

/// Changes by `--set`, `KEY=VALUE`.
pub(crate) fn changed_now(changes: &Changes) -> Vec<String> {
    let changed = changes.set.iter().filter_map(|change| change.split_once('='));
    changed.map(|(key, value)| format!("{}={}", key.trim(), value.trim())).collect()
}

/// Differences from the scenario's file, `KEY=VALUE`: those of the record that is named for one, and those
/// changed now.
pub(crate) fn changes(path: &Path, now: &[String]) -> Result<Vec<String>, Failure> {
    let wrong = |why: String| Failure::Input(format!("{}: {why}", path.shown()));
    let mut changes = Vec::new();
    if is_record(path) {
        changes = match read_header(&bytes(path).map_err(wrong)?) {
            // Records of the first format do not say.
            Err(RecordError::Format(1)) => Vec::new(),
            header => header.map_err(|e| wrong(causes(&e)))?.provenance.changes,
        };
    }
    changes.extend_from_slice(now);
    Ok(changes)
}

/// The cells of a document. Settings that change nothing in any of them are worth a note.
pub(crate) fn cells(document: &Document) -> Result<Vec<Cell>, Failure> {
    let cells = until_stopped(document)?;
    let mut idle = Idle::default();
    for cell in &cells {
        idle.add(cell);
    }
    idle.note();
    Ok(cells)
}

/// Settings that change nothing in any of the cells so far: their keys, and why. None before the first cell.
#[derive(Debug, Default)]
pub(crate) struct Idle(Option<Vec<(String, &'static str)>>);

impl Idle {
    /// Adds a cell.
    pub(crate) fn add(&mut self, cell: &Cell) {
        match &mut self.0 {
            // With none left there is nothing to look for.
            Some(all) if all.is_empty() => {}
            Some(all) => {
                let these = idle(&cell.scenario);
                all.retain(|each| these.contains(each));
            }
            None => self.0 = Some(idle(&cell.scenario)),
        }
    }

    /// Prints a note of each.
    pub(crate) fn note(&self) {
        for (key, why) in self.0.iter().flatten() {
            terminal::note(format!("note: {key}: {why}, so it has no effect"));
        }
    }
}

/// The cells of a document, of which there may be thousands, unless the user stops the command meanwhile.
pub(crate) fn until_stopped(document: &Document) -> Result<Vec<Cell>, Failure> {
    document.cells_while(&|| !interrupt::stopped())?.ok_or(Failure::Stopped)
}

/// The name of a file without folders and ending; of a record, that of the file it came from.
pub(crate) fn stem(path: &Path) -> String {
    let record = std::path::absolute(path).ok().filter(|_| is_record(path));
    if is_stdin(path) {
        return STDIN.to_owned();
    }
    let name = match record.as_deref().and_then(Path::parent) {
        Some(record) => record.file_name().unwrap_or_default().to_string_lossy(),
        None => path.file_stem().unwrap_or_default().to_string_lossy(),
    };
    // `NAME-seed1`, or `NAME-seed1-2` where that was taken.
    let is_seed = |text: &str| text.bytes().all(|b| b.is_ascii_digit() || b == b'-');
    let seedless = name.rsplit_once("-seed").filter(|(_, seed)| record.is_some() && is_seed(seed));
    let stem = crate::folder::slug(seedless.map_or(&name, |(stem, _)| stem));
    if stem.is_empty() { "scenario".into() } else { stem }
}

/// Refuses `--awake` where no world waits for real packets; `remedy` is the option that adds one.
pub(crate) fn refuse_awake(awake: bool, linux: bool, remedy: &str) -> Result<(), Failure> {
    if awake && !linux {
        let why = format!("--awake: only the Linux world waits for real packets; add {remedy}, or leave --awake out");
        return Err(Failure::Input(why));
    }
    Ok(())
}

/// The world of that name, one of several, of which the Linux world keeps processors awake where that is requested.
pub(crate) fn one_world(name: WorldName, awake: bool) -> Result<Box<dyn World + Sync>, Failure> {
    world_with(name, Generator::Own, awake && name == WorldName::Linux)
}

/// The world of that name, and the traffic requested there.
pub(crate) fn world_with(name: WorldName, generator: Generator, awake: bool) -> Result<Box<dyn World + Sync>, Failure> {
    refuse_awake(awake, name == WorldName::Linux, "--world linux")?;
    match (name, generator) {
        (_, Generator::Own) if !awake => world(name),
        #[cfg(target_os = "linux")]
        (WorldName::Linux, other) => {
            let generator = match other {
                Generator::Own => penstock_linux::run::Generator::Own,
                Generator::Iperf3 => penstock_linux::run::Generator::Iperf3,
                Generator::Quic => penstock_linux::run::Generator::Quic,
            };
            Ok(Box::new(penstock_linux::run::Linux { generator, awake }))
        }
        #[cfg(not(target_os = "linux"))]
        (WorldName::Linux, _) => world(name),
        (WorldName::Packets | WorldName::Fluid, other) => {
            let which = if other == Generator::Quic { "quic" } else { "iperf3" };
            Err(Failure::Input(format!("--generator: {which} sends real packets; add --world linux")))
        }
    }
}

/// The world of that name.
#[cfg_attr(target_os = "linux", expect(clippy::unnecessary_wraps, reason = "elsewhere there is a world less"))]
pub(crate) fn world(name: WorldName) -> Result<Box<dyn World + Sync>, Failure> {
    match name {
        WorldName::Packets => Ok(Box::new(Packets)),
        WorldName::Fluid => Ok(Box::new(Fluid::default())),
        #[cfg(target_os = "linux")]
        WorldName::Linux => Ok(Box::new(penstock_linux::run::Linux::default())),
        #[cfg(not(target_os = "linux"))]
        WorldName::Linux => Err(Failure::Machine("this is not Linux: run it on a Linux machine".into())),
    }
}
