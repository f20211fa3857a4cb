//! A policer: a token bucket before a queue.

use std::ops::{Deref, DerefMut};

use penstock_law::conditioner::{CONDITIONERS, Colour, Context};
use penstock_law::quantity::{Bytes, Time};
use penstock_law::{Values, law};
use penstock_scenario::model;

use crate::conditioner::Conditioner;
use crate::served::Served;

/// Queues behind a policer. It is a [`Served`] in all but its admission: see [`Policed::admits`].
#[derive(Debug)]
pub struct Policed<P> {
    served: Served<P>,
    meter: Conditioner,
}

impl<P: Copy> Policed<P> {
    /// The queues behind it.
    pub(crate) fn served(&self) -> &Served<P> {
        &self.served
    }

    /// Queues behind a full bucket. `packet` is a data packet on the wire.
    ///
    /// # Errors
    /// The conditioner's reasons against the policer.
    pub(crate) fn new(served: Served<P>, policer: model::Policer, packet: Bytes) -> Result<Self, String> {
        let entry = law::find(CONDITIONERS, "token-bucket").ok_or("there is no conditioner `token-bucket`")?;
        let mut values = Values::defaults(entry.parameters);
        for (name, value) in [("committed_rate", policer.rate.bit_per_s()), ("bucket", policer.burst.0 as f64)] {
            let parameter = entry.parameters.iter().find(|parameter| parameter.name == name);
            values.set(parameter.ok_or("`token-bucket` has other parameters")?, value)?;
        }
        let meter = Conditioner::new((entry.real)(&values, &Context { packet })?, packet);
        Ok(Self { served, meter })
    }

    /// Whether a packet of `bytes` that arrives at `now` may be offered to the queues; otherwise it is dropped, and counted.
    pub fn admits(&mut self, now: Time, bytes: u32) -> bool {
        // A token bucket is certain: red or green, whatever the draw.
        let conforms = self.meter.colour(now, bytes, || 0.0) == Colour::Green;
        if !conforms {
            self.served.refuse();
        }
        conforms
    }
}

impl<P> Deref for Policed<P> {
    type Target = Served<P>;

    fn deref(&self) -> &Served<P> {
        &self.served
    }
}

impl<P> DerefMut for Policed<P> {
    fn deref_mut(&mut self) -> &mut Served<P> {
        &mut self.served
    }
}
