//! The counters and the cost of an attached controller, from its link alone.

use libbpf_rs::query::{LinkTypeInfo, ProgInfoIter, ProgInfoQueryOptions};
use libbpf_rs::{Link, MapCore, MapFlags, MapHandle, MapType, ProgramType};

use crate::attach::attachment::Figure;
use crate::attach::error::Error;

/// The cost of a controller, by the kernel's own statistics.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cost {
    /// Acknowledgements that were counted.
    pub acks: u64,
    /// Mean time of one [ns].
    pub nanoseconds_an_ack: f64,
}

/// The capacity by a controller's packet pairs, of whatever connection had the last one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Capacity {
    /// Pairs that counted, of all connections.
    pub pairs: u64,
    /// The bottleneck's capacity [packets/s].
    pub packets_per_s: f64,
}

/// The size of `struct counters` of bpf/cc/host.h, and of `struct estimate` of bpf/cc/ccpd.bpf.c [B].
const COUNTERS: u32 = 40;
const ESTIMATE: u32 = 16;

fn is_shaped(map: &MapHandle, kind: MapType, size: u32) -> bool {
    map.map_type() == kind && map.key_size() == 4 && map.value_size() == size
}

fn stranger() -> Error {
    Error::Input("the pin is of something else than a controller of Penstock's".to_owned())
}

/// Everything that is known of it.
#[derive(Debug, Default)]
pub(super) struct Figures {
    /// The text of `.rodata.origin`.
    pub(super) origin: String,
    pub(super) cost: Option<Cost>,
    /// `struct estimate` of bpf/cc/ccpd.bpf.c; none before the first pair, and of those that look for none.
    pub(super) capacity: Option<Capacity>,
    /// `struct counters` of bpf/cc/host.h, summed over processors.
    counters: [u64; 5],
    /// The instructions that the verifier processed for the program of an acknowledgement.
    verified_instructions: u32,
    /// Maps behind the link.
    pub(super) maps: Vec<u32>,
}

impl Figures {
    /// Of the programs behind a link of struct_ops.
    pub(super) fn of(link: &Link) -> Result<Self, Error> {
        let kernel =
            |what: &'static str| move |source| Error::Kernel { what: what.to_owned(), source, verifier: String::new() };
        let about = link.info().map_err(kernel("the kernel does not report a link"))?;
        let LinkTypeInfo::StructOps(behind) = about.info else {
            return Err(stranger());
        };
        let map = MapHandle::from_map_id(behind.map_id)
            .map_err(kernel("the kernel does not report the state of a controller"))?;
        let value = map.lookup(&0u32.to_ne_bytes(), MapFlags::ANY);
        let value = value.map_err(kernel("the kernel does not report the state of a controller"))?.unwrap_or_default();
        // In the places of functions the kernel shows the numbers of programs.
        let words = value.chunks_exact(8).map(|word| u64::from_ne_bytes(word.try_into().unwrap_or_default()));
        let ids: Vec<u32> = words.filter_map(|word| u32::try_from(word).ok()).filter(|id| *id != 0).collect();
        let (mut figures, mut estimates) = (Self::default(), false);
        for program in ProgInfoIter::with_query_opts(ProgInfoQueryOptions::default().include_map_ids(true)) {
            if !ids.contains(&program.id) || program.ty != ProgramType::StructOps {
                continue;
            }
            for id in program.map_ids {
                if !figures.maps.contains(&id) {
                    figures.maps.push(id);
                }
            }
            estimates |= program.name.to_str() == Some("ccpd_control");
            if program.name.to_str().is_some_and(|name| name.ends_with("_control")) {
                figures.verified_instructions = program.verified_insns;
                figures.cost = (program.run_cnt > 0).then(|| Cost {
                    acks: program.run_cnt,
                    nanoseconds_an_ack: program.run_time_ns as f64 / program.run_cnt as f64,
                });
            }
        }
        let map = map_of(&figures.maps, ".rodata.origin").ok_or_else(stranger)?;
        let value = map.lookup(&0u32.to_ne_bytes(), MapFlags::ANY).ok().flatten().unwrap_or_default();
        let text = value.split(|byte| *byte == 0).next().unwrap_or_default();
        figures.origin = String::from_utf8_lossy(text).into_owned();
        // A program that an entry brings may have maps of these names that are something else.
        let shaped = |name, kind, size| map_of(&figures.maps, name).filter(|map| is_shaped(map, kind, size));
        if let Some(map) = shaped("counters", MapType::PercpuArray, COUNTERS) {
            let each = map.lookup_percpu(&0u32.to_ne_bytes(), MapFlags::ANY);
            let each = each.map_err(kernel("the kernel does not report counters"))?.unwrap_or_default();
            for value in each {
                for (sum, word) in figures.counters.iter_mut().zip(value.chunks_exact(8)) {
                    *sum += u64::from_ne_bytes(word.try_into().unwrap_or_default());
                }
            }
        }
        if estimates && let Some(map) = shaped("estimates", MapType::Array, ESTIMATE) {
            let value = map.lookup(&0u32.to_ne_bytes(), MapFlags::ANY);
            let value = value
                .map_err(kernel(
                    "the kernel gives no value of the map `estimates`, which has the capacity that the law measures",
                ))?
                .unwrap_or_default();
            let mut words = value.chunks_exact(8).map(|word| u64::from_ne_bytes(word.try_into().unwrap_or_default()));
            let (capacity, pairs) = (words.next().unwrap_or(0) as i64, words.next().unwrap_or(0));
            let packets_per_s = capacity as f64 / 4_294_967_296.0;
            figures.capacity = (pairs > 0).then_some(Capacity { pairs, packets_per_s });
        }
        Ok(figures)
    }

    /// The same as a list of figures.
    pub(super) fn listed(&self) -> Vec<Figure> {
        let [opened, closed, congestion_events, timeouts, marked] = self.counters.map(|count| count as f64);
        let figure = |name: &str, what: &str, counter, value| Figure {
            name: name.to_owned(),
            what: what.to_owned(),
            counter,
            value,
        };
        let mut listed = vec![
            figure("sockets", "connections that have it", false, opened - closed),
            figure("connections", "connections that have had it", true, opened),
            figure("congestion_events", "congestion events", true, congestion_events),
            figure("timeouts", "retransmission timeouts", true, timeouts),
            figure("marked_packets", "packets whose acknowledgement echoed a mark", true, marked),
            figure(
                "verified_instructions",
                "instructions that the verifier checked of the program run at each acknowledgement",
                false,
                f64::from(self.verified_instructions),
            ),
        ];
        if let Some(capacity) = self.capacity {
            listed.push(figure("packet_pairs", "packet pairs that counted", true, capacity.pairs as f64));
            let what = "packets/s of the bottleneck, by the last of them";
            listed.push(figure("capacity", what, false, capacity.packets_per_s));
        }
        if let Some(cost) = self.cost {
            listed.push(figure("acks", "acknowledgements while the kernel counted", true, cost.acks as f64));
            let each = figure("nanoseconds_per_ack", "ns an acknowledgement", false, cost.nanoseconds_an_ack);
            listed.push(each);
        }
        listed
    }
}

/// The map with that name among those of an attachment.
pub(super) fn map_of(ids: &[u32], name: &str) -> Option<MapHandle> {
    ids.iter().filter_map(|id| MapHandle::from_map_id(*id).ok()).find(|map| map.name() == name)
}
