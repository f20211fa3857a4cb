//! What undoes a cut, and what does not.

use super::{Ends, MS};
use penstock_scenario::model::RackOptions;

/// Ten packets are out, and all but the first so many arrive, with those sent meanwhile up to transmission 11.
fn without(first: usize) -> Ends {
    let mut ends = Ends::new(RackOptions { prr: false, ..RackOptions::ALL }, 10.0);
    ends.send(0);
    for tx in first..12 {
        ends.arrive(tx, 100 * MS + tx as u64);
        ends.send(100 * MS + tx as u64);
    }
    ends
}

/// A duplicate of an original, or long after recovery, undoes nothing.
#[test]
fn only_duplicates_of_retransmissions_undo() {
    let mut ends = Ends::new(RackOptions::ALL, 10.0);
    ends.send(0);
    for tx in 1..10 {
        ends.arrive(tx, 100 * MS);
        ends.send(100 * MS);
    }
    assert!(!ends.arrive(3, 101 * MS).spurious, "a copy of an original");
    let again = ends.sent.iter().rposition(|seq| *seq == 0).unwrap();
    for tx in 10..ends.sent.len() {
        ends.arrive(tx, 200 * MS);
    }
    ends.send(200 * MS);
    ends.arrive(ends.sent.len() - 1, 300 * MS);
    assert!(!ends.arrive(again, 301 * MS).spurious, "a round after recovery");
    assert_eq!(ends.undone, 0);
}

/// Segments 0 and 12 come late, where the latter lies beyond the end of the first recovery: duplicate SACKs of what was sent again undo each of the two cuts, the
/// second one too, which began with a retransmission in flight and nothing lost since.
#[test]
fn a_recovery_that_begins_with_a_retransmission_in_flight_can_be_undone() {
    let ends = without(1);
    assert_eq!((ends.cuts, &ends.sent[12..15]), (1, &[0, 12, 13][..]));
    // Segment 12 is sent again, and arrives after the recovery, twice.
    for original_first in [true, false] {
        let mut ends = without(1);
        ends.arrive(14, 200 * MS + 20);
        let mended = ends.send(200 * MS + 20);
        assert!(mended.contains(&12), "{mended:?}");
        let again = ends.sent.iter().rposition(|seq| *seq == 12).unwrap();
        let outcome = ends.arrive(12, 200 * MS + 30);
        assert!(outcome.lost && !outcome.losses, "{outcome:?}");
        assert_eq!((ends.cuts, ends.undone, ends.data.una), (2, 0, 12));
        let [first, second] = if original_first { [13, again] } else { [again, 13] };
        assert!(!ends.arrive(first, 300 * MS).spurious);
        assert!(ends.arrive(second, 300 * MS + 1).spurious, "{original_first}");
        // The retransmission, which was sent last, has overtaken those before it that this test keeps.
        let kept = u32::from(!original_first);
        assert_eq!((ends.cuts, ends.undone), (2 + kept, 1 - kept));
    }
}

/// Segments 0 and 1 are lost, and the path copies a packet of new data, or one retransmission twice: that undoes nothing.
#[test]
fn copies_by_the_path_undo_nothing() {
    let mut ends = without(2);
    let again = [0, 1].map(|lost| ends.sent.iter().rposition(|seq| *seq == lost).unwrap());
    assert_eq!((ends.cuts, again), (1, [12, 13]));
    for tx in [14, 14, 12, 12, 12] {
        assert!(!ends.arrive(tx, 200 * MS).spurious, "{tx}");
    }
    assert_eq!(ends.undone, 0);
    assert!(ends.arrive(13, 200 * MS).covered > 0);
}

/// A segment came late and was sent again. Its duplicate SACK undoes the cut, unless the acknowledgement that began the recovery also
/// echoed a mark: then Linux does not give the window back.
#[test]
fn a_loss_beside_a_mark_is_not_undone() {
    for marked in [false, true] {
        let mut ends = Ends::new(RackOptions::ALL, 10.0);
        ends.marked = marked;
        ends.send(0);
        for tx in 1..10 {
            ends.arrive(tx, 100 * MS);
            ends.send(100 * MS);
        }
        let again = ends.sent.iter().rposition(|seq| *seq == 0).unwrap();
        assert!(again > 9 && ends.cuts == 1);
        assert!(!ends.arrive(0, 190 * MS).spurious || !marked);
        ends.arrive(again, 200 * MS);
        assert_eq!(ends.undone, u32::from(!marked));
    }
}

/// Segments 0 and 1 come late, each after its retransmission: the duplicate SACKs of both undo the cut.
#[test]
fn originals_overtaken_by_their_retransmissions_undo() {
    let mut ends = without(2);
    let again = [0, 1].map(|late| ends.sent.iter().rposition(|seq| *seq == late).unwrap());
    for tx in again {
        assert!(!ends.arrive(tx, 200 * MS).spurious, "{tx}");
    }
    assert!(!ends.arrive(0, 201 * MS).spurious);
    assert!(!ends.arrive(0, 202 * MS).spurious, "a copy");
    assert!(ends.arrive(1, 203 * MS).spurious);
    assert_eq!((ends.cuts, ends.undone), (1, 1));

    // Segment 1 comes late and the path copies it, all before its retransmission, which is outstanding until it is a duplicate itself.
    let mut ends = without(2);
    for tx in [1, 1, again[0], 0] {
        assert!(!ends.arrive(tx, 200 * MS).spurious, "{tx}");
    }
    assert!(ends.arrive(again[1], 201 * MS).spurious);
}
