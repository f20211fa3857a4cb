//! A glance says what a reading says, and leaves the queue alone.

use super::*;

/// At random moments, of a port that nobody else reads and of queues: what has left is what a reading counts, and the waits are
/// those that packets have. A packet that came to the port would wait as long as a glance says.
#[test]
fn a_glance_counts_as_a_reading_does() {
    let rate = 8 * MBIT;
    let port = || {
        Port::new(Config {
            service: Rate(rate).into(),
            most_packets: 12,
            most_bytes: u64::MAX,
            packet: Bytes(1000),
            law: registered("droptail", &[], rate),
            memory: Time::ZERO,
        })
    };
    let (mut watched, mut plain) = (port(), port());
    let mut host = Host::new(ServedConfig { most_packets: 12, ..droptail(rate) });
    watched.watch();
    host.served.watch();
    let (mut draw, mut now) = (Draw(3), 0);
    let (mut least, mut largest, mut sum, mut count, mut refused) = (u64::MAX, 0, 0, 0, 0);
    for n in 0..3000 {
        now += draw.below(if n % 100 == 0 { 40 * MS } else { MS });
        let bytes = 40 + draw.below(1461) as u32;
        let (before, _) = plain.glance(Time(now));
        let offered = plain.offer(Time(now), bytes, false, || 0.0);
        assert_eq!(watched.offer(Time(now), bytes, false, || 0.0), offered);
        if let Offer::Accepted { departure, .. } = offered {
            let wait = departure.0 - now - u64::from(bytes) * 1_000_000;
            assert_eq!(before.delay, Some(Time(wait)));
            (least, largest) = (least.min(wait), largest.max(wait));
            (sum, count) = (sum + u128::from(wait / 1000), count + 1);
        } else {
            refused += 1;
        }
        host.send(now, 0, bytes, false, false);
        if draw.below(7) == 0 {
            let later = now + draw.below(MS);
            let (glance, extent) = watched.glance(Time(later));
            let counters = plain.read(Time(later));
            assert_eq!(
                (glance.arrivals, glance.drops, glance.departed_bytes),
                (counters.arrivals, counters.drops, counters.departed_bytes)
            );
            assert_eq!(
                (extent.least, extent.largest),
                if count > 0 { (least / 1000, largest / 1000) } else { (u64::MAX, 0) }
            );
            assert_eq!((extent.sum, extent.weight), (sum, count));
            (least, largest, sum, count) = (u64::MAX, 0, 0, 0);
            host.run(later);
            now = later;
            let (glance, extent) = host.served.glance(Time(later));
            let c = host.served.read(Time(later));
            assert_eq!((glance.arrivals, glance.departed_bytes), (c.arrivals, c.departed_bytes));
            assert!(extent.weight == 0 || extent.least <= extent.largest);
            let oldest = host.served.iter().map(|packet| later - packet.at).max();
            assert_eq!(
                glance.delay.map(|delay| delay.0),
                oldest.or(Some(host.served.free_at().0.saturating_sub(later)))
            );
        }
    }
    assert!(refused > 100 && plain.arrivals() == 3000, "{refused}");
}
