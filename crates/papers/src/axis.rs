//! Values of a swept key as positions along an axis.

use penstock_scenario::quantity;

/// The number that `text` stands for, in its base unit, and that unit; none where it is a word.
pub fn position(text: &str) -> Option<(f64, &'static str)> {
    if let Ok(number) = text.trim().parse::<f64>() {
        return number.is_finite().then_some((number, ""));
    }
    let rate = quantity::rate(text).ok().map(|r| (r.bit_per_s(), "bit/s"));
    let time = || quantity::time(text).ok().map(|t| (t.seconds(), "s"));
    let bytes = || quantity::bytes(text).ok().map(|b| (b.0 as f64, "B"));
    let packets = || quantity::packets(text).ok().map(|p| (p as f64, "packets"));
    rate.or_else(time).or_else(bytes).or_else(packets)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_become_positions_in_their_base_unit() {
        assert_eq!(position("155 Mbit/s"), Some((155e6, "bit/s")));
        assert_eq!(position("40 ms"), Some((0.04, "s")));
        assert_eq!(position("8 MB"), Some((8e6, "B")));
        assert_eq!(position("50 packets"), Some((50.0, "packets")));
        assert_eq!(position("7"), Some((7.0, "")));
        assert_eq!(position("NewReno/RED"), None);
    }
}
