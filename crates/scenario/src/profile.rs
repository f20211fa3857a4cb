//! Hosts: the behaviour of senders and receivers of a kind, as one word.

use penstock_law::parameter::{Parameter, Values};
use penstock_law::quantity::Time;

use crate::model::{EcnEcho, Pacing, Profile, RackOptions, Recovery, Rto, SenderOptions};

impl Profile {
    /// The options of the host.
    pub fn options(self) -> SenderOptions {
        let silent = SenderOptions::default();
        let today = SenderOptions {
            profile: self,
            // RFC 6928; Linux's `TCP_INIT_CWND`; RFC 9002, section 7.2.
            initial_window: 10.0,
            recovery: Recovery::Rack,
            // RFC 5681, section 4.2; RFC 9000, section 13.2.2.
            delayed_ack: 2,
            // RFC 9293, section 3.5; RFC 9001, section 4.
            handshake: true,
            // RFC 2018, section 3: what fits beside timestamps.
            sack_blocks: 3,
            ..silent.clone()
        };
        match self {
            Self::Ns2 => silent,
            // RFC 6298, rule 2.4; RFC 3168.
            Self::Rfc => SenderOptions { min_rto: Time(Time::PER_SECOND), ecn_echo: EcnEcho::Classic, ..today },
            // `TCP_RTO_MIN`, `TCP_MAX_QUICKACKS`.
            Self::Linux => SenderOptions { rto: Rto::Linux, quick_acks: 16, ecn_echo: EcnEcho::Classic, ..today },
            // QUIC counts marks. A probe timeout stands for a retransmission timeout and a tail loss probe, and kGranularity is a
            // millisecond (RFC 9002, sections 6.2 and 6.1.2). Its acknowledgements have ranges without a limit (RFC 9000, section
            // 19.3): as many as there are here. A gap is told at once when it opens (section 13.2.1). max_ack_delay has its default
            // (section 18.2).
            Self::Quic => SenderOptions {
                min_rto: Time(Time::PER_SECOND / 1000),
                rto: Rto::Rfc9002,
                sack_blocks: 4,
                max_ack_delay: Time(Time::PER_SECOND / 40),
                ack_gap_once: true,
                rack: RackOptions { prr: false, tail_loss_probe: false, dsack: false, undo: false },
                pacing: Pacing::Window,
                ..today
            },
        }
    }

    /// Parameters of laws that the host has otherwise than the registry.
    pub fn parameters(self) -> &'static [(&'static str, f64)] {
        match self {
            Self::Ns2 => &[],
            // RFC 3465, section 2.2; RFC 9406; RFC 5681, equation (4).
            Self::Rfc => &[("per_ack", 2.0), ("hystart", 1.0), ("flight_size", 1.0)],
            // `tcp_slow_start` and `tcp_cong_avoid_ai` count every packet; `tcp_cubic` keeps its slope in the Reno-friendly region, and
            // does not wait for the cubic before its first congestion event.
            Self::Linux => &[
                ("per_ack", 65_535.0),
                ("hystart", 1.0),
                ("hystart_rule", 1.0),
                ("friendly_catches_up", 0.0),
                ("initial_growth", 0.05),
            ],
            // RFC 9002 counts bytes; draft-ietf-ccwg-bbr, section 5.5.8.2.
            Self::Quic => &[("per_ack", 65_535.0), ("hystart", 1.0), ("offload_quanta", 1.0)],
        }
    }

    /// Gives the parameters of a law that are not written the host's values.
    pub(crate) fn fill(self, parameters: &'static [Parameter], values: &mut Values, written: impl Fn(&str) -> bool) {
        for (name, value) in self.parameters() {
            if let Some(parameter) = parameters.iter().find(|p| p.name == *name)
                && !written(name)
                // Another end of slow start was chosen.
                && (*name != "hystart" || !written("search"))
                // Which rule it has says nothing where it is off.
                && (*name != "hystart_rule" || values.switch("hystart"))
            {
                // Of another law a parameter of this name may have another range: then its default stays.
                let _ = values.set(parameter, *value);
            }
        }
    }
}
