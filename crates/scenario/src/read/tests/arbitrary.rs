//! No text stops the program.

use proptest::prelude::*;

use super::*;

proptest! {
    #[test]
    fn no_bytes_stop_the_program(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = cells(&String::from_utf8_lossy(&bytes));
    }

    /// Pieces of the format in any order, well formed now and then.
    #[test]
    fn no_mixture_of_lines_stops_the_program(
        lines in proptest::collection::vec(0..LAB.lines().count() + EVERYTHING.lines().count(), 0..60),
    ) {
        let all: Vec<_> = LAB.lines().chain(EVERYTHING.lines()).collect();
        let text: String = lines.iter().flat_map(|at| [all[*at], "\n"]).collect();
        let _ = cells(&text);
    }

    #[test]
    fn no_mutation_stops_the_program(
        which in 0..4usize,
        cuts in proptest::collection::vec((any::<prop::sample::Index>(), 0..12usize, any::<prop::sample::Index>()), 1..4),
    ) {
        const PIECES: &[&str] = &[
            "", "0", "-1", "1e308", "nan", "inf", "[]", "{}", "\"", "\"\"", "unlimited", "99999999999999999999999999", "\n", "= ",
            "automatic", "1e999999 s", "true", "[[", "]]", ".", "#", "9999 h", "\u{0}", "packets", "-0.0", "0x7f",
        ];
        let mut text = [LAB.to_owned(), PARKING_LOT.to_owned(), format!("{LAB}{SWEEP}"), EVERYTHING.to_owned()][which].clone();
        for (at, length, piece) in cuts {
            let from = at.index(text.len());
            let from = (0..=from).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
            let to = (from + length).min(text.len());
            let to = (to..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
            text.replace_range(from..to, PIECES[piece.index(PIECES.len())]);
            if text.is_empty() {
                return Ok(());
            }
        }
        // Whatever can be read can also be printed and read again.
        for cell in cells(&text).unwrap_or_default().iter().take(2) {
            assert_round_trip(&cell.scenario);
        }
    }

    #[test]
    fn no_setting_stops_the_program(key in "(links|flows|sweep|seed|duration|defaults)(\\.[a-z\"'./]{0,12}){0,3}", value in "\\PC{0,20}") {
        let mut document = Document::parse(PARKING_LOT, "lab.toml").unwrap();
        let _ = document.set(&key, &value).map(|()| document.cells());
    }
}
