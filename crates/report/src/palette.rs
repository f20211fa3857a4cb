//! Colours of lines: a law's own where it is free, otherwise one that a colour-blind reader can distinguish from the others.
//!
//! Every colour has a contrast of at least [`LEAST_CONTRAST`] with its background, on white and on the dark page.

/// Colours for lines that have none of their own, in an order that keeps neighbours apart: Okabe and Ito's, without those
/// that are too light for a line on white (WCAG 2.2, 1.4.11), and darker ones instead.
pub const PALETTE: [&str; 8] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#6e4a00", "#4a90d9", "#444444", "#7b3fa0"];

/// Counterpart of each colour of [`PALETTE`] on a dark page.
const PALETTE_ON_DARK: [&str; 8] =
    ["#3f9fe0", "#f07a28", "#1fbf8f", "#e58cc0", "#d9b44a", "#8fd0ff", "#c8c8c8", "#a878d8"];

/// Colours of a heat map, from the smallest number to the largest: words in black are legible on each.
pub(crate) const RAMP: [&str; 6] = ["#eef3fa", "#d2e4f3", "#b5d5ed", "#98c5e6", "#7cb6df", "#5fa8d8"];

/// Counterpart of each colour of [`RAMP`] on a dark page, on which the words are light.
pub(crate) const RAMP_ON_DARK: [&str; 6] = ["#1c2730", "#1f3447", "#21415e", "#244e76", "#265b8d", "#2968a4"];

/// The background of figures.
pub const LIGHT_GROUND: &str = "#ffffff";
/// The background of figures on a dark page.
pub const DARK_GROUND: &str = "#171c20";

/// The contrast that WCAG 2.2 requires of graphics (1.4.11).
pub const LEAST_CONTRAST: f64 = 3.0;

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

/// The contrast of two colours, 1 to 21, as WCAG 2.2 defines it; 1 where one is not a colour.
///
/// ```
/// use penstock_report::palette::contrast;
/// assert!((contrast("#000000", "#ffffff") - 21.0).abs() < 1e-9);
/// ```
pub fn contrast(a: &str, b: &str) -> f64 {
    let (Some(a), Some(b)) = (parse(a), parse(b)) else { return 1.0 };
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

/// The colour that stands for `colour` on a dark page: the one of the palette that is meant for it, or a lighter one of
/// the same hue.
pub fn on_dark(colour: &str) -> String {
    if let Some(at) = PALETTE.iter().position(|c| c.eq_ignore_ascii_case(colour)) {
        return PALETTE_ON_DARK[at].to_owned();
    }
    let (r, g, b) = parse(colour).unwrap_or(GREY);
    // Mixed with white, one per cent at a time, until it is well above what is asked.
    let mixed = |percent: u32| {
        let part = |c: u8| (u32::from(c) + (255 - u32::from(c)) * percent / 100) as u8;
        hex((part(r), part(g), part(b)))
    };
    (0..=100).map(mixed).find(|c| contrast(c, DARK_GROUND) >= 1.5 * LEAST_CONTRAST).unwrap_or_else(|| mixed(100))
}

/// Relative luminance, 0 to 1 (WCAG 2.2).
fn luminance((r, g, b): (u8, u8, u8)) -> f64 {
    let linear = |c: u8| {
        let c = f64::from(c) / 255.0;
        if c <= 0.04045 { c / 12.92 } else { libm::pow((c + 0.055) / 1.055, 2.4) }
    };
    0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b)
}

/// Replaces a colour that is not one.
pub(crate) const GREY: (u8, u8, u8) = (0x77, 0x77, 0x77);

/// `#rrggbb` as numbers.
pub(crate) fn parse(colour: &str) -> Option<(u8, u8, u8)> {
    let digits = colour.strip_prefix('#').filter(|d| d.len() == 6 && d.bytes().all(|b| b.is_ascii_hexdigit()))?;
    let part = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).ok();
    Some((part(0)?, part(2)?, part(4)?))
}

pub(crate) fn hex((r, g, b): (u8, u8, u8)) -> String {
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
        for palette in [PALETTE, PALETTE_ON_DARK] {
            for (i, a) in palette.iter().enumerate() {
                for b in &palette[i + 1..] {
                    let d = distance(parse(a).unwrap(), parse(b).unwrap());
                    assert!(d >= ALIKE, "{a} {b}: {d}");
                }
            }
        }
    }

    #[test]
    fn every_colour_stands_out_on_white_and_on_the_dark_page() {
        let registry = penstock_law::Registry::standard();
        let laws = registry.shown().map(|law| (law.name, law.colour));
        for (name, colour) in laws.chain(PALETTE.iter().map(|c| ("palette", *c))) {
            assert!(parse(colour).is_some(), "{name}: {colour}");
            let (light, dark) = (contrast(colour, LIGHT_GROUND), contrast(&on_dark(colour), DARK_GROUND));
            assert!(light >= LEAST_CONTRAST, "{name}: {colour} has {light:.2} on white");
            assert!(dark >= LEAST_CONTRAST, "{name}: {} has {dark:.2} on the dark page", on_dark(colour));
        }
    }

    #[test]
    fn contrast_is_that_of_wcag() {
        assert!((contrast("#777777", "#ffffff") - 4.48).abs() < 0.01);
        assert!((contrast("#e69f00", "#ffffff") - 2.25).abs() < 0.01, "a colour that was in the palette");
        assert_eq!(contrast("red", "#ffffff"), 1.0);
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
