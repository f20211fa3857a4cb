//! The response of a loop to cross traffic, as tables and figures.

use penstock_fluid::disturbance::{Disturbance, Gains, StepPoint};

use crate::figure::{Axis, Figure, Line, Mark};
use crate::number::{quantity, short};
use crate::page::{Column, TableView};
use crate::palette;

/// The gains of each link, and its step response as numbers.
pub(super) fn tables(of: &[Disturbance]) -> Vec<TableView> {
    let mut gains = TableView::new(
        "Disturbance response: gains from cross traffic at a queue, as a share of the link\u{2019}s rate. With a gain of \
         20 ms, cross traffic of 10 % adds 2 ms.",
        vec![
            Column::words("Link"),
            Column::words("Response"),
            Column::numbers("Static gain", ""),
            Column::numbers("Peak gain", ""),
            Column::numbers("Peak at", "rad/s"),
        ],
    );
    let mut steps = TableView::new(
        "Queueing delay after a step of cross traffic, as gains",
        vec![
            Column::words("Link"),
            Column::numbers("Largest change", ""),
            Column::numbers("After", ""),
            Column::numbers("Last change", ""),
            Column::numbers("Settled within 5 % after", ""),
        ],
    );
    for one in of {
        let mut add = |response: &str, g: &Gains, unit: &str| {
            let (still, peak) = (quantity(g.static_gain, unit, 3), quantity(g.peak_gain, unit, 3));
            gains.rows.push(vec![one.link.clone(), response.to_owned(), still, peak, short(g.peak_rad_per_s, 3)]);
        };
        add("queueing delay", &one.delay_s, "s");
        add("rate of all flows", &one.rate, "");
        if one.classes.len() > 1 {
            for class in &one.classes {
                let row = [one.link.clone(), format!("rate of `{}`", class.name), short(class.static_gain, 3)];
                gains.rows.push(row.into());
            }
        }
        let waits = one.delay_s.peak_gain > 0.0;
        if let Some(step) = one.step.as_ref().filter(|_| waits) {
            steps.rows.push(vec![
                one.link.clone(),
                quantity(step.delay_peak_s, "s", 3),
                quantity(step.delay_peak_at_s, "s", 3),
                quantity(one.delay_s.static_gain, "s", 3),
                quantity(step.delay_settled_at_s, "s", 3),
            ]);
        }
    }
    let mut tables = vec![gains, steps];
    tables.retain(|table| !table.rows.is_empty());
    tables
}

/// The gains over frequency, and the step response of delay and rate.
pub(super) fn figures(of: &[Disturbance]) -> Vec<Figure> {
    let frequency = || Axis::new("Frequency", "rad/s").log();
    let time = || Axis::new("Time after the step", "s");
    let shared = "Cross traffic counts as a share of the link\u{2019}s rate.";
    let mut gain = Figure::new("Gain from cross traffic to queueing delay", frequency(), Axis::new("Gain", "s").log())
        .captioned(shared);
    let mut rate =
        Figure::new("Gain from cross traffic to the rate of the flows", frequency(), Axis::new("Gain", "").log())
            .captioned("At a gain of one, the flows give way to all of the cross traffic.");
    let mut delay_step =
        Figure::new("Queueing delay after a step of cross traffic", time(), Axis::new("Change", "s")).captioned(shared);
    let mut rate_step = Figure::new("Rate of the flows after a step of cross traffic", time(), Axis::new("Change", ""))
        .captioned(
            "Arrivals at the link, averaged over a twentieth of the longest round trip. At -1 the flows give way.",
        );
    for one in of {
        let along = |of: fn(&Disturbance) -> Vec<(f64, f64)>| Line::new(one.link.clone(), of(one));
        let waits = one.delay_s.peak_gain > 0.0;
        if waits {
            gain.lines.push(along(|d| d.frequency.iter().map(|p| (p.frequency_rad_per_s, p.delay_s)).collect()));
        }
        rate.lines.push(along(|d| d.frequency.iter().map(|p| (p.frequency_rad_per_s, p.rate)).collect()));
        let Some(step) = &one.step else { continue };
        let over = |value: fn(&StepPoint) -> f64| {
            Line::new(one.link.clone(), step.points.iter().map(|p| (p.time_s, value(p))).collect())
        };
        if waits {
            delay_step.lines.push(over(|p| p.delay_s));
        }
        rate_step.lines.push(over(|p| p.rate));
    }
    rate.marks = vec![Mark::Horizontal { at: 1.0, label: String::new() }];
    rate_step.marks = vec![Mark::Horizontal { at: -1.0, label: String::new() }];
    let mut figures = vec![delay_step, rate_step, gain, rate];
    figures.retain(|figure| !figure.is_empty());
    for figure in &mut figures {
        let colours = palette::assign(&vec![None; figure.lines.len()]);
        for (line, colour) in figure.lines.iter_mut().zip(colours) {
            line.colour = colour;
        }
    }
    figures
}
