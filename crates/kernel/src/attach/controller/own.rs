//! Controllers that an entry of the registry brings: their parameters, and whether the object is one.

use penstock_law::cc::{Controller, Delivery, DeliveryEvent, Marks, Requirements, Timing, Transmission};
use penstock_law::{Fix, Instances, KernelProgram, Number};
use penstock_scenario::model::Chosen;

use super::steps::{Call, Step};
use super::words::{ProgramParameters, RequirementWords, SITE};
use crate::attach::error::Error;
use crate::attach::object::is_object;
use crate::attach::trail::{Draws, Trails};

/// The parameters in the form that the program takes.
pub(super) fn words(
    chosen: &Chosen<Controller>,
    program: &KernelProgram<Controller>,
) -> Result<ProgramParameters, Error> {
    let name = chosen.law.name;
    is_object(name, program.object)?;
    let refused = |why: String| Error::Input(format!("the law `{name}` cannot run with these parameters: {why}"));
    let fixed = chosen.law.fixed.ok_or_else(|| refused("its entry has no `fixed`".to_owned()))?;
    let needs = fixed(&chosen.values, &SITE).map_err(refused)?.requirements();
    for (required, what) in [
        (!needs.reliable, "a sender without acknowledgements"),
        (needs.low_latency, "packets with ECT(1)"),
        (needs.kernel, "a controller that is the kernel's own"),
    ] {
        if required {
            return Err(refused(format!("it requires {what}, which no kernel program provides")));
        }
    }
    let words = program.parameter_words(&chosen.values, &SITE).map_err(refused)?;
    let requires_ecn = matches!(needs.marks, Marks::Price(_) | Marks::Counted);
    let mut words_of_needs = requirements(&needs);
    if needs.delivery && words_of_needs.is_ok() {
        let build = || fixed(&chosen.values, &SITE);
        if let Some(what) = unmeasured_part(&needs, &build).map_err(refused)? {
            words_of_needs = Err(format!("it uses {what}, which cc/controller.h does not provide: use cc/host.h"));
        }
    }
    Ok(ProgramParameters { words, requires_ecn, requirements: Some(words_of_needs), delivery: needs.delivery })
}

/// Builds the law once more.
type Build<'a> = &'a dyn Fn() -> Result<Box<dyn Instances<Fix<32>, Controller>>, String>;

/// The first part of deliveries without a place in bpf/cc/observation.h that the law uses on a trail.
fn unmeasured_part(needs: &Requirements, build: Build<'_>) -> Result<Option<&'static str>, String> {
    type Change = fn(&mut Delivery, &mut Draws);
    fn then(delivery: &mut Delivery) -> Option<&mut Transmission> {
        let DeliveryEvent::Ack(ack) = &mut delivery.event else { return None };
        ack.rate.as_mut().map(|rate| &mut rate.then)
    }
    let all: [(&'static str, Change); 5] = [
        ("events of `on_detail` other than acknowledgements", |delivery, draws| {
            let lost = Transmission {
                sent: delivery.now,
                delivered: draws.below(delivery.delivered + 1),
                lost: delivery.lost,
                in_flight: 1 + draws.below(delivery.in_flight + 1),
                app_limited: draws.below(2) == 0,
            };
            delivery.event = [
                DeliveryEvent::Lost(lost),
                DeliveryEvent::RecoveryEntered,
                DeliveryEvent::RecoveryRenewed,
                DeliveryEvent::RecoveryLeft,
                DeliveryEvent::RecoveryUndone,
                DeliveryEvent::Timeout,
                DeliveryEvent::TimeoutUndone,
                DeliveryEvent::Timer,
                DeliveryEvent::IdleRestart,
            ][draws.below(9) as usize];
        }),
        ("what limits its window (`window_limited`)", |delivery, _| delivery.window_limited = !delivery.window_limited),
        ("random draws (`uniform`)", |delivery, draws| delivery.uniform = draws.part()),
        ("losses before a packet was sent (`then.lost`)", |delivery, draws| {
            if let Some(then) = then(delivery) {
                then.lost = draws.below(1 << 20);
            }
        }),
        ("packets in flight when a packet was sent (`then.in_flight`)", |delivery, draws| {
            if let Some(then) = then(delivery) {
                then.in_flight = draws.below(1 << 20);
            }
        }),
    ];
    let trail = Controller::steps(needs, &SITE, &mut Draws::new());
    for (what, change) in all {
        let mut draws = Draws::new();
        if differs(&trail, build, |delivery| change(delivery, &mut draws))? {
            return Ok(Some(what));
        }
    }
    let mut law = build()?;
    let at = law.add();
    for step in &trail {
        Controller::call(law.as_mut(), at, &step.event, &step.observation);
        if law.timing(at, &step.observation) != Timing::default() {
            return Ok(Some("a timer or a send quantum (`timing`)"));
        }
    }
    Ok(None)
}

/// True if the law's output or its state differs where each delivery is another. One that is another event comes besides.
fn differs(trail: &[Step], build: Build<'_>, mut change: impl FnMut(&mut Delivery)) -> Result<bool, String> {
    let mut laws = [build()?, build()?];
    let at = laws.each_mut().map(|law| law.add());
    for step in trail {
        let mut other = step.event;
        if let Call::Delivery(delivery) = &mut other {
            change(delivery);
            if !matches!(delivery.event, DeliveryEvent::Ack(_)) {
                Controller::call(laws[1].as_mut(), at[1], &other, &step.observation);
                other = step.event;
            }
        }
        let output = Controller::call(laws[0].as_mut(), at[0], &step.event, &step.observation);
        let instead = Controller::call(laws[1].as_mut(), at[1], &other, &step.observation);
        let mut numbers = [Vec::new(), Vec::new()];
        for ((law, at), numbers) in laws.iter_mut().zip(at).zip(&mut numbers) {
            law.each(at, &mut |number| numbers.push(number.0));
        }
        if (output.window, output.gap_s) != (instead.window, instead.gap_s) || numbers[0] != numbers[1] {
            return Ok(true);
        }
    }
    Ok(false)
}

/// `struct requirements`, or the name of a measurement that bpf/cc/controller.h does not make.
fn requirements(needs: &Requirements) -> Result<RequirementWords, String> {
    let unmeasured = [
        (matches!(needs.marks, Marks::Price(_)), "a price"),
        (matches!(needs.marks, Marks::Counted), "counts of marks"),
        (needs.now, "the time since the start"),
        (needs.bottleneck.is_some(), "the state of its bottleneck"),
        (needs.flight_size, "the data in flight at a loss"),
        (needs.retransmit_on_duplicates, "a retransmission for each duplicate acknowledgement"),
    ];
    if let Some(what) = (Requirements { delivery: false, ..*needs }).of_packets() {
        return Err(format!("it requires {what}, which no kernel program provides: run it with `--world packets`"));
    }
    if let Some((_, what)) = unmeasured.iter().find(|(required, _)| *required) {
        return Err(format!(
            "it requires {what}, which cc/controller.h does not measure: use cc/host.h, and measure it"
        ));
    }
    let number = |x: f64| Fix::<32>::of(x).0;
    let [over_window, most] =
        needs.average_rtt.map_or([0; 2], |average| [number(average.over_window), number(average.most)]);
    let period_us = needs.tick_s.map_or(0.0, |period_s| (period_s * 1e6).round());
    if needs.tick_s.is_some() && !(1.0..=LONGEST_PERIOD_US).contains(&period_us) {
        return Err("its period is not within 1 us and 35 minutes".to_owned());
    }
    Ok([over_window, most, period_us as i64, i64::from(needs.marks == Marks::Congestion)])
}

/// The program measures periods by the lower half of the kernel's clock; half of that separates before from after.
const LONGEST_PERIOD_US: f64 = 2_100e6;

/// Checks that the kernel can hold a name.
pub(super) fn fits_the_kernel(name: &str, room: usize) -> Result<(), Error> {
    if name.len() < room {
        return Ok(());
    }
    let (length, most) = (name.len(), room - 1);
    Err(Error::Input(format!(
        "`{name}` has {length} characters, and a controller of the kernel {most} at most: rename the law"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_period_is_one_that_the_program_can_measure() {
        let words = |tick_s| requirements(&Requirements { tick_s: Some(tick_s), ..Requirements::LEAST });
        assert_eq!(words(0.01).unwrap()[2], 10_000);
        for beyond in [0.0, 1e-7, 3600.0, f64::NAN] {
            assert!(words(beyond).unwrap_err().contains("within 1 us and 35 minutes"));
        }
    }

    #[test]
    fn no_program_has_a_window_below_two_packets_as_a_rate() {
        for delivery in [false, true] {
            let wanted = Requirements { fractions: true, delivery, ..Requirements::LEAST };
            let refused = requirements(&wanted).unwrap_err();
            assert!(refused.contains("windows below two packets") && refused.contains("--world packets"), "{refused}");
            assert!(requirements(&Requirements { fractions: false, ..wanted }).is_ok());
        }
    }
}
