//! What is done at once for most packets is what is done one by one for any.

use penstock_scenario::model::{EcnEcho, Recovery};

use super::{Data, Heard, Outcome, options};
use crate::agenda::tests::draws;
use crate::kind::{OfKind, Plain, Today};
use crate::packet::{DUPLICATE, Packet, SACK, expand};
use crate::receiver::Receiver;

/// New segments are counted before they are sent as they would be picked one by one, and leave the same state.
#[test]
fn new_segments_are_counted_as_they_are_picked() {
    counted_as_picked::<Plain>(Recovery::Sack);
    counted_as_picked::<Plain>(Recovery::NewReno);
    counted_as_picked::<Plain>(Recovery::Reno);
    counted_as_picked::<Today>(Recovery::Rack);
}

fn counted_as_picked<K: OfKind>(recovery: Recovery) {
    for (limit, most) in [(u64::MAX, 40), (7, 40), (3, 2), (u64::MAX, 0)] {
        for (first, second) in [0.0, 0.5, 1.0, 1.9, 2.0, 9.99, 10.0, 1e9].into_iter().flat_map(|w| [(w, 3.0), (3.0, w)])
        {
            let data = || Data::new(&options(recovery, false), limit);
            let (mut picked, mut counted) = (data(), data());
            for window in [first, second] {
                let mut segments = 0;
                while let Some(segment) = picked.pick(window, true, most) {
                    picked.sent(segment, 5);
                    segments += 1;
                }
                let count = counted.may_begin::<K>(window, most).unwrap();
                (0..count).for_each(|_| _ = counted.begin::<K>(5));
                if count > 0 {
                    counted.begun(5);
                }
                assert_eq!(
                    (count, format!("{counted:?}")),
                    (segments, format!("{picked:?}")),
                    "{recovery:?} {limit} {most} {window}"
                );
            }
        }
    }
}

/// An acknowledgement of the next segment comes to the same as any; where there is more to it, nothing has changed. Packets are lost,
/// come late, and time out; a transfer ends.
#[test]
fn the_next_segment_is_heard_as_any() {
    for recovery in [Recovery::Sack, Recovery::NewReno, Recovery::Reno] {
        let mut draw = draws(recovery as u64);
        let (mut next, mut others) = (0, 0);
        for run in 0..40 {
            let limit = if run % 2 == 0 { 300 } else { u64::MAX };
            let new = || Data::new(&options(recovery, false), limit);
            // One hears all acknowledgements alike.
            let (mut alike, mut data, mut receiver) = (new(), new(), Receiver::default());
            let mut under_way: Vec<Packet> = Vec::new();
            for now in 0..400 {
                let window = 2.0 + draw(12) as f64;
                while let Some(segment) = data.pick(window, true, 100) {
                    assert_eq!(alike.pick(window, true, 100), Some(segment));
                    let packet = Packet { seq: segment.seq as u32, tx: data.next_tx() as u32, ..Packet::default() };
                    alike.sent(segment, now);
                    data.sent(segment, now);
                    if draw(50) > 0 {
                        let last = under_way.len();
                        under_way.insert(if draw(50) == 0 { draw(last as u64 + 1) as usize } else { last }, packet);
                    }
                }
                assert_eq!(alike.pick(window, true, 100), None);
                if data.una == limit {
                    break;
                }
                if under_way.is_empty() {
                    alike.timeout(now, &mut ());
                    data.timeout(now, &mut ());
                    continue;
                }
                let reply = receiver.take(&under_way.remove(0), EcnEcho::PerPacket);
                if draw(40) == 0 {
                    continue;
                }
                let heard = Heard {
                    cumulative: expand(data.una, reply.seq),
                    tx: expand(data.next_tx(), reply.tx),
                    from: (reply.flags & SACK != 0).then(|| expand(data.una, reply.from)),
                    duplicate: reply.flags & DUPLICATE != 0,
                };
                let before = format!("{data:?}");
                let outcome = alike.hear(&heard, now);
                if let Some((tx, sent)) = reply.is_plain().then(|| data.hear_next(reply.seq, reply.tx)).flatten() {
                    let told = Outcome { covered: 1, sent: Some(sent), ..Outcome::default() };
                    assert_eq!((tx, told), (heard.tx, Outcome { sure: false, ..outcome }));
                    next += 1;
                } else {
                    assert_eq!(format!("{data:?}"), before);
                    assert_eq!(data.hear(&heard, now), outcome);
                    others += 1;
                }
                assert_eq!(format!("{data:?}"), format!("{alike:?}"));
            }
        }
        assert!(next > 2000 && others > 200, "{recovery:?}: {next} and {others}");
    }
}
