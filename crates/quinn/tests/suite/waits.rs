//! The times from arrival to answer of both ends of quinn on the emulated path, as `bench/waits.py` prints them for this file:
//! docs/quinn.md says what they contain. The times are above the 0.5 % quantile. A time that fewer than ten answers exceed says little:
//! in its place is the longest that ten exceed. The server had too few answers at 20 Mbit/s with CoDel: its times are those with
//! drop-tail.

use crate::laboratory::Waits;

/// The client and the server of a law, with so many Mbit/s, and CoDel or not.
pub(crate) fn waits(law: &str, rate_mbit_per_s: f64, codel: bool) -> [Waits; 2] {
    match (law, rate_mbit_per_s as u32, codel) {
        ("newreno", 100, true) => [
            &[1.9, 15.8, 32.6, 49.7, 71.1, 111.1, 173.1, 309.5, 396.9, 596.9, 1033.1, 1033.1],
            &[0.5, 5.5, 9.2, 14.4, 23.3, 35.4, 48.9, 186.1, 278.2, 428.0, 428.0, 428.0],
        ],
        ("cubic", 100, true) => [
            &[0.8, 9.3, 20.1, 40.1, 62.6, 102.0, 161.5, 290.5, 378.6, 648.1, 1144.4, 1144.4],
            &[0.2, 4.4, 8.2, 14.7, 25.4, 38.4, 62.0, 190.4, 283.9, 504.6, 987.6, 987.6],
        ],
        ("bbr3", 20, false) => [
            &[2.9, 10.3, 15.4, 23.5, 44.8, 68.4, 85.8, 145.8, 192.1, 368.8, 368.8, 368.8],
            &[0.2, 3.4, 6.8, 12.0, 22.4, 36.1, 46.1, 70.5, 88.3, 88.3, 88.3, 88.3],
        ],
        ("bbr3", 20, true) => [
            &[6.1, 17.2, 24.2, 40.0, 58.4, 77.3, 93.8, 164.5, 225.0, 390.6, 390.6, 390.6],
            &[0.2, 3.4, 6.8, 12.0, 22.4, 36.1, 46.1, 70.5, 88.3, 88.3, 88.3, 88.3],
        ],
        ("bbr3", 100, false) => [
            &[1.8, 17.2, 33.5, 53.5, 80.7, 169.4, 233.1, 285.9, 372.0, 614.1, 1063.7, 1063.7],
            &[0.3, 5.3, 9.9, 17.3, 29.3, 56.3, 79.6, 247.0, 289.4, 492.9, 492.9, 492.9],
        ],
        ("bbr3", 100, true) => [
            &[2.0, 14.7, 31.3, 50.7, 81.1, 156.4, 239.8, 385.0, 513.0, 807.6, 1186.2, 1186.2],
            &[0.3, 3.9, 8.6, 19.0, 30.4, 62.5, 119.9, 299.5, 414.6, 656.6, 656.6, 656.6],
        ],
        ("copa", 100, false) => [
            &[1.4, 21.4, 37.0, 54.2, 78.3, 166.9, 232.2, 273.9, 352.0, 596.5, 1700.4, 1700.4],
            &[0.4, 5.3, 9.5, 15.2, 24.4, 42.6, 68.8, 180.1, 254.4, 397.2, 397.2, 397.2],
        ],
        ("copa", 100, true) => [
            &[0.6, 7.5, 17.6, 40.2, 64.3, 103.5, 164.4, 303.0, 392.6, 580.1, 972.8, 972.8],
            &[0.2, 3.1, 7.3, 15.5, 25.5, 41.7, 63.6, 184.7, 275.0, 418.0, 418.0, 418.0],
        ],
        _ => panic!("nobody has measured {law} at {rate_mbit_per_s} Mbit/s, CoDel {codel}"),
    }
}
