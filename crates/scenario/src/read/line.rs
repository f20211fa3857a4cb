//! Treatment of packets by a line, beside random loss: bursts of losses, packets that come late or twice, ECN fields
//! that it changes.

use penstock_law::quantity::{Rate, Time};

use super::error::Reported;
use super::table::Fields;
use crate::format::{self, BURST, CHANCE, MOST_WINDOW, SHARE};
use crate::model::{Aggregation, EcnOnLine, LossSpacing, Reorder};
use crate::quantity::print_rate;

/// The keys of a line.
pub(super) struct OnLine {
    pub(super) loss_burst: Option<f64>,
    pub(super) reorder: Option<Reorder>,
    pub(super) aggregation: Option<Aggregation>,
    pub(super) duplicate: f64,
    pub(super) ecn: EcnOnLine,
}

/// Reads the keys of a line, beside a `loss` of which the spacing is known. `most` is the highest rate of its link.
pub(super) fn on_line(
    fields: &Fields<'_>,
    loss: Option<(f64, LossSpacing)>,
    most: Option<Rate>,
) -> Result<OnLine, Reported> {
    let (bursts, reorder) = (loss_burst(fields, loss), reorder(fields));
    let aggregation = aggregation(fields, most);
    let duplicate = fields.or("duplicate", 0.0, |item| item.within(SHARE, "a share of packets"));
    let ecn = fields.or("ecn", EcnOnLine::Keep, |item| item.choice());
    Ok(OnLine { loss_burst: bursts?, reorder: reorder?, aggregation: aggregation?, duplicate: duplicate?, ecn: ecn? })
}

/// The mean length of bursts of losses, where there are losses that may come in bursts.
fn loss_burst(fields: &Fields<'_>, loss: Option<(f64, LossSpacing)>) -> Result<Option<f64>, Reported> {
    let Some(item) = fields.find("loss_burst") else { return Ok(None) };
    let mean = item.within(BURST, "a mean length of bursts, in packets")?;
    let Some((loss, spacing)) = loss else { return Ok(Some(mean)) };
    if loss <= 0.0 {
        // Defaults are for those who can use them.
        if item.node.inherited {
            return Ok(None);
        }
        return Err(
            item.wrong("`loss_burst` has no effect without `loss`", "leave it out, or write a `loss` above zero")
        );
    }
    if spacing != LossSpacing::Random {
        return Err(item.wrong(
            "losses that are evenly spaced come one by one",
            "leave it out, or write `loss_spacing = \"random\"`",
        ));
    }
    // Between two bursts one packet at least arrives.
    let most = mean / (mean + 1.0);
    if loss > most {
        return Err(item.wrong(
            format!(
                "bursts of {mean} packets with one packet between them are a loss of {most:.4}, and `loss` is {loss}"
            ),
            "write longer bursts, or a smaller `loss`",
        ));
    }
    Ok(Some(mean))
}

/// Packets that come late.
fn reorder(fields: &Fields<'_>) -> Result<Option<Reorder>, Reported> {
    let Some(item) = fields.find("reorder") else { return Ok(None) };
    let remedy = "write `{ share = 0.01, by = \"5 ms\" }`";
    let inner = item.fields(&format::REORDER, remedy)?;
    let share = inner.need("share", remedy).and_then(|item| item.within(CHANCE, "a share of packets"));
    let by = inner.need("by", remedy).and_then(|item| match item.time()? {
        Time::ZERO => Err(item.wrong("a packet that is late by nothing keeps its place", "write a time above zero")),
        by => Ok(by),
    });
    Ok(Some(Reorder { share: share?, by: by? }))
}

/// Packets that go together.
fn aggregation(fields: &Fields<'_>, most: Option<Rate>) -> Result<Option<Aggregation>, Reported> {
    let Some(item) = fields.find("aggregation") else { return Ok(None) };
    let remedy = "write `{ time = \"2 ms\", packets = 32 }`";
    let inner = item.fields(&format::AGGREGATION, remedy)?;
    let time = inner.need("time", remedy).and_then(|item| match item.time()? {
        Time::ZERO => Err(item.wrong("packets that wait for nothing go by themselves", "write a time above zero")),
        time => Ok(time),
    });
    let packets = inner.find("packets").map(|item| item.whole(2, MOST_WINDOW)).transpose();
    let rate = inner.find("rate").map(|item| {
        let rate = item.rate()?;
        match most.filter(|most| rate < *most) {
            Some(most) => Err(item.wrong(
                format!(
                    "the link delivers packets at up to {}, and `aggregation` sends them on at `{}`",
                    print_rate(most),
                    item.shown()
                ),
                "write a rate that is not below that of the link",
            )),
            None => Ok(rate),
        }
    });
    Ok(Some(Aggregation { time: time?, packets: packets?, rate: rate.transpose()? }))
}
