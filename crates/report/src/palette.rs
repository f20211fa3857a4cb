//! Colours of lines: a law's own where it is free, otherwise one that a colour-blind reader can tell from the others.

/// Colours for lines that have none of their own: Okabe and Ito's set without its yellow, which is too light for a line on
/// white, in an order that keeps neighbours apart.
pub const PALETTE: [&str; 8] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#444444", "#7b3fa0"];

/// Two colours nearer than this look alike as thin lines.
const ALIKE: f64 = 90.0;

/// One colour a line: the wanted one if no line before has it or one like it, otherwise the first of the palette that no
/// line has or wants.
///
/// ```
/// let colours = penstock_report::palette::assign(&[Some("#c1440e"), Some("#c1440e"), None]);
/// assert_eq!(colours[0], "#c1440e");
/// assert_ne!(colours[1], colours[0]);
/// assert_ne!(colours[2], colours[1]);
/// ```
pub fn assign(wanted: &[Option<&str>]) -> Vec<String> {
    let mut given: Vec<Option<(u8, u8, u8)>> = vec![None; wanted.len()];
    let mut used: Vec<(u8, u8, u8)> = Vec::new();
    for (slot, colour) in given.iter_mut().zip(wanted) {
        if let Some(colour) = colour.and_then(parse)
            && !used.iter().any(|u| distance(*u, colour) < ALIKE)
        {
            *slot = Some(colour);
            used.push(colour);
        }
    }
    for slot in given.iter_mut().filter(|s| s.is_none()) {
        let colour = free(&used);
        *slot = Some(colour);
        used.push(colour);
    }
    given.into_iter().map(|c| hex(c.unwrap_or(GREY))).collect()
}

/// What stands in for a colour that is not one.
pub(crate) const GREY: (u8, u8, u8) = (0x77, 0x77, 0x77);

/// `#rrggbb` as numbers.
pub(crate) fn parse(colour: &str) -> Option<(u8, u8, u8)> {
    let digits = colour.strip_prefix('#').filter(|d| d.len() == 6 && d.bytes().all(|b| b.is_ascii_hexdigit()))?;
    let part = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).ok();
    Some((part(0)?, part(2)?, part(4)?))
}

fn hex((r, g, b): (u8, u8, u8)) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

/// The first palette colour unlike all used ones; when they are used up, the one used least often.
fn free(used: &[(u8, u8, u8)]) -> (u8, u8, u8) {
    let palette = || PALETTE.iter().filter_map(|c| parse(c));
    palette().find(|c| !used.iter().any(|u| distance(*u, *c) < ALIKE)).unwrap_or_else(|| {
        palette().min_by_key(|c| used.iter().filter(|u| distance(**u, *c) < ALIKE).count()).unwrap_or(GREY)
    })
}

/// Distance between colours as the eye weighs them, 0 to 765 ("redmean", T. Riemersma).
fn distance(a: (u8, u8, u8), b: (u8, u8, u8)) -> f64 {
    let mean = f64::midpoint(a.0 as f64, b.0 as f64);
    let d = |x: u8, y: u8| (x as f64 - y as f64) * (x as f64 - y as f64);
    let sum = (2.0 + mean / 256.0) * d(a.0, b.0) + 4.0 * d(a.1, b.1) + (2.0 + (255.0 - mean) / 256.0) * d(a.2, b.2);
    sum.sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_palette_is_told_apart() {
        for (i, a) in PALETTE.iter().enumerate() {
            for b in &PALETTE[i + 1..] {
                let d = distance(parse(a).unwrap(), parse(b).unwrap());
                assert!(d >= ALIKE, "{a} {b}: {d}");
            }
        }
    }

    #[test]
    fn every_law_of_the_registry_has_a_colour_that_is_one() {
        for entry in penstock_law::cc::CONTROLLERS {
            assert!(parse(entry.colour).is_some(), "{}: {}", entry.name, entry.colour);
        }
    }

    #[test]
    fn a_colour_that_is_none_is_replaced() {
        let colours = assign(&[Some("red\" onload=\"x"), Some("#12345"), None]);
        assert!(colours.iter().all(|c| parse(c).is_some()), "{colours:?}");
    }

    #[test]
    fn more_lines_than_colours_still_get_one() {
        let colours = assign(&[None; 20]);
        assert_eq!(colours.len(), 20);
        assert_eq!(colours.iter().collect::<std::collections::BTreeSet<_>>().len(), PALETTE.len());
    }
}
