//! The handshake that opens a connection: SYN and SYN-ACK, a round trip before the first data (RFC 9293, section 3.5).
//! It gives the sender its first sample of the round trip. The third packet carries nothing that a sender here waits for,
//! so the first data replace it.

use crate::engine::{Engine, cross, push};
use crate::flow::{NONE, Opening};
use crate::packet::{Packet, SYN, SYN_ACK};
use crate::receiver::Reply;
use crate::station::{Link, Station};

/// Separates the coins of a SYN from those of the first data.
const APART: u32 = 1 << 31;

impl Engine {
    /// A flow whose connection is not open wants to send.
    #[cold]
    pub(crate) fn open(&mut self, at: usize) {
        let now = self.now;
        let flow = &mut self.flows[at];
        if flow.opening == Opening::Waiting || now >= flow.until || flow.data.fresh >= flow.data.limit {
            return;
        }
        flow.opening = Opening::Waiting;
        flow.opening_again = false;
        flow.timer.start(now);
        if let Some(look) = flow.timer.schedule(now) {
            self.schedule(self.numbering.timeout + at as u32, look);
        }
        self.send_syn(at);
    }

    /// Sends a SYN, or sends it again.
    #[cold]
    pub(crate) fn send_syn(&mut self, at: usize) {
        let Self { now, flows, groups, links, lines, agenda, entries, numbering, accounts, keys, .. } = self;
        let flow = &mut flows[at];
        // Each attempt is lost by a coin of its own.
        let tx = ((flow.data.next_tx() as u32) ^ APART).wrapping_add(flow.sent.timeouts);
        let packet = Packet { flow: at as u32, tx, size: self.ack_size, flags: SYN, ..Packet::default() };
        flow.syn_sent = *now;
        flow.syn = (if flow.opening_again { flow.syn.0 } else { tx }, tx);
        flow.opening_again = true;
        flow.sent.packets += 1;
        for account in groups[flow.group as usize].accounts.into_iter().filter(|account| *account != NONE) {
            accounts[account as usize].sent += u64::from(packet.size);
        }
        let sent = if flow.entry == NONE {
            let Link { station, coins, losses, .. } = &mut links[flow.out.port as usize];
            if let Station::Port(port) = station {
                cross(packet, *now, flow.out.line, port, (*coins, losses, keys), lines, agenda)
            } else {
                self.outbox.push(packet);
                return self.post();
            }
        } else {
            let entry = &mut entries[flow.entry as usize];
            entry.pass(*now, u32::from(packet.size)).is_some_and(|out| {
                push(Packet { at: out, ..packet }, numbering.entries + flow.entry, &mut entry.line, agenda);
                true
            })
        };
        if !sent {
            flow.sent.lost += 1;
            if flow.entry == NONE {
                let port = flow.out.port;
                self.dropped(at as u32, SYN, port);
            }
        }
    }

    /// A SYN reaches its receiver, which sends the SYN-ACK.
    #[cold]
    pub(crate) fn syn_arrived(&mut self, packet: &Packet) {
        let at = packet.flow as usize;
        self.receivers[at].received.packets += 1;
        let reply = Reply { seq: packet.seq, tx: packet.tx, from: 0, flags: SYN_ACK };
        if self.flows[at].ack_entry == NONE {
            self.back(at, reply);
        } else {
            self.late(reply.packet(at, self.ack_size));
        }
    }

    /// The SYN-ACK for transmission `tx` reaches the sender: the connection is open. A round trip is measured if only the last
    /// SYN can have caused it (Karn's algorithm, as in RFC 6298, section 3). It is that of a small packet, so the law does
    /// not have it.
    #[cold]
    pub(crate) fn opened(&mut self, at: usize, tx: u32) {
        let now = self.now;
        let flow = &mut self.flows[at];
        let (first, last) = flow.syn;
        // An answer of a connection before is not one of these.
        if flow.opening != Opening::Waiting || tx.wrapping_sub(first) > last.wrapping_sub(first) {
            return;
        }
        flow.opening = Opening::Done;
        flow.timer.stop();
        if tx == last {
            let rtt = now - flow.syn_sent;
            flow.timer.sample(now, rtt, true);
            if let Some(rack) = flow.data.rack() {
                rack.measure(rtt);
            }
        }
        self.send(at);
    }
}
