//! Every command on the pages, typed: its words are read as the command reads them, it ends with the status that it
//! should, what the page shows of its output is what it prints, and files that the page names are there afterwards.

#[path = "../../src/arguments.rs"]
#[allow(dead_code, unreachable_pub, unused_imports)]
mod arguments;
mod page;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{self, Stdio};
use std::sync::Mutex;
use std::{env, fs, thread};

use clap::Parser;

use arguments::Arguments;
use page::{Command, Page};

/// The line typed for a command that takes long, or has words that stand for others.
enum Typed {
    /// The same with these words behind it.
    With(&'static str),
    /// This.
    As(&'static str),
    /// `penstock check` of each file that it names.
    Checked,
    /// Nothing, for that reason; its words are read all the same.
    Nothing(&'static str),
}

use Typed::{As, Checked, Nothing, With};

const FEW: &str = "--set duration='20 ms' --set warmup='0 s' --set sample='10 ms' --set flows.ftp.count=1000";
const GATED: &str = "printf '[gate]\n\"EV-35.stable\" = [0, 1]\n' > gate.toml && \
                     penstock evaluate fast --only EV-35 --gate gate.toml";
const SHORT: &str = "--set duration='2 s' --set warmup='1 s'";
const SEARCHED: &str = "penstock break vegas --objective unsafe --space fixed --budget 2";

/// By the beginning of a command, the longest that fits.
const TYPED: &[(&str, Typed)] = &[
    // A search takes minutes; crates/cli/tests/suite/search.rs has a short one, and replays.
    ("penstock break", As(SEARCHED)),
    ("penstock break --list", With("")),
    ("penstock break --replay", Nothing("crates/cli/tests/suite/search.rs replays what is on record")),
    ("penstock analyze FILE --stability-map X Y", Nothing("docs/use.md has one with keys and values")),
    (
        "penstock analyze scenarios/two-bottlenecks.toml --map-points 3 --stability-map 'flows.long.rtt=50..500 ms' 'flows.long.count=[5, 50]'",
        As(
            "penstock analyze scenarios/two-bottlenecks.toml --map-points 2 --stability-map 'flows.long.rtt=50..500 ms' 'flows.long.count=[5]'",
        ),
    ),
    ("penstock check FILE", As("penstock check scenarios/two-way.toml")),
    ("penstock compare FILE", As("penstock compare scenarios/ccpd.toml")),
    ("penstock compare scenarios/fast-aqm-fig8.toml", With("--set links.bottleneck.rate='50 Mbit/s' --step '10 ms'")),
    ("penstock compare scenarios/early-marking.toml", With("--set duration='6 s' --set warmup='2 s'")),
    ("penstock compare scenarios/web.toml --laws", With(SHORT)),
    (
        "penstock compare a.toml b.toml",
        As("penstock compare scenarios/two-way.toml scenarios/hosts.toml --set duration='2 s' --set warmup='1 s'"),
    ),
    (
        "penstock show",
        As("penstock run scenarios/two-way.toml -q --set duration='2 s' --set warmup='1 s' && penstock show out"),
    ),
    // docs/use.md has both worlds of it.
    (
        "penstock compare scenarios/fast-aqm-fig8.toml --set defaults",
        As("penstock check scenarios/fast-aqm-fig8.toml --set defaults.flows.cc.taubar='\"500 ms\"'"),
    ),
    // The criteria of a law take minutes; what is analysed and not run takes no time.
    ("penstock evaluate", As("penstock evaluate fast --quick --only EV-35")),
    ("penstock evaluate --list", With("")),
    (
        "penstock evaluate LAW --quick --only ID --battery",
        As("penstock evaluate fast --quick --only EV-35 --battery evaluation"),
    ),
    ("penstock evaluate codel", As("penstock evaluate codel --quick --only AQ-14")),
    ("penstock evaluate fast --only EV-04,EV-12 --gate", As(GATED)),
    ("penstock evaluate fast --quick --only EV-35", With("")),
    ("penstock evaluate '{", With("--quick --only EV-35")),
    ("penstock laws NAME", As("penstock laws fast")),
    ("penstock man DIR", As("penstock man man1")),
    ("penstock examples NAME", As("penstock examples bufferbloat")),
    ("penstock paper KEY", Nothing("it writes verdicts on record")),
    // A paper takes minutes, and crates/cli/tests/suite/paper.rs has runs of papers: what a command names is listed.
    ("penstock paper", With("--list")),
    ("penstock play", Nothing("it serves until somebody ends it; crates/cli/tests/suite/play.rs asks it")),
    ("penstock run RECORD", Nothing("docs/use.md runs a record again")),
    ("penstock run my.toml", With(SHORT)),
    ("penstock run scenarios/100000-flows.toml", With(FEW)),
    ("penstock run scenarios/fast-aqm-fig8.toml --world fluid", With("")),
    ("penstock run scenarios", With(SHORT)),
    ("penstock sweep evaluation/scenarios", With(SHORT)),
    // Minutes of simulated time, which take seconds in the command of the tests.
    ("penstock sweep scenarios/household.toml", With(SHORT)),
    ("penstock sweep scenarios/web.toml", With(SHORT)),
    ("penstock sweep search/known/K30", With(SHORT)),
    // Their flows start late, or their windows end late.
    ("penstock run scenarios/today/ledbat-", With("")),
    ("penstock run scenarios/today/nada.toml", With("")),
    ("penstock sweep scenarios/today", With("--set sweep.seed.count=1")),
    ("penstock sweep scenarios/today/search.toml", With("")),
    // Ten seeds of minutes each.
    (
        "penstock sweep scenarios/today/allegro.toml",
        With("--set sweep.seed.count=1 --set duration='2 s' --set warmup='1 s'"),
    ),
    (
        "penstock sweep scenarios/today/vivace.toml",
        With("--set sweep.seed.count=1 --set duration='2 s' --set warmup='1 s'"),
    ),
    (
        "penstock run out/newreno-red-622-seed1/record.toml",
        As("penstock run out/newreno-red-622-duration-2-s-warmup-1-s-seed1/record.toml --out again"),
    ),
    // Without changes, which the record would have in its name: pages go on with `out/two-way-seed1`.
    ("penstock run scenarios/two-way.toml", With("")),
    ("penstock report --csv DIR", As("penstock run scenarios/two-way.toml && penstock report --csv out/two-way-seed1")),
    // docs/use.md has a run of it.
    ("penstock run --world fluid scenarios/fast-aqm-fig8.toml", As("penstock check scenarios/fast-aqm-fig8.toml")),
    ("penstock run --world fluid papers/fast-aqm/fig8.toml", As("penstock check papers/fast-aqm/fig8.toml")),
    ("penstock sweep FILE", Nothing("crates/cli/tests/suite/sweep.rs has shards, and dataset.rs datasets")),
    (
        "/usr/bin/time -f \"%U user %S sys %M KB\" penstock sweep FILE",
        Nothing("crates/cli/tests/suite/dataset.rs has datasets"),
    ),
    // Sweeps of papers take minutes and hours; that their files are scenarios is checked.
    ("penstock run papers/", Checked),
    ("penstock sweep papers/", Checked),
    ("nohup penstock sweep FILE", Nothing("crates/cli/tests/suite/sweep.rs has hang-ups")),
];

/// Blocks of what is printed, by their first words: what prints them, and which of their lines it does not.
const SHOWN: &[(&str, &str, &[&str])] = &[(
    "capacity case utilization",
    "penstock paper fast-tcp/fig1 --short",
    // Longer runs of the same figure, which `make demo` has.
    &["1244 Mbit/s", "10000 Mbit/s"],
)];

/// Pages that say what was, or what others shall write.
const NOT_READ: &[&str] = &["CHANGELOG.md"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn pages() -> BTreeMap<String, Page> {
    fn walk(folder: &Path, name: &str, found: &mut BTreeMap<String, Page>) {
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let file = entry.file_name().into_string().unwrap();
            let path = if name.is_empty() { file.clone() } else { format!("{name}/{file}") };
            if entry.file_type().unwrap().is_dir() {
                if file != "node_modules" && !(name.is_empty() && [".git", "target", "out"].contains(&file.as_str())) {
                    walk(&entry.path(), &path, found);
                }
            } else if Path::new(&file).extension().is_some_and(|ending| ending == "md")
                && !NOT_READ.contains(&path.as_str())
            {
                found.insert(path, page::read(&fs::read_to_string(entry.path()).unwrap()));
            }
        }
    }
    let mut found = BTreeMap::new();
    walk(&root(), "", &mut found);
    found
}

/// A directory with what the repository has that commands name, and the command in its path.
struct Desk {
    home: tempfile::TempDir,
}

impl Desk {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        for folder in ["scenarios", "papers", "vectors", "evaluation", "search", "failures"] {
            std::os::unix::fs::symlink(root().join(folder), home.path().join(folder)).unwrap();
        }
        Self { home }
    }

    fn has(&self, path: &str) -> bool {
        self.home.path().join(path).exists()
    }

    /// Types a line: its status and what it printed.
    fn types(&self, line: &str) -> (i32, String, String) {
        let command = Path::new(env!("CARGO_BIN_EXE_penstock")).parent().unwrap().to_path_buf();
        let before = env::var_os("PATH").unwrap_or_default();
        let path = env::join_paths(core::iter::once(command).chain(env::split_paths(&before))).unwrap();
        let mut shell = process::Command::new("sh");
        shell.args(["-c", line]).current_dir(self.home.path()).env("PATH", path).env_remove("COLUMNS");
        let done = shell.stdin(Stdio::null()).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        (done.status.code().unwrap(), text(&done.stdout), text(&done.stderr))
    }
}

/// The line typed for a command, or the reason why there is none.
fn typed(command: &Command) -> Result<String, String> {
    let words = command.words();
    let line = command.line.strip_prefix("sudo ").unwrap_or(&command.line);
    if command.is_mention() {
        return Ok(format!("penstock {} --help", words[1..].join(" ")));
    }
    if words[1] == "linux" || words.iter().any(|word| word.split(',').any(|part| part == "linux")) {
        return Err("it needs root and the kernel; crates/cli/tests/linux.rs and attach.rs have such runs".to_owned());
    }
    let rule = TYPED.iter().filter(|(begins, _)| line.starts_with(begins)).max_by_key(|(begins, _)| begins.len());
    match rule {
        Some((_, With("--list"))) if words.contains(&"--list".to_owned()) => Ok(line.to_owned()),
        // The list is of figures, and not of how they are run.
        Some((_, With("--list"))) => Ok(format!("penstock paper {} --list", words[2])),
        Some((_, With(more))) => Ok(format!("{line} {more}")),
        Some((_, As(other))) => Ok((*other).to_owned()),
        Some((_, Checked)) => {
            let files = words.iter().filter(|word| word.starts_with("papers/"));
            Ok(files.map(|file| format!("penstock check {file}")).collect::<Vec<_>>().join(" && "))
        }
        Some((_, Nothing(why))) => Err((*why).to_owned()),
        None if command.is_pattern() => Ok(format!("false # a pattern: say in TYPED what is typed for it: {line}")),
        None => Ok(line.to_owned()),
    }
}

/// Lines that have been typed for some page, of those that neither read nor leave what a page goes on with.
type Typical = Mutex<BTreeSet<String>>;

/// Errors of a page. A line is typed once.
fn faults(name: &str, page: &Page, untyped: &mut Vec<String>, typical: &Typical) -> Vec<String> {
    let desk = Desk::new();
    let mut faults = Vec::new();
    let mut lines = BTreeSet::new();
    for command in &page.commands {
        let words = command.words();
        let abridged = words.iter().any(|word| word.contains("..."));
        if let Err(e) = Arguments::try_parse_from(&words)
            && e.use_stderr()
            && !(command.is_mention() || command.inline && abridged)
        {
            faults.push(format!("{name}: `{}` cannot be read: {e}", command.line));
        }
        match typed(command) {
            Ok(line) => {
                let is_typical = line == SEARCHED || line.ends_with(" --help");
                let mut others = typical.lock().unwrap();
                if !(if is_typical { &mut *others } else { &mut lines }).insert(line.clone()) {
                    continue;
                }
                drop(others);
                let (status, _, err) = desk.types(&line);
                if status != 0 {
                    faults.push(format!("{name}: `{}`, typed as `{line}`: status {status}\n{err}", command.line));
                }
            }
            Err(why) => untyped.push(format!("{name}: `{}`: {why}", command.line)),
        }
    }
    let mut scenario = String::new();
    for text in &page.scenarios {
        match () {
            () if text.contains("duration") => scenario.clone_from(text),
            () if scenario.is_empty() => continue,
            () => scenario = format!("{scenario}\n\n{text}\n"),
        }
        fs::write(desk.home.path().join("mine.toml"), &scenario).unwrap();
        let (status, out, err) = desk.types("penstock check mine.toml");
        if status != 0 {
            faults.push(format!("{name}: a scenario: {err}\n{scenario}"));
        }
        if let Some(cells) = out.strip_prefix("# A sweep of ").and_then(|rest| rest.split(" cells").next()) {
            let page = fs::read_to_string(root().join(name)).unwrap();
            if !page.contains(&format!("{cells} cells")) {
                faults.push(format!("{name}: its sweep has {cells} cells"));
            }
        }
    }
    for shown in &page.shown {
        let fields = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        let Some((_, line, others)) = SHOWN.iter().find(|(begins, ..)| fields(shown).starts_with(begins)) else {
            faults.push(format!("{name}: say in SHOWN what prints\n{shown}"));
            continue;
        };
        let (status, out, err) = desk.types(line);
        let printed: Vec<String> = out.lines().map(fields).collect();
        let expected: Vec<&str> = shown.lines().filter(|l| !others.iter().any(|o| l.starts_with(o))).collect();
        assert!(expected.len() > 1, "{name}: nothing of what it shows is compared");
        for shown in expected.iter().filter(|l| status != 0 || !printed.contains(&fields(l))) {
            faults.push(format!("{name}: `{line}`, status {status}, does not print\n{shown}\n{err}"));
        }
    }
    for file in page.reads.iter().filter(|file| !desk.has(file)) {
        faults.push(format!("{name}: it reads {file}, which no command of it makes"));
    }
    faults
}

/// Pages typed from their first line to their last, each with the fewest lines of output that it shows.
const DIALOGUES: &[(&str, usize)] = &[("docs/tutorial.md", 31), ("docs/how-to/reproduce.md", 10)];

/// What these pages show of each output is there.
#[test]
fn pages_show_what_is_printed() {
    // A page leaves out rows and columns.
    let has = |printed: &str, shown: &str| {
        let mut fields = printed.split_whitespace();
        shown.split_whitespace().all(|wanted| fields.any(|field| field == wanted))
    };
    for (name, least) in DIALOGUES {
        let desk = Desk::new();
        let page = page::read(&fs::read_to_string(root().join(name)).unwrap());
        let (mut compared, mut faults) = (0, Vec::new());
        for (commands, shown) in &page.dialogue {
            let ended: Vec<_> = commands.iter().map(|line| desk.types(line)).collect();
            let (_, out, err) = ended.last().unwrap();
            // Rules of tables are as wide as the terminal has them.
            for line in shown.iter().filter(|line| !line.starts_with('─')) {
                compared += 1;
                if !out.lines().chain(err.lines()).any(|printed| has(printed, line)) {
                    faults.push(format!("{name}: {commands:?} does not print\n{line}\nbut\n{out}"));
                }
            }
        }
        assert!(faults.is_empty(), "{}", faults.join("\n"));
        assert!(compared >= *least, "{name}: {compared} lines");
    }
}

#[test]
fn every_command_of_the_pages_works_as_it_stands() {
    let pages = pages();
    let mut typed: usize = pages.values().map(|page| page.commands.len()).sum();
    // Two people type, each a page at a time.
    let (left, typical) = (Mutex::new(pages.iter()), Typical::default());
    let types = || {
        let (mut found, mut untyped) = (Vec::new(), Vec::new());
        while let Some((name, page)) = { left.lock().unwrap().next() } {
            found.extend(faults(name, page, &mut untyped, &typical));
        }
        (found, untyped)
    };
    let (mut faults_of_all, mut untyped) = thread::scope(|scope| {
        let other = scope.spawn(types);
        let (mut found, mut untyped) = types();
        let more = other.join().unwrap();
        found.extend(more.0);
        untyped.extend(more.1);
        (found, untyped)
    });
    faults_of_all.sort();
    untyped.sort();
    typed -= untyped.len();
    println!("{typed} commands were typed, {} were read only:\n{}", untyped.len(), untyped.join("\n"));
    assert!(typed > 40, "{typed}");
    assert!(faults_of_all.is_empty(), "{}", faults_of_all.join("\n"));
}

#[test]
fn a_command_that_is_wrong_is_noticed() {
    for (text, expected) in [
        ("    penstock run scenarios/nowhere.toml\n", "status 2"),
        ("    penstock report out/two-way\n", "status 2"),
        ("    penstock rum scenarios/two-way.toml\n", "cannot be read"),
        ("    sudo penstock linux attach fast --defualt system\n", "cannot be read"),
        ("Say `penstock analize` and\n", "status 2"),
        ("Say `penstock laws --jason` and\n", "cannot be read"),
        ("    penstock tune SOMETHING\n", "a pattern"),
        ("    pl.read_parquet(\"out/nothing/links.parquet\")\n", "no command of it makes"),
        ("```\nsomething else\n```\n", "what prints"),
        ("```toml\nduration = 5\n```\n", "a scenario"),
    ] {
        let found = faults("page", &page::read(text), &mut Vec::new(), &Typical::default());
        assert!(found.iter().any(|fault| fault.contains(expected)), "{text}: {found:?}");
    }
}

/// Code of a key and a value between back-ticks of `--help` can be copied.
#[test]
fn what_help_shows_can_be_copied() {
    let desk = Desk::new();
    let (_, help, _) = desk.types("penstock analyze --help");
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    let shown: Vec<&str> = help.split('`').skip(1).step_by(2).filter(|code| code.starts_with("KEY=")).collect();
    assert_eq!(shown.len(), 2, "{help}");
    let [x, y] = [0, 1].map(|at: usize| shown[at].replace("KEY", ["flows.long.rtt", "flows.at_first.rtt"][at]));
    let line = format!("penstock analyze scenarios/two-bottlenecks.toml --map-points 2 --stability-map '{x}' '{y}'");
    let (status, out, err) = desk.types(&line.replace("10..300", "50..60").replace("\"10 ms\", ", ""));
    assert_eq!(status, 0, "{line}\n{err}");
    assert!(out.contains("flows.at_first.rtt"), "{out}");
}
