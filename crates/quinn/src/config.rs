//! A law with its parameters, and the factory that quinn makes controllers with.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use penstock_law::cc::{Context, Controller};
use penstock_law::law::{Entry, Instances};
use penstock_law::parameter::{Default, Parameter, Unit, Values};
use penstock_law::quantity::Bytes;
use penstock_law::registry::Registry;
use quinn_proto::congestion::{self, ControllerFactory};

use crate::host::Hosted;
use crate::refused::{Refused, unsupported};

/// The least datagram that QUIC allows, with which every connection of quinn starts [bytes] (RFC 9000, section 14).
const LEAST_MTU: u16 = 1200;
/// RFC 9002, section 7.2: ten packets, but at most 14,720 bytes, and at least two packets.
const INITIAL: [f64; 3] = [10.0, 14_720.0, 2.0];
/// No larger initial window makes sense [packets]: it is the largest of any law.
const MOST_INITIAL: f64 = 1e9;
/// Parameters that a host of QUIC has otherwise than the registry: those of `profile = "quic"` of a scenario, and ECN. RFC 9002 counts
/// every byte that is acknowledged, section 7.3; RFC 9406; an echo is a congestion event, RFC 9002, section 7.1; the offload budget of
/// QUIC is one send quantum, draft-ietf-ccwg-bbr, section 5.5.8.2.
const OF_QUIC: [(&str, f64); 4] = [("per_ack", 65_535.0), ("hystart", 1.0), ("ecn", 1.0), ("offload_quanta", 1.0)];

/// A law of a registry, with values for its parameters.
#[derive(Debug, Clone)]
pub struct LawConfig {
    entry: &'static Entry<Controller>,
    values: Values,
    seed: u64,
    /// [packets]; none where it is that of RFC 9002.
    initial_window: Option<f64>,
}

impl LawConfig {
    /// The law of that name, with the defaults of its parameters. As with `profile = "quic"` of a scenario, `per_ack` counts every
    /// packet, `hystart` is on, and `offload_quanta` is 1, where the law has them. `ecn` is on too.
    ///
    /// # Errors
    /// [`Refused::Unknown`] if the registry has no such controller.
    pub fn new(registry: &Registry, name: &str) -> Result<Self, Refused> {
        let entry = registry.controller(name).ok_or_else(|| {
            let known: Vec<_> = registry.laws::<Controller>().iter().map(|entry| entry.name).collect();
            Refused::Unknown { name: name.to_owned(), known: known.join(", ") }
        })?;
        let mut values = Values::defaults(entry.parameters);
        for (name, value) in OF_QUIC {
            if let Some(parameter) = entry.parameters.iter().find(|parameter| parameter.name == name) {
                // A parameter of this name may have another range in another law, or there require the number of marks: then its
                // default stays.
                let mut other = Self::with_values(entry, values.clone());
                if other.values.set(parameter, value).is_ok() && !other.is_unsupported() {
                    values = other.values;
                }
            }
        }
        Ok(Self::with_values(entry, values))
    }

    /// A law with all of its values, as a scenario has them.
    pub fn with_values(entry: &'static Entry<Controller>, values: Values) -> Self {
        Self { entry, values, seed: 0, initial_window: None }
    }

    /// Sets a parameter, in the unit of `penstock laws NAME`: seconds, bit/s, bytes, packets. A switch is 1 or 0.
    ///
    /// # Errors
    /// [`Refused::Parameter`] if the law has no such parameter, or for a value out of its range.
    pub fn set(mut self, parameter: &str, value: f64) -> Result<Self, Refused> {
        let law = self.entry.name;
        let found = self.parameter(parameter)?;
        self.values.set(found, value).map_err(|why| Refused::Parameter { law, why })?;
        Ok(self)
    }

    /// Sets a parameter that is one of some words.
    ///
    /// # Errors
    /// [`Refused::Parameter`] if the law has no such parameter, or the parameter no such word.
    pub fn choose(mut self, parameter: &str, word: &str) -> Result<Self, Refused> {
        let law = self.entry.name;
        let found = self.parameter(parameter)?;
        let words = if let Unit::Choice(words) = found.unit { words } else { &[] };
        let at = words.iter().position(|one| *one == word).ok_or_else(|| {
            let why = if words.is_empty() {
                format!("`{parameter}` is a number, not a word")
            } else {
                format!("`{parameter}` is one of {}, not `{word}`", words.join(", "))
            };
            Refused::Parameter { law, why }
        })?;
        self.values.set(found, at as f64).map_err(|why| Refused::Parameter { law, why })?;
        Ok(self)
    }

    /// The seed of the random numbers that a law may use, as BBR does for the times of its probes. 0 where nothing is set.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// The window at the start, in packets of the path's MTU. That of RFC 9002, section 7.2, where nothing is set. Less than two packets
    /// are two. [`LawConfig::build`] refuses what is no number of packets, none, and more than 10^9.
    #[must_use]
    pub fn initial_window(mut self, packets: f64) -> Self {
        self.initial_window = Some(packets);
        self
    }

    /// The factory of controllers.
    ///
    /// # Errors
    /// [`Refused::Parameter`] if the values contradict each other, or one is missing, or the initial window is no number of packets.
    /// [`Refused::Unsupported`] if the law uses a measurement that quinn does not report.
    pub fn build(self) -> Result<Factory, Refused> {
        let law = self.entry.name;
        for parameter in self.entry.parameters {
            if parameter.default == Default::Required && self.values.optional(parameter.name).is_none() {
                return Err(Refused::Parameter { law, why: format!("`{}` has no value: set it", parameter.name) });
            }
        }
        if let Some(packets) = self.initial_window.filter(|packets| !(*packets > 0.0 && *packets <= MOST_INITIAL)) {
            let why = format!(
                "the initial window may be more than 0 and at most {MOST_INITIAL:e} packets, not {packets}: RFC 9002 has {}",
                INITIAL[0]
            );
            return Err(Refused::Parameter { law, why });
        }
        let compiled = self.compile(LEAST_MTU).map_err(|why| Refused::Parameter { law, why })?;
        match unsupported(&compiled.requirements()) {
            Some(what) => Err(Refused::Unsupported { law, what }),
            None => Ok(Factory { config: self, made: AtomicU64::new(0) }),
        }
    }

    fn first_window(&self, mtu: u16) -> f64 {
        self.initial_window.map_or_else(|| initial_window(mtu), |packets| packets.max(INITIAL[2]))
    }

    /// True if the law compiles, and requires what quinn does not report.
    fn is_unsupported(&self) -> bool {
        self.compile(LEAST_MTU).is_ok_and(|law| unsupported(&law.requirements()).is_some())
    }

    fn compile(&self, mtu: u16) -> Result<Box<dyn Instances<f64, Controller>>, String> {
        let initial_window = self.first_window(mtu);
        let context = Context { packet: Bytes(mtu.into()), initial_window, initial_ssthresh: f64::INFINITY };
        (self.entry.real)(&self.values, &context)
    }

    fn parameter(&self, name: &str) -> Result<&'static Parameter, Refused> {
        let parameters = self.entry.parameters;
        parameters.iter().find(|parameter| parameter.name == name).ok_or_else(|| {
            let known: Vec<_> = parameters.iter().map(|parameter| parameter.name).collect();
            let known =
                if known.is_empty() { "it has none".to_owned() } else { format!("there are {}", known.join(", ")) };
            Refused::Parameter { law: self.entry.name, why: format!("it has no parameter `{name}`; {known}") }
        })
    }
}

/// The initial window [packets].
fn initial_window(mtu: u16) -> f64 {
    let [packets, bytes, least] = INITIAL;
    packets.min(bytes / f64::from(mtu)).max(least)
}

/// Makes a controller for each path of each connection.
#[derive(Debug)]
pub struct Factory {
    config: LawConfig,
    /// Controllers made so far: each has random numbers of its own.
    made: AtomicU64,
}

impl Factory {
    /// The law's name.
    pub fn law(&self) -> &'static str {
        self.config.entry.name
    }

    /// A controller for a new path, as quinn makes it, with its own type.
    pub fn host(&self, now: Instant, mtu: u16) -> Hosted {
        let number = self.made.fetch_add(1, Ordering::Relaxed);
        let seed = self.config.seed.wrapping_add(number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        // The values were compiled for the least packet. A law that refuses another size goes on with that one.
        let law = self.config.compile(mtu).or_else(|_| self.config.compile(LEAST_MTU));
        let law = law.expect("the same values were compiled for the same packet when the factory was made");
        Hosted::new(law, now, mtu, self.config.first_window(mtu), seed)
    }
}

impl ControllerFactory for Factory {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn congestion::Controller> {
        Box::new(self.host(now, current_mtu))
    }
}
