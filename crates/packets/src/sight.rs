//! The packets that a capture at an end of a flow would show.

use penstock_law::quantity::Time;
use penstock_scenario::model::EcnEcho;
use penstock_scenario::world::{AccurateEcn, Content, Ecn, End, Sighting};

use crate::engine::Engine;
use crate::flow::Flow;
use crate::options::Counters;
use crate::packet::{self, CE, CWR, ECE, ECT, LOW, Packet, SACK};
use crate::receiver::Reply;

/// A data packet at an end of its flow.
pub(crate) fn data_seen(packet: &Packet, at: Time, flow: &Flow, reliable: bool, end: End) -> Sighting {
    let segment = packet::expand(flow.data.una, packet.seq);
    let content = if reliable {
        Content::Data { segment: segment.saturating_sub(flow.first), cwr: packet.is(CWR) }
    } else {
        Content::Datagram { number: packet::expand(flow.data.fresh, packet.seq) }
    };
    let ecn = match packet.flags & (ECT | LOW | CE) {
        flags if flags & CE != 0 => Ecn::Ce,
        flags if flags & LOW != 0 => Ecn::Ect1,
        0 => Ecn::NotEct,
        _ => Ecn::Ect0,
    };
    sighting(packet, at, flow, end, ecn, content)
}

/// A data packet that reached its receiver; none if it is left over from the connection before.
pub(crate) fn delivery_seen(packet: &Packet, at: Time, flow: &Flow, reliable: bool) -> Option<Sighting> {
    let late = reliable && packet::expand(flow.data.una, packet.seq) < flow.first;
    (!late).then(|| data_seen(packet, at, flow, reliable, End::Receiver))
}

fn sighting(packet: &Packet, at: Time, flow: &Flow, end: End, ecn: Ecn, content: Content) -> Sighting {
    let (size, connection) = (u32::from(packet.size), flow.connection);
    Sighting { at, end, flow: packet.flow, connection, size, ecn, colour: packet.painted(), content }
}

impl Engine {
    /// An acknowledgement leaves its receiver, or reaches its sender.
    #[cold]
    pub(crate) fn see_ack(&mut self, at: usize, reply: Reply, end: End) {
        let packet = &reply.packet(at, self.ack_size);
        let flow = &self.flows[packet.flow as usize];
        let next = packet::expand(flow.data.una, packet.seq);
        if next < flow.first {
            return;
        }
        let group = &self.groups[flow.group as usize];
        let (mut blocks, mut accurate) = ([None; 4], None);
        if group.options {
            let told = self.receivers[at].told.as_ref().and_then(|told| told.under_way.look(packet.from));
            if let Some(options) = told {
                for (place, (from, end)) in blocks.iter_mut().zip(options.blocks(next)) {
                    *place = Some((from.saturating_sub(flow.first), end.saturating_sub(flow.first)));
                }
                let option = options.counters.map(|Counters { ect0, ce, ect1 }| [ect0, ce, ect1]);
                accurate = (group.habits.echo == EcnEcho::Accurate).then_some(AccurateEcn { ace: options.ace, option });
            }
        } else if packet.is(SACK) {
            let from = packet::expand(next, packet.from);
            let end = flow.data.segment_of(packet::expand(flow.data.next_tx(), packet.tx)).map_or(from, |seq| seq);
            blocks[0] = Some((from - flow.first, end.max(from) + 1 - flow.first));
        }
        let content = Content::Ack { next: next - flow.first, blocks, echo: packet.is(ECE), accurate };
        let seen = sighting(packet, Time(self.now), flow, end, Ecn::NotEct, content);
        self.seen.get_or_insert_default().push(seen);
    }
}
