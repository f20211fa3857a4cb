//! `penstock linux`: the emulated path as a tool, the features of this machine, and the kernel's side of the laws.

#[cfg(target_os = "linux")]
mod attach;
#[cfg(target_os = "linux")]
mod path;

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
        Linux::Path(options) => path::path(options),
        Linux::Replay { vectors } => kernel::replay(vectors.as_deref()),
        Linux::Attach(arguments) => attach::attach(arguments),
        Linux::Status { json, prometheus, pins } => attach::status(pins, *json, *prometheus),
        Linux::Trace { name, time, pins } => attach::trace(pins, name, time.as_deref()),
        Linux::Detach { name, device, pins } => attach::detach(pins, name.as_deref(), device.as_deref()),
    }
}

#[cfg(target_os = "linux")]
mod kernel {
    use std::path::Path;

    use penstock_kernel::attach::{self, Replayed, pins::Pins};
    use penstock_kernel::kernel_laws::KERNEL_LAWS;
    use penstock_kernel::replay::{self, Build, Error, Report};
    use penstock_kernel::vectors::Vectors;
    use penstock_law::aqm::Aqm;
    use penstock_law::cc::Controller;
    use penstock_law::registry::Registered;
    use penstock_law::{Entry, Registry};
    use penstock_linux::run;
    use penstock_machine::{Missing, scheduling};

    use crate::failure::{Done, Failure};
    use crate::named::Shown as _;
    use crate::{pages, program, registry, scenario, terminal};

    /// Lists the features of this kernel, and reasons for the missing ones.
    pub(super) fn check() -> Result<Done, Failure> {
        let (paths, programs) = (penstock_path::missing(), replay::missing());
        let mut wrong = Vec::new();
        let mut tell = |what: &str, missing: &[Missing]| {
            if missing.is_empty() {
                return terminal::say(format!("{what}: yes"));
            }
            wrong.extend(missing.iter().map(|m| format!("  {what}: {m}")));
            terminal::say(format!("{what}: no"))
        };
        let name = program::name();
        tell(&format!("emulated path (`{name} run --world linux`, `{name} linux path`)"), &paths)?;
        tell(&format!("laws in the kernel (`{name} linux replay`)"), &programs)?;
        let attached = attach::missing(&Pins::default());
        tell(&format!("laws attached to the kernel (`{name} linux attach`)"), attached.as_slice())?;
        let allowed = scheduling::allowed();
        terminal::say(match allowed.as_slice() {
            [] => "priority of the path: none; runs will be milliseconds late and end with status 4".to_owned(),
            some => format!("priority of the path: {}", some.join(", ")),
        })?;
        let ours = attach::controller::names().join(", ");
        let own = run::controllers().into_iter();
        let own = own.map(
            |(law, kernels)| {
                if law == kernels { law.to_owned() } else { format!("{law} (the kernel's {kernels})") }
            },
        );
        let own = own.collect::<Vec<_>>().join(", ");
        let (controllers, aqms) = (brought::<Controller>(registry::laws()), brought::<Aqm>(registry::laws()));
        terminal::say(format!("controllers for scenarios: {own}; as programs of Penstock: {ours}{controllers}"))?;
        let ours = attach::tc::names().join(", ");
        terminal::say(format!("AQMs and conditioners for devices, as programs of Penstock: {ours}{aqms}"))?;
        if wrong.is_empty() {
            return Ok(Done::Well);
        }
        Err(Failure::Machine(format!("this machine cannot do everything:\n{}", wrong.join("\n"))))
    }

    /// A law that brings a program.
    enum Own {
        Controller(&'static Entry<Controller>),
        Aqm(&'static Entry<Aqm>),
    }

    /// The laws of a role that bring a program, at the end of a line.
    fn brought<R: Registered>(laws: &Registry) -> String {
        let brought = laws.laws::<R>().iter().filter(|law| law.kernel.is_some());
        let brought: Vec<&str> = brought.map(|law| law.name).collect();
        if brought.is_empty() { String::new() } else { format!("; by this program: {}", brought.join(", ")) }
    }

    /// Replays every kernel implementation's vectors wherever this machine can.
    pub(super) fn replay(vectors: Option<&Path>) -> Result<Done, Failure> {
        let controllers = registry::laws().laws::<Controller>().iter().filter(|law| law.kernel.is_some());
        let aqms = registry::laws().laws::<Aqm>().iter().filter(|law| law.kernel.is_some());
        let controllers = controllers.map(|law| (law.name, Own::Controller(law)));
        let own: Vec<_> = controllers.chain(aqms.map(|law| (law.name, Own::Aqm(law)))).collect();
        let found = || {
            scenario::above("vectors", |path| {
                KERNEL_LAWS.iter().all(|kernel_law| path.join(format!("{}.txt", kernel_law.name)).is_file())
            })
        };
        let folder = vectors.map(Path::to_path_buf).or_else(found);
        if folder.is_none() && own.is_empty() {
            return Err(Failure::Input(
                "no directory `vectors` here or in a parent directory; make one by `penstock init lab --vectors` and \
                 change to `lab`, or name it with --vectors DIR"
                    .into(),
            ));
        }
        let files = folder.iter().flat_map(|folder| KERNEL_LAWS.iter().map(move |kernel_law| (kernel_law, folder)));
        // All are read before the first is replayed, which takes seconds.
        let read = files.map(|(kernel_law, folder)| {
            let file = folder.join(format!("{}.txt", kernel_law.name));
            let vectors = Vectors::parse(kernel_law, &file.shown(), &scenario::text(&file)?).map_err(Failure::input)?;
            Ok((kernel_law, vectors))
        });
        let read = read.collect::<Result<Vec<_>, Failure>>()?;
        let (mut rows, mut wrong, mut missing) = (Vec::new(), Vec::new(), None);
        for (kernel_law, vectors) in read {
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
            rows.push(vec![kernel_law.name.to_owned(), vectors.len().to_string(), rust, native, kernel, cost]);
        }
        let (mut wrong_of_own, mut failed) = (Vec::new(), Vec::new());
        for (name, law) in own {
            let replayed = match law {
                Own::Controller(law) => attach::controller::replay(law),
                Own::Aqm(law) => attach::tc::replay(law),
            };
            let (steps, kernel, cost) = match replayed {
                Ok(Some(Replayed { steps, wrong: None, nanoseconds_a_step })) => {
                    (steps, "equal".to_owned(), format!("{nanoseconds_a_step:.0}"))
                }
                Ok(Some(Replayed { steps, wrong: Some(wrong), .. })) => {
                    wrong_of_own.push(format!("`{name}`: {wrong}"));
                    (steps, "wrong".to_owned(), String::new())
                }
                Ok(None) => (0, "it has no replay".to_owned(), String::new()),
                Err(attach::Error::Missing(what)) => {
                    missing = Some(what.to_string());
                    (0, "not run here".to_owned(), String::new())
                }
                Err(error) => {
                    failed.push(Failure::from(error));
                    (0, "not run".to_owned(), String::new())
                }
            };
            rows.push(vec![name.to_owned(), steps.to_string(), "the law".to_owned(), String::new(), kernel, cost]);
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
        let mut failures = Vec::new();
        if !wrong.is_empty() {
            failures.push(Failure::Bug(format!(
                "a kernel implementation (in C) gives other results than its law (in Rust):\n{}",
                wrong.join("\n")
            )));
        }
        if !wrong_of_own.is_empty() {
            let what =
                format!("a kernel program gives other results than its law (in Rust):\n{}", wrong_of_own.join("\n"));
            failures.push(Failure::Law(what));
        }
        failures.extend(failed);
        failures.extend(missing.map(Failure::Machine));
        let mut failures = failures.into_iter();
        let first = failures.next();
        failures.for_each(|other| terminal::failed(&other));
        first.map_or(Ok(Done::Well), Err)
    }
}
