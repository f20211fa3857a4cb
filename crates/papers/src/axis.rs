//! Values of a swept key as positions along an axis.

/// Prefixes of units and what they multiply by.
const PREFIXES: &[(&str, f64)] =
    &[("", 1.0), ("k", 1e3), ("M", 1e6), ("G", 1e9), ("T", 1e12), ("m", 1e-3), ("u", 1e-6), ("n", 1e-9)];

/// What the prefixes stand before.
const BASES: &[&str] = &["bit/s", "s", "B"];

/// The number in `text`, counted in `unit`; without a unit of the axis, the plain number.
pub(crate) fn position(text: &str, unit: Option<&str>) -> Option<f64> {
    let text = text.trim();
    let end = text.find(|c: char| c.is_whitespace()).unwrap_or(text.len());
    let number: f64 = text[..end].parse().ok()?;
    let own = text[end..].trim();
    let position = match unit {
        Some(unit) if own == unit => number,
        Some(unit) => {
            let ((factor, base), (per, wanted)) = (split(own)?, split(unit)?);
            if base != wanted {
                return None;
            }
            // Dividing by a whole number keeps `10 Gbit/s` in Mbit/s exact; multiplying by its inverse would not.
            if per > factor { number / (per / factor) } else { number * (factor / per) }
        }
        None => number,
    };
    position.is_finite().then_some(position)
}

fn split(unit: &str) -> Option<(f64, &str)> {
    PREFIXES.iter().find_map(|(prefix, factor)| {
        let base = unit.strip_prefix(prefix)?;
        BASES.contains(&base).then_some((*factor, base))
    })
}

/// The order of two values of a key: as numbers where both are, otherwise none.
pub(crate) fn rank(text: &str) -> Option<f64> {
    let own = text.trim().split_once(char::is_whitespace).map(|(_, unit)| unit.trim());
    let base = own.and_then(split).map(|(_, base)| base);
    position(text, base)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_become_positions_in_the_unit_of_the_axis() {
        assert_eq!(position("155 Mbit/s", Some("Mbit/s")), Some(155.0));
        assert_eq!(position("10 Gbit/s", Some("Mbit/s")), Some(10_000.0));
        assert_eq!(position("40 ms", Some("s")), Some(0.04));
        assert_eq!(position("50 packets", Some("packets")), Some(50.0));
        assert_eq!(position("7", None), Some(7.0));
        assert_eq!(position("40 ms", Some("Mbit/s")), None);
        assert_eq!(position("FAST", None), None);
    }

    #[test]
    fn rank_looks_through_prefixes() {
        assert!(rank("2.4 Gbit/s") > rank("622 Mbit/s"));
        assert!(rank("100 ms") < rank("1 s"));
        assert_eq!(rank("NewReno/RED"), None);
    }
}
