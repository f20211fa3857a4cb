//! Distributions of transfer sizes, which a scenario names.
//!
//! Two were measured. They come from the simulations of pFabric (M. Alizadeh et al., "pFabric: Minimal Near-Optimal Datacenter Transport", SIGCOMM
//! 2013, section 5.1), whose scripts for ns-2 have them in packets of 1460 B. Other simulators repeat the same points.
//!
//! The third, `video-chunks`, is of our own making: 4 s of video at each of the rates that Netflix had for every title until 2015
//! (A. Aaron et al., "Per-Title Encode Optimization", Netflix Technology Blog, 2015), all equally often.

/// Sizes and the share of transfers that are no larger.
type Points = &'static [(f64, f64)];

/// The packet of pFabric's points [B].
const PACKET: f64 = 1460.0;

/// By name, with the unit of a size of one [B].
const KNOWN: [(&str, f64, Points); 3] =
    [("data-mining", PACKET, DATA_MINING), ("video-chunks", CHUNK, VIDEO_CHUNKS), ("web-search", PACKET, WEB_SEARCH)];

/// The bytes of 4 s at 1 kbit/s.
const CHUNK: f64 = 4.0 * 1000.0 / 8.0;

/// Rates [kbit/s]. The mean is 1.0 MB.
const VIDEO_CHUNKS: Points = &[
    (235.0, 0.1),
    (375.0, 0.1),
    (375.0, 0.2),
    (560.0, 0.2),
    (560.0, 0.3),
    (750.0, 0.3),
    (750.0, 0.4),
    (1050.0, 0.4),
    (1050.0, 0.5),
    (1750.0, 0.5),
    (1750.0, 0.6),
    (2350.0, 0.6),
    (2350.0, 0.7),
    (3000.0, 0.7),
    (3000.0, 0.8),
    (4300.0, 0.8),
    (4300.0, 0.9),
    (5800.0, 0.9),
    (5800.0, 1.0),
];

/// Measured in a cluster for web search (M. Alizadeh et al., "Data Center TCP (DCTCP)", SIGCOMM 2010, figure 4). The mean is 1.7 MB;
/// three transfers in ten have more than 1 MB, and 95 % of the bytes.
const WEB_SEARCH: Points = &[
    (0.0, 0.0),
    (6.0, 0.15),
    (13.0, 0.2),
    (19.0, 0.3),
    (33.0, 0.4),
    (53.0, 0.53),
    (133.0, 0.6),
    (667.0, 0.7),
    (1333.0, 0.8),
    (3333.0, 0.9),
    (6667.0, 0.97),
    (20_000.0, 1.0),
];

/// Measured in a cluster for data mining (A. Greenberg et al., "VL2: A Scalable and Flexible Data Center Network", SIGCOMM 2009,
/// figure 2). Half of the transfers are one packet, and the mean is 7.5 MB.
const DATA_MINING: Points = &[
    (1.0, 0.0),
    (1.0, 0.5),
    (2.0, 0.6),
    (3.0, 0.7),
    (7.0, 0.8),
    (267.0, 0.9),
    (2107.0, 0.95),
    (66_667.0, 0.99),
    (666_667.0, 1.0),
];

/// The same rates, as a scenario has them.
pub(crate) const LADDER: &str = r#"["235 kbit/s", "375 kbit/s", "560 kbit/s", "750 kbit/s", "1.05 Mbit/s", "1.75 Mbit/s", "2.35 Mbit/s", "3 Mbit/s", "4.3 Mbit/s", "5.8 Mbit/s"]"#;
/// In bit/s.
pub(crate) const RATES: [u64; 10] =
    [235_000, 375_000, 560_000, 750_000, 1_050_000, 1_750_000, 2_350_000, 3_000_000, 4_300_000, 5_800_000];

/// The names.
pub(crate) const NAMES: [&str; 3] = [KNOWN[0].0, KNOWN[1].0, KNOWN[2].0];

/// The points of a distribution by its name: bytes, and the share of transfers that are no larger.
pub(crate) fn known(name: &str) -> Option<Vec<(f64, f64)>> {
    let (_, one, points) = KNOWN.iter().find(|(known, ..)| *known == name)?;
    Some(points.iter().map(|(size, share)| (size * one, *share)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The means that pFabric's scripts state: 1138 and 5117 packets.
    #[test]
    fn means_are_those_of_the_source() {
        for (name, mean) in [("web-search", 1138.0), ("data-mining", 5117.0)] {
            let points = known(name).unwrap();
            let part = |w: &[(f64, f64)]| (w[1].1 - w[0].1) * f64::midpoint(w[0].0, w[1].0) / PACKET;
            let sum: f64 = points.windows(2).map(part).sum();
            assert!((sum / mean - 1.0).abs() < 0.003, "{name}: {sum}");
        }
        assert_eq!(known("other"), None);
    }

    /// Chunks have the ten sizes of their rates and no other, each as often as the next.
    #[test]
    fn video_chunks_are_four_seconds_of_each_rate() {
        let points = known("video-chunks").unwrap();
        let jumps = points.windows(2).filter(|w| w[1].1 > w[0].1);
        let mut sizes: Vec<f64> = vec![points[0].0];
        for jump in jumps {
            assert!(jump[0].0 == jump[1].0 && (jump[1].1 - jump[0].1 - 0.1).abs() < 1e-12, "{jump:?}");
            sizes.push(jump[0].0);
        }
        assert_eq!(sizes, RATES.map(|rate| rate as f64 * 4.0 / 8.0));
        let printed =
            RATES.map(|rate| format!("\"{}\"", crate::quantity::print_rate(penstock_law::quantity::Rate(rate))));
        assert_eq!(LADDER, format!("[{}]", printed.join(", ")));
    }
}
