//! `sender = { ... }`: the behaviour of senders and receivers besides the law.

use penstock_law::cc::{self, Controller, Marks};
use penstock_law::quantity::Time;

use super::super::error::Reported;
use super::super::law;
use super::super::table::{Fields, Item};
use super::super::tree::Value;
use crate::format::{self, CHANCE, MOST_AT_ONCE, MOST_BLOCKS, MOST_BURST, MOST_QUICK, MULTIPLE, OF_ANY_LAW, Word};
use crate::model::Profile;
use crate::model::{
    Arithmetic, Chosen, EcnEcho, KnownBottleneck, Limit, Pacing, RackOptions, Recovery, Rto, RttNoise, SenderOptions,
};
use crate::quantity;

/// A timeout is three ticks at the least, and 60 s at the most.
const MOST_TICK: Time = Time(20 * Time::PER_SECOND);
/// The least part of the timeout of a QUIC host with another recovery than its own: the delay of acknowledgements, max_ack_delay (RFC
/// 9000, section 18.2).
const LEAST_WITHOUT_PROBES: Time = Time(Time::PER_SECOND / 40);
/// RFC 9000, section 18.2, has less than 2^14 ms.
const MOST_ACK_DELAY: Time = Time(16 * Time::PER_SECOND);

/// Reads the options of a group.
pub(super) fn options(fields: &Fields<'_>) -> Result<SenderOptions, Reported> {
    let Some(item) = fields.find("sender") else { return Ok(SenderOptions::default()) };
    let fields = item.fields(&format::SENDER, "write a table, as in `{ initial_window = 2 }`")?;
    let mut options = fields.or("profile", Profile::Ns2, |item| item.choice())?.options();
    let initial_window = fields.or("initial_window", options.initial_window, |item| {
        let window = item.window(1.0, false)?;
        if window > MOST_AT_ONCE as f64 {
            return Err(item.wrong(
                format!("an initial window of {window} packets is too large"),
                format!("write a window of at most {MOST_AT_ONCE} packets"),
            ));
        }
        Ok(window)
    });
    let initial_ssthresh = fields.or("ssthresh", options.initial_ssthresh, |item| item.window(1.0, true));
    let receive_window = fields.or("receive_window", options.receive_window, |item| item.window(1.0, true));
    let min_rto = fields.or("min_rto", options.min_rto, |item| match item.time()? {
        Time::ZERO => Err(item.wrong("a timeout of nothing", "write a duration above zero, as in `200 ms`")),
        time => Ok(time),
    });
    let rto = fields.or("rto", options.rto, |item| item.choice());
    let tick = fields.find("tick").map(|item| match item.time()? {
        Time::ZERO => Err(item.wrong("a tick of nothing", "write a duration above zero, or leave `tick` out")),
        tick if tick > MOST_TICK => Err(item.wrong(
            format!(
                "`tick` is `{}`, and three ticks are more than the longest retransmission timeout, 60 s",
                item.shown()
            ),
            format!("write at most `{}`", quantity::print_time(MOST_TICK)),
        )),
        tick => Ok(tick),
    });
    let tick = tick.transpose();
    let recovery = fields.or("recovery", options.recovery, |item| item.choice());
    let rack = rack(&fields, options.rack);
    let delayed_ack = fields.or("delayed_ack", u64::from(options.delayed_ack), |item| item.whole(1, 2));
    let quick_acks = fields.or("quick_acks", u64::from(options.quick_acks), |item| item.whole(0, MOST_QUICK));
    let max_ack_delay = fields.or("max_ack_delay", options.max_ack_delay, |item| match item.time()? {
        Time::ZERO => Err(item.wrong("a delay of nothing", "write a duration above zero, or `delayed_ack = 1`")),
        time if time > MOST_ACK_DELAY => Err(item.wrong(
            format!("`{}` is more than an acknowledgement may wait", item.shown()),
            format!("write at most `{}`", quantity::print_time(MOST_ACK_DELAY)),
        )),
        time => Ok(time),
    });
    let ack_gap_once = fields.or("ack_gap_once", options.ack_gap_once, |item| item.switch());
    let ecn_echo = fields.or("ecn_echo", options.ecn_echo, |item| item.choice());
    let accecn_option = fields.or("accecn_option", options.accecn_option, |item| item.switch());
    let receiver_ecn = fields.or("receiver_ecn", options.receiver_ecn, |item| item.choice());
    let sack_blocks = fields.or("sack_blocks", u64::from(options.sack_blocks), |item| item.whole(1, MOST_BLOCKS));
    let handshake = fields.or("handshake", options.handshake, |item| item.switch());
    let pacing = fields.or("pacing", options.pacing, |item| item.choice());
    let limit = fields.or("limit", options.limit, |item| item.choice());
    let burst = fields.or("burst", options.burst, |item| burst(&item));
    let limited_transmit = fields.or("limited_transmit", options.limited_transmit, |item| item.switch());
    let rtt_noise = fields.find("rtt_noise").map(|item| rtt_noise(&item)).transpose();
    let bottleneck = fields.find("bottleneck").map(|item| known_bottleneck(&item)).transpose();
    let remember = fields.or("remember", options.remember, |item| item.choice());
    let arithmetic = fields.or("arithmetic", options.arithmetic, |item| item.choice());
    options.initial_window = initial_window?;
    options.initial_ssthresh = initial_ssthresh?;
    options.receive_window = receive_window?;
    options.min_rto = min_rto?;
    options.rto = rto?;
    options.tick = tick?;
    options.recovery = recovery?;
    options.rack = rack?;
    options.delayed_ack = delayed_ack? as u32;
    options.quick_acks = quick_acks? as u32;
    options.max_ack_delay = max_ack_delay?;
    options.ack_gap_once = ack_gap_once?;
    options.ecn_echo = ecn_echo?;
    options.accecn_option = accecn_option?;
    options.receiver_ecn = receiver_ecn?;
    options.sack_blocks = sack_blocks? as u32;
    options.handshake = handshake?;
    options.pacing = pacing?;
    options.limit = limit?;
    options.burst = burst?;
    options.limited_transmit = limited_transmit?;
    options.rtt_noise = rtt_noise?;
    options.bottleneck = bottleneck?;
    options.remember = remember?;
    options.arithmetic = arithmetic?;
    Ok(options)
}

fn rack(fields: &Fields<'_>, silent: RackOptions) -> Result<RackOptions, Reported> {
    let switch = |key, silent| fields.or(key, silent, |item| item.switch());
    let prr = switch("prr", silent.prr);
    let tail_loss_probe = switch("tail_loss_probe", silent.tail_loss_probe);
    let (dsack, undo) = (switch("dsack", silent.dsack), switch("undo", silent.undo));
    Ok(RackOptions { prr: prr?, tail_loss_probe: tail_loss_probe?, dsack: dsack?, undo: undo? })
}

fn burst(item: &Item<'_>) -> Result<u32, Reported> {
    let packets = match (&item.node.value, item.as_text()) {
        (_, Some(text)) => quantity::packets(text).map_err(|e| item.because(&e))?,
        (Value::Integer(n), _) => u64::try_from(*n).unwrap_or(0),
        _ => return Err(item.is_not("a number of packets", "write a number of packets, as in `\"4 packets\"`")),
    };
    if (1..=MOST_BURST).contains(&packets) {
        return Ok(packets as u32);
    }
    Err(item.wrong(
        format!("a burst of `{}` is out of range", item.shown()),
        format!("write `1 packet` to `{MOST_BURST} packets`: segmentation offload sends 64 KiB at most"),
    ))
}

fn rtt_noise(item: &Item<'_>) -> Result<RttNoise, Reported> {
    let remedy = "write `{ probability = 0.001, upto = \"9 ms\" }`";
    let fields = item.clone().fields(&format::RTT_NOISE, remedy)?;
    let probability = fields.need("probability", remedy).and_then(|item| item.within(CHANCE, "a probability"));
    let upto = fields.need("upto", remedy).and_then(|item| match item.time()? {
        Time::ZERO => Err(item.wrong("an error of nothing", "write a duration above zero, or leave `rtt_noise` out")),
        time => Ok(time),
    });
    Ok(RttNoise { probability: probability?, upto: upto? })
}

fn known_bottleneck(item: &Item<'_>) -> Result<KnownBottleneck, Reported> {
    let remedy = "write `{ capacity = 1, buffer = 1 }`";
    let fields = item.clone().fields(&format::KNOWN_BOTTLENECK, remedy)?;
    let multiple =
        |key| fields.need(key, remedy).and_then(|item| item.within(MULTIPLE, "a multiple of the true value"));
    let (capacity, buffer) = (multiple("capacity"), multiple("buffer"));
    Ok(KnownBottleneck { capacity: capacity?, buffer: buffer? })
}

/// Refuses options that contradict the law or that nobody reads; those from `[defaults.flows]` that nobody reads are
/// put back.
pub(super) fn check(
    fields: &Fields<'_>,
    options: &mut SenderOptions,
    (cc, cc_item): (&Chosen<Controller>, &Item<'_>),
    needs: &cc::Requirements,
    site: &cc::Context,
) -> Result<(), Reported> {
    let written = |key: &str| fields.find("sender")?.entry(key);
    let own = |key: &str| written(key).filter(|item| !item.node.inherited);
    let name = cc.law.name;
    if needs.reliable {
        if matches!(options.recovery, Recovery::Sack | Recovery::Rack) && options.limited_transmit {
            if let Some(item) = own("limited_transmit") {
                item.wrong(
                    format!(
                        "recovery by `{}` includes limited transmit (RFC 6675, section 5), so this has no effect",
                        options.recovery.word()
                    ),
                    "leave it out, or write `recovery = \"newreno\"` or `\"reno\"`",
                );
            }
            options.limited_transmit = false;
        }
        if options.recovery != Recovery::Rack {
            for key in ["prr", "tail_loss_probe", "dsack", "undo"] {
                if let Some(item) = own(key) {
                    item.wrong(
                        format!("`{key}` is a part of recovery by `rack`, so it has no effect here"),
                        "leave it out, or write `recovery = \"rack\"`",
                    );
                }
            }
            options.rack = RackOptions::ALL;
        }
        if !options.selective() {
            if let Some(item) = own("sack_blocks") {
                item.wrong(
                    format!("recovery by `{}` has no selective acknowledgements", options.recovery.word())
                        + ", so `sack_blocks` has no effect",
                    "leave it out, or write `recovery = \"sack\"` or `\"rack\"`",
                );
            }
            options.sack_blocks = 1;
        }
        if needs.bottleneck.is_none() {
            if let Some(item) = own("bottleneck") {
                item.wrong(
                    format!("the law `{name}` observes no bottleneck, so `bottleneck` has no effect"),
                    "leave it out, or choose a law that estimates its bottleneck, such as `ccp`",
                );
            }
            options.bottleneck = None;
        }
        if options.delayed_ack < 2 {
            if let Some(item) = own("quick_acks").filter(|_| options.quick_acks > 0) {
                item.wrong(
                    "every packet is acknowledged, so `quick_acks` has no effect",
                    "leave it out, or write `delayed_ack = 2`",
                );
            }
            options.quick_acks = 0;
            let usual = SenderOptions::default().max_ack_delay;
            if let Some(item) = own("max_ack_delay").filter(|_| options.max_ack_delay != usual) {
                item.wrong(
                    "every packet is acknowledged, so `max_ack_delay` has no effect",
                    "leave it out, or write `delayed_ack = 2`",
                );
            }
            options.max_ack_delay = usual;
        }
        let always = if options.delayed_ack < 2 {
            Some("every packet is acknowledged, so `ack_gap_once` has no effect")
        } else if !options.selective() {
            Some("recovery without selective acknowledgements counts one for each packet beyond a gap")
        } else if options.ecn_echo == EcnEcho::Accurate {
            Some("accurate ECN is of TCP, which acknowledges each packet beyond a gap")
        } else {
            None
        };
        if let Some(always) = always {
            if let Some(item) = own("ack_gap_once").filter(|_| options.ack_gap_once) {
                item.wrong(always, "leave it out, or write `false`");
            }
            options.ack_gap_once = false;
        }
    } else {
        for key in format::SENDER.keys.iter().map(|key| key.name).filter(|key| !OF_ANY_LAW.contains(key)) {
            if let Some(item) = own(key) {
                item.wrong(
                    format!("the packets of the law `{name}` are not acknowledged, so `{key}` has no effect"),
                    "leave it out",
                );
            }
        }
        let (burst, arithmetic) = (options.burst, options.arithmetic);
        *options = SenderOptions { burst, arithmetic, ..SenderOptions::default() };
    }
    let repeats = fields.find("arrivals").is_some() || fields.find("idle").is_some();
    if !repeats {
        if let Some(item) = own("remember").filter(|_| needs.reliable) {
            let (found, remedy) = if fields.find("page").is_some() {
                (
                    "each browser loads one page",
                    "leave it out, or add `idle`, after which a browser loads the page again",
                )
            } else if fields.find("video").is_some() {
                ("the connection of a player stays open", "leave it out")
            } else {
                ("each flow is one transfer", "leave it out, or give the group `arrivals` or `idle`")
            };
            item.wrong(format!("{found}, so `remember` has no effect"), remedy);
        }
        options.remember = SenderOptions::default().remember;
    }
    let place = |key: &str| written(key).unwrap_or_else(|| cc_item.clone());
    if options.tick.is_some() && options.rto != Rto::Rfc6298 {
        let whose = if options.rto == Rto::Linux { "Linux's timeout" } else { "QUIC's probe timeout" };
        place("tick").wrong(format!("{whose} has a clock of its own"), "leave it out, or write `rto = \"rfc6298\"`");
    }
    if options.rto == Rto::Rfc9002 && options.recovery != Recovery::Rack && written("rto").is_none() {
        // The host's recovery is not used, so its probe timeout is not either.
        options.rto = Rto::Linux;
        if written("min_rto").is_none() {
            options.min_rto = LEAST_WITHOUT_PROBES;
        }
    }
    if options.rto == Rto::Rfc9002 {
        if options.recovery != Recovery::Rack {
            place("rto").wrong(
                format!("recovery by `{}` has no probe timeout", options.recovery.word()),
                "write `recovery = \"rack\"`, or `rto = \"rfc6298\"` with a `min_rto`",
            );
        } else if options.rack.tail_loss_probe
            && let Some(item) = own("tail_loss_probe")
        {
            item.wrong(
                "the probe timeout of `rto = \"rfc9002\"` sends the probes, so `tail_loss_probe` has no effect",
                "leave it out, or write `rto = \"linux\"` or `\"rfc6298\"`",
            );
        }
        options.rack.tail_loss_probe = false;
    }
    if options.arithmetic == Arithmetic::Fixed && !law::compile_fixed(cc_item, cc, site)? {
        place("arithmetic").wrong(
            format!("the law `{name}` has no implementation in fixed-point arithmetic"),
            "write `\"f64\"`, or choose a law that has a kernel implementation",
        );
    }
    if options.limit == Limit::Pace {
        if options.pacing == Pacing::Off {
            place("limit")
                .wrong("nothing limits a sender without pacing and without a window", "leave `limit` or `pacing` out");
        } else if options.pacing == Pacing::Window {
            place("limit").wrong(
                "`pacing = \"window\"` spaces packets by the window, which then limits a sender too",
                "leave `limit` out, or write `pacing = \"law\"`",
            );
        } else if !law::paces(cc, site) {
            place("limit").wrong(
                format!("the law `{name}` sets no gap between packets, so only its window limits a sender"),
                "leave `limit` out, or choose a law that paces, such as `leadlag` or `fast`",
            );
        }
    }
    let counts = matches!(needs.marks, Marks::Price(_) | Marks::Counted);
    if counts && written("ecn_echo").is_none() {
        // A host that runs such a law tells of each mark.
        options.ecn_echo = EcnEcho::PerPacket;
    }
    if options.ecn_echo != EcnEcho::Accurate {
        if needs.reliable {
            for key in ["accecn_option", "receiver_ecn"] {
                if let Some(item) = own(key) {
                    item.wrong(
                        format!("`{key}` is a part of accurate ECN, so it has no effect here"),
                        "leave it out, or write `ecn_echo = \"accurate\"`",
                    );
                }
            }
        }
        let silent = SenderOptions::default();
        (options.accecn_option, options.receiver_ecn) = (silent.accecn_option, silent.receiver_ecn);
    }
    if options.echo() == EcnEcho::Classic {
        let falls_back = options.ecn_echo == EcnEcho::Accurate;
        if falls_back && !options.accecn_option {
            place("accecn_option").wrong(
                "a connection that falls back to RFC 3168 has no AccECN Option, so this has no effect",
                "leave it out, or leave `receiver_ecn` out",
            );
        }
        if counts {
            let reads = match needs.marks {
                Marks::Price(_) => "reads a price from the share of marked packets",
                _ => "counts marked packets",
            };
            let (key, instead) = if falls_back {
                ("receiver_ecn", "leave it out")
            } else {
                ("ecn_echo", "write `\"per-packet\"` or `\"accurate\"`")
            };
            let why = "since a latched echo hides how many packets are marked";
            place(key)
                .wrong(format!("a `classic` ECN echo does not suit the law `{name}`, which {reads}, {why}"), instead);
        }
    }
    Ok(())
}
