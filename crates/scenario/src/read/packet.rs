//! Sizes of data packets: those of the scenario, and of groups that have others.

use penstock_law::quantity::Bytes;

use super::error::Reported;
use super::table::{Fields, Item};
use crate::format;
use crate::model::Packet;
use crate::quantity::print_bytes;

/// An acknowledgement.
const ACK: Bytes = Bytes(40);

/// The packets of the scenario.
pub(super) fn of_scenario(fields: &Fields<'_>) -> Result<Packet, Reported> {
    let default = Packet { wire: Bytes(1500), payload: Bytes(1460), ack: ACK };
    fields.find("packet").map_or(Ok(default), |item| packet(&item))
}

/// The packets of a group, where they are not those of the scenario. No buffer, bucket or turn is too short for them.
pub(super) fn of_group(fields: &Fields<'_>, whole: Option<Packet>) -> Result<Option<Packet>, Reported> {
    let Some(item) = fields.find("packet") else { return Ok(None) };
    let own = packet(&item)?;
    if let Some(whole) = whole.filter(|whole| own.wire > whole.wire) {
        return Err(item.wrong(
            format!(
                "a packet of {} in this group is larger than `packet` of the scenario, {}",
                print_bytes(own.wire),
                print_bytes(whole.wire)
            ),
            "let `packet` of the scenario be that of the group with the largest",
        ));
    }
    Ok(Some(own).filter(|own| whole != Some(*own)))
}

fn packet(item: &Item<'_>) -> Result<Packet, Reported> {
    let remedy = "write its size on the wire, as in `1000 B`, or `{ wire = \"1000 B\", payload = \"960 B\" }`";
    let (wire, payload) = if item.node.table().is_some() {
        let fields = item.clone().fields(&format::PACKET, remedy)?;
        let wire = fields.need("wire", "write the size on the wire, as in `1000 B`").and_then(|item| item.bytes());
        let payload = fields.need("payload", "write the user's share of it, as in `960 B`")?;
        let (bytes, wire) = (payload.bytes()?, wire?);
        if bytes >= wire || bytes.0 == 0 {
            return Err(payload.wrong(
                format!("a payload of `{}` is not possible in a packet of {}", payload.shown(), print_bytes(wire)),
                "write at least `1 B`, and less than the size on the wire",
            ));
        }
        (wire, bytes)
    } else {
        let wire = item.bytes()?;
        if wire <= ACK {
            return Err(item.wrong(
                format!("a packet of `{}` has no space for data after 40 B of header", item.shown()),
                "write at least `41 B`",
            ));
        }
        (wire, Bytes(wire.0 - ACK.0))
    };
    if wire.0 > 65_535 {
        return Err(item.wrong(format!("a packet of {}", print_bytes(wire)), "write at most `65535 B`, as IP allows"));
    }
    Ok(Packet { wire, payload, ack: ACK })
}
