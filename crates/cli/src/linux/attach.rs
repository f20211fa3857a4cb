//! `penstock linux attach`, `status` and `detach`.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::fmt::Write;

use penstock_kernel::attach::controller::{self, Record};
use penstock_kernel::attach::pins::Pins;
use penstock_kernel::attach::{self, Attached, Direction, Error, Place, Request, Scope, Which};
use penstock_machine::clock::Clock;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::arguments::{Attach, DirectionName, Pinned, ScopeName};
use crate::failure::{Done, Failure};
use crate::{interrupt, pages, registry, terminal};

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            Error::Input(what) => Self::Input(what),
            other => Self::Machine(other.to_string()),
        }
    }
}

fn pins(pinned: &Pinned) -> Pins {
    Pins::at(&pinned.pins)
}

/// Puts a law into the kernel.
pub(super) fn attach(arguments: &Attach) -> Result<Done, Failure> {
    let place = match &arguments.device {
        None => Place::Sockets {
            default: arguments.default.map(|scope| match scope {
                ScopeName::Namespace => Scope::Namespace,
                ScopeName::System => Scope::System,
            }),
            trace: arguments.trace,
        },
        Some(name) => Place::Device {
            name,
            direction: arguments.direction.map(|direction| match direction {
                DirectionName::Egress => Direction::Egress,
                DirectionName::Ingress => Direction::Ingress,
            }),
        },
    };
    let request = Request { laws: registry::laws(), name: &arguments.name, place, settings: &arguments.set };
    let attached = attach::attach(&pins(&arguments.pins), &request)?;
    for note in &attached.notes {
        terminal::note(format!("note: {note}"));
    }
    terminal::say(format!("{} is attached: {}", attached.name, attached.place))?;
    Ok(Done::Well)
}

/// Lists the attached laws.
pub(super) fn status(pinned: &Pinned, json: bool, prometheus: bool) -> Result<Done, Failure> {
    let pins = pins(pinned);
    let all = attach::status(&pins)?;
    if json {
        terminal::say_json(&all.iter().map(View::of).collect::<Vec<_>>())?;
    } else if all.is_empty() {
        terminal::say(format!("{}nothing is attached{}", if prometheus { "# " } else { "" }, reason(&pins)))?;
    } else if prometheus {
        terminal::say(exposition(&all).trim_end())?;
    } else {
        terminal::say(listed(&all).trim_end())?;
    }
    Ok(Done::Well)
}

/// Why there is nothing, where that is not that everything was detached.
fn reason(pins: &Pins) -> &'static str {
    if pins.is_bare() { ": no BPF file system is mounted here; `attach` mounts it" } else { "" }
}

/// Takes laws out of the kernel.
pub(super) fn detach(pinned: &Pinned, name: Option<&str>, device: Option<&str>) -> Result<Done, Failure> {
    let pins = pins(pinned);
    let detached = attach::detach(&pins, Which { name, device })?;
    for note in &detached.notes {
        terminal::note(format!("note: {note}"));
    }
    terminal::say(if detached.gone.is_empty() {
        format!("nothing was attached{}", reason(&pins))
    } else {
        format!("detached: {}", detached.gone.join(", "))
    })?;
    Ok(Done::Well)
}

/// Prints the outputs of a controller.
pub(super) fn trace(pinned: &Pinned, name: &str, time: Option<&str>) -> Result<Done, Failure> {
    let time = time.map(penstock_scenario::quantity::time).transpose();
    let time = time.map_err(|e| Failure::Input(format!("--time: {e}")))?;
    interrupt::watch()?;
    let clock = Clock::start();
    let closed = Cell::new(None);
    let (begun, gone) = (Cell::new(false), Cell::new(false));
    let say = |line: String| {
        if let (false, Err(failure)) = (gone.get(), terminal::say(line)) {
            closed.set(Some(failure));
            gone.set(true);
        }
    };
    let each = |r: &Record| {
        let Record { time_us, local_port, remote_port, delivered, in_flight, acked, marked, .. } = r;
        let counts = format!("{time_us},{local_port},{remote_port},{delivered},{in_flight},{acked},{marked}");
        let line = format!("{counts},{:.6},{:.9},{:.9},{:.9}", r.window, r.rtt_s, r.base_rtt_s, r.price_or_capacity);
        say(line);
    };
    // The columns are named once it is known that there is something to trace.
    let more = || {
        if !begun.replace(true) {
            say("time_us,local_port,remote_port,delivered_packets,in_flight_packets,acked_packets,marked_packets,\
                 window_packets,rtt_s,base_rtt_s,price_or_capacity"
                .to_owned());
        }
        !gone.get() && !interrupt::stopped() && time.is_none_or(|time| clock.now() < time)
    };
    controller::trace(&pins(pinned), name, each, more)?;
    closed.take().map_or(Ok(Done::Well), Err)
}

/// An attachment for programs.
#[derive(Debug, Serialize)]
struct View<'a> {
    name: &'a str,
    kind: &'a str,
    place: &'a str,
    pin: &'a str,
    parameters: Map<String, Value>,
    figures: Map<String, Value>,
    notes: &'a [String],
}

impl<'a> View<'a> {
    fn of(attached: &'a Attached) -> Self {
        let Attached { name, kind, place, pin, parameters, figures, notes } = attached;
        let parameters = parameters.iter().map(|(name, value)| (name.clone(), value.clone().into())).collect();
        let figures = figures.iter().map(|figure| (figure.name.clone(), figure.value.into())).collect();
        View { name, kind, place, pin, parameters, figures, notes }
    }
}

fn listed(all: &[Attached]) -> String {
    let mut text = String::new();
    for attached in all {
        let parameters = attached.parameters.iter().map(|(name, value)| format!("{name} = {value}"));
        let parameters = parameters.collect::<Vec<_>>().join(", ");
        let _ = writeln!(text, "{} ({}): {}", attached.name, attached.kind, attached.place);
        let rows: Vec<_> =
            attached.figures.iter().map(|figure| vec![figure.what.clone(), short(figure.value)]).collect();
        if !rows.is_empty() {
            let _ = writeln!(text, "  {parameters}");
            for line in pages::table("", &[("figure", false), ("value", true)], rows).lines() {
                let _ = writeln!(text, "  {line}");
            }
        }
        for note in &attached.notes {
            let _ = writeln!(text, "  {note}");
        }
        text.push('\n');
    }
    text
}

fn short(value: f64) -> String {
    if value.fract() == 0.0 { format!("{value}") } else { format!("{value:.1}") }
}

/// The text format of Prometheus, version 0.0.4.
fn exposition(all: &[Attached]) -> String {
    let mut text = String::new();
    let figures = all.iter().flat_map(|attached| attached.figures.iter());
    let names: BTreeSet<&str> = figures.clone().map(|figure| figure.name.as_str()).collect();
    for name in names {
        let Some(figure) = figures.clone().find(|figure| figure.name == name) else { continue };
        let (suffix, kind) = if figure.counter { ("_total", "counter") } else { ("", "gauge") };
        let _ = writeln!(text, "# HELP penstock_{name}{suffix} {}", figure.what);
        let _ = writeln!(text, "# TYPE penstock_{name}{suffix} {kind}");
        for attached in all {
            for figure in attached.figures.iter().filter(|figure| figure.name == name) {
                let (law, pin) = (escaped(&attached.name), escaped(&attached.pin));
                let _ = writeln!(text, "penstock_{name}{suffix}{{law=\"{law}\",pin=\"{pin}\"}} {}", figure.value);
            }
        }
    }
    text
}

/// A value of a label.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use penstock_kernel::attach::Figure;

    fn attached(pin: &str, acks: f64) -> Attached {
        let figure = |name: &str, what: &str, counter, value| Figure {
            name: name.to_owned(),
            what: what.to_owned(),
            counter,
            value,
        };
        Attached {
            name: "fast".into(),
            kind: "controller",
            place: "sockets".into(),
            pin: pin.into(),
            parameters: vec![("alpha".into(), "50 packets".into())],
            figures: vec![
                figure("acks", "acknowledgements", true, acks),
                figure("sockets", "sockets that have it", false, 2.0),
            ],
            notes: Vec::new(),
        }
    }

    #[test]
    fn prometheus_gets_each_name_once_with_a_line_an_attachment() {
        let text = exposition(&[attached("a", 7.0), attached("b\"", 8.5)]);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines,
            [
                "# HELP penstock_acks_total acknowledgements",
                "# TYPE penstock_acks_total counter",
                "penstock_acks_total{law=\"fast\",pin=\"a\"} 7",
                "penstock_acks_total{law=\"fast\",pin=\"b\\\"\"} 8.5",
                "# HELP penstock_sockets sockets that have it",
                "# TYPE penstock_sockets gauge",
                "penstock_sockets{law=\"fast\",pin=\"a\"} 2",
                "penstock_sockets{law=\"fast\",pin=\"b\\\"\"} 2",
            ]
        );
    }

    #[test]
    fn a_program_finds_figures_by_name() {
        let all = [attached("a", 7.0)];
        let value = serde_json::to_value(View::of(&all[0])).unwrap();
        assert_eq!((&value["figures"]["acks"], &value["parameters"]["alpha"]), (&7.0.into(), &"50 packets".into()));
    }
}
