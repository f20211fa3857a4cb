//! `penstock linux`: the emulated path as a tool, what this machine can do, and the kernel's side of the laws.

#[cfg(target_os = "linux")]
mod attach;

use crate::arguments::Linux;
use crate::failure::{Done, Failure};

/// Runs the command.
#[cfg(not(target_os = "linux"))]
pub(crate) fn linux(_: &Linux) -> Result<Done, Failure> {
    Err(Failure::Machine("this is not Linux: run it on a Linux machine, or in a virtual one".into()))
}

/// Runs the command.
#[cfg(target_os = "linux")]
pub(crate) fn linux(command: &Linux) -> Result<Done, Failure> {
    match command {
        Linux::Check => kernel::check(),
        Linux::Path { file, changes, server, command } => kernel::path(file, changes, server.as_deref(), command),
        Linux::Replay { vectors } => kernel::replay(vectors.as_deref()),
        Linux::Attach(arguments) => attach::attach(arguments),
        Linux::Status { json, prometheus, pins } => attach::status(pins, *json, *prometheus),
        Linux::Trace { name, time, pins } => attach::trace(pins, name, time.as_deref()),
        Linux::Detach { name, device, pins } => attach::detach(pins, name.as_deref(), device.as_deref()),
    }
}

#[cfg(target_os = "linux")]
mod kernel {
    use std::ffi::{OsStr, OsString};
    use std::path::Path;

    use penstock_linux::machine::{self, Missing};
    use penstock_linux::replay::{self, Build, Error, Report};
    use penstock_linux::tool::{self, NotRun, Programs};
    use penstock_linux::twins::TWINS;
    use penstock_linux::vectors::Vectors;

    use crate::arguments::Changes;
    use crate::failure::{Done, Failure};
    use crate::{pages, scenario, terminal};

    /// Says what this kernel can do, and why not.
    pub(super) fn check() -> Result<Done, Failure> {
        let (paths, programs) = (machine::missing_for_paths(), machine::missing());
        let mut wrong = Vec::new();
        let mut tell = |what: &str, missing: &[Missing]| {
            if missing.is_empty() {
                return terminal::say(format!("{what}: yes"));
            }
            wrong.extend(missing.iter().map(|m| format!("  {what}: {m}")));
            terminal::say(format!("{what}: no"))
        };
        tell("emulated path (`penstock run --world linux`, `penstock linux path`)", &paths)?;
        tell("laws in the kernel (`penstock linux replay`)", &programs)?;
        tell("controllers in the kernel (`penstock linux attach`)", &penstock_linux::attach::controller::missing())?;
        let scheduling = machine::scheduling();
        terminal::say(match scheduling.as_slice() {
            [] => {
                "priority of the path: none; runs will be milliseconds late, say so, and end with status 4".to_owned()
            }
            some => format!("priority of the path: {}", some.join(", ")),
        })?;
        let ours = penstock_linux::attach::controller::names().join(", ");
        let own = machine::controllers().join(", ");
        terminal::say(format!("controllers of scenarios: {own}; by Penstock: {ours}"))?;
        if wrong.is_empty() {
            return Ok(Done::Well);
        }
        Err(Failure::Machine(format!("this machine cannot do everything:\n{}", wrong.join("\n"))))
    }

    /// Runs a program's traffic over the links of a scenario.
    pub(super) fn path(
        file: &Path,
        changes: &Changes,
        server: Option<&OsStr>,
        command: &[OsString],
    ) -> Result<Done, Failure> {
        let cells = scenario::cells(&scenario::document(file, None, changes)?)?;
        let [cell] = cells.as_slice() else {
            let what =
                format!("{} is a sweep of {} cells; --set KEY=VALUE settles a swept key", file.display(), cells.len());
            return Err(Failure::Input(what));
        };
        let ended = tool::run(&cell.scenario, &Programs { command, server }).map_err(|error| match error {
            NotRun::Program { .. } => Failure::Input(error.to_string()),
            NotRun::Path(error) => Failure::Machine(error.to_string()),
        })?;
        if let Some(status) = ended.server {
            terminal::fail(format!("penstock: the server ended before the command, with status {status}"));
        }
        for what in &ended.error.beyond {
            terminal::fail(format!("penstock: outside the path's stated error: {what}"));
        }
        match ended.status {
            // The command may not have noticed that nobody listened.
            0 if ended.server.is_some_and(|status| status != 0) => {
                Err(Failure::Machine("the server failed, so that the command had nobody to talk to".into()))
            }
            0 if !ended.error.beyond.is_empty() => Ok(Done::Beyond),
            status => Ok(Done::Ended(status)),
        }
    }

    /// Replays every twin's vectors wherever this machine can.
    pub(super) fn replay(vectors: Option<&Path>) -> Result<Done, Failure> {
        let folder = match vectors {
            Some(folder) => folder.to_path_buf(),
            None => scenario::above("vectors", |path| {
                TWINS.iter().all(|twin| path.join(format!("{}.txt", twin.name)).is_file())
            })
            .ok_or_else(|| {
                Failure::Input(
                    "no directory `vectors` is here or above; go into the repository, or name it with --vectors DIR"
                        .into(),
                )
            })?,
        };
        let (mut rows, mut wrong, mut missing) = (Vec::new(), Vec::new(), None);
        for twin in TWINS {
            let file = folder.join(format!("{}.txt", twin.name));
            let shown = file.display().to_string();
            let vectors = Vectors::parse(twin, &shown, &scenario::text(&file)?).map_err(Failure::input)?;
            let mut judged = |report: &Report| {
                if report.holds() {
                    "equal".to_owned()
                } else {
                    wrong.push(report.to_string());
                    format!("{} words wrong", report.mismatches.len())
                }
            };
            let rust = judged(&replay::in_rust(&vectors));
            let native = judged(&replay::natively(Build::Faithful, &vectors));
            let (kernel, cost) = match replay::in_kernel(Build::Faithful, &vectors) {
                Ok(report) => {
                    let cost = report.kernel.map(|k| format!("{:.0}", k.nanoseconds_a_call)).unwrap_or_default();
                    (judged(&report), cost)
                }
                Err(Error::Missing(what)) => {
                    missing = Some(what.to_string());
                    ("not run here".to_owned(), String::new())
                }
                Err(error) => return Err(Failure::Machine(error.to_string())),
            };
            rows.push(vec![twin.name.to_owned(), vectors.len().to_string(), rust, native, kernel, cost]);
        }
        let heads = [
            ("law", false),
            ("vectors", true),
            ("Rust", false),
            ("C, native", false),
            ("C, in the kernel", false),
            ("ns a call there", true),
        ];
        terminal::say(pages::table("", &heads, rows).trim_end())?;
        if !wrong.is_empty() {
            return Err(Failure::Bug(format!("a twin is not its law:\n{}", wrong.join("\n"))));
        }
        missing.map_or(Ok(Done::Well), |what| Err(Failure::Machine(what)))
    }
}
