//! Controllers that an entry of the registry brings: their parameters, and whether the object is one.

use penstock_law::cc::{Controller, Marks, Requirements};
use penstock_law::{Fix, KernelProgram, Number};
use penstock_scenario::model::Chosen;

use super::words::{ProgramParameters, RequirementWords, SITE};
use crate::attach::error::Error;
use crate::attach::object::is_object;

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
    Ok(ProgramParameters { words, requires_ecn, requirements: Some(requirements(&needs)) })
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
    if let Some(what) = needs.of_packets() {
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
    fn no_program_has_the_fate_of_each_packet() {
        for wanted in [
            Requirements { delivery: true, ..Requirements::LEAST },
            Requirements { fractions: true, ..Requirements::LEAST },
        ] {
            let refused = requirements(&wanted).unwrap_err();
            assert!(refused.contains(wanted.of_packets().unwrap()) && refused.contains("--world packets"), "{refused}");
        }
        assert!(requirements(&Requirements::LEAST).is_ok());
    }
}
