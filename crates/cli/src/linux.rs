//! `penstock linux`: the kernel's side of the laws.

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
        Linux::Replay { vectors } => kernel::replay(vectors.as_deref()),
    }
}

#[cfg(target_os = "linux")]
mod kernel {
    use std::path::Path;

    use penstock_linux::replay::{self, Build, Error, Report};
    use penstock_linux::twins::TWINS;
    use penstock_linux::vectors::Vectors;

    use crate::failure::{Done, Failure};
    use crate::{pages, scenario, terminal};

    /// Says what this kernel can do, and why not.
    pub(super) fn check() -> Result<Done, Failure> {
        let missing = penstock_linux::machine::missing();
        if missing.is_empty() {
            terminal::say("This machine can replay the laws in its kernel: `penstock linux replay`.")?;
            return Ok(Done::Well);
        }
        let lines: Vec<String> = missing.iter().map(|m| format!("  {m}")).collect();
        Err(Failure::Machine(format!("this machine cannot replay the laws in its kernel:\n{}", lines.join("\n"))))
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
