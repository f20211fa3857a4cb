//! What a line does to packets, beside losing some at random: bursts of losses, packets that come late, ECN fields that it
//! changes.

use penstock_law::quantity::Time;

use super::error::Reported;
use super::table::Fields;
use crate::format::{self, BURST, CHANCE};
use crate::model::{EcnOnLine, LossSpacing, Reorder};

/// What a line does.
pub(super) struct OnLine {
    pub(super) loss_burst: Option<f64>,
    pub(super) reorder: Option<Reorder>,
    pub(super) ecn: EcnOnLine,
}

/// Reads what a line does, beside a `loss` of which the spacing is known.
pub(super) fn on_line(fields: &Fields<'_>, loss: Option<(f64, LossSpacing)>) -> Result<OnLine, Reported> {
    let (bursts, reorder) = (loss_burst(fields, loss), reorder(fields));
    let ecn = fields.or("ecn", EcnOnLine::Keep, |item| item.choice());
    Ok(OnLine { loss_burst: bursts?, reorder: reorder?, ecn: ecn? })
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
