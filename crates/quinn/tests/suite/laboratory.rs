//! Endpoints of quinn over a line, in simulated time: quinn-proto does no input and no output of its own.
//!
//! Each flow is a client that sends without end to a server. All share one FIFO line with a buffer. Acknowledgements come back
//! over a line that is never full.

pub(crate) mod ends;
pub(crate) mod moves;
mod queue;
pub(crate) mod watch;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::BytesMut;
use penstock_quinn::Factory;
use quinn_proto::congestion::ControllerFactory;
use quinn_proto::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn_proto::{
    ClientConfig, Connection, ConnectionHandle, DatagramEvent, Dir, EcnCodepoint, Endpoint, EndpointConfig,
    IdleTimeout, ServerConfig, StreamId, Transmit, TransportConfig, VarInt,
};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};

use self::ends::{Answers, Ends, Waits, after_pause, draw, up};
use self::queue::{Arrival, AtHead, Datagram, Stage};
use crate::sequences::Draws;
use watch::Deed;

/// Datagrams that quinn hands to the kernel in one call, at most.
const SEGMENTS: usize = 10;

/// A datagram, unless a line has others [bytes].
pub(crate) const PACKET: f64 = 1200.0;

/// A line that the flows share.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Line {
    pub(crate) rate_bit_per_s: f64,
    /// Round-trip time without queue.
    pub(crate) rtt: Duration,
    /// A datagram with data [bytes].
    pub(crate) packet: f64,
    /// Packets that may wait.
    pub(crate) buffer: f64,
    /// True if CoDel drops them at the head too (RFC 8289).
    pub(crate) codel: bool,
    /// True if the line carries ECN, and CoDel marks what it would drop. Otherwise no packet can be marked.
    pub(crate) marks: bool,
    /// Of so many packets of a flow one is lost.
    pub(crate) lost_of: Option<u64>,
    pub(crate) ends: Ends,
}

impl Line {
    /// A line that drops what does not fit, and nothing else.
    pub(crate) const fn new(rate_bit_per_s: f64, rtt: Duration, buffer: f64) -> Self {
        let packet = PACKET;
        Self { rate_bit_per_s, rtt, packet, buffer, codel: false, marks: false, lost_of: None, ends: Ends::EXACT }
    }
}

/// The results of a flow, from the warm-up to the end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Flow {
    pub(crate) goodput_bit_per_s: f64,
    pub(crate) lost: u64,
}

/// The results of all of them.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) flows: Vec<Flow>,
    /// Packets that wait, without the one in transmission: the mean of samples each millisecond.
    pub(crate) queue: f64,
    /// Packets that CoDel marked, from the start.
    pub(crate) marked: u64,
}

/// Whichever factory a flow has.
pub(crate) type Makes = Arc<dyn ControllerFactory + Send + Sync>;

struct Side {
    endpoint: Endpoint,
    connection: Option<(ConnectionHandle, Connection)>,
    address: SocketAddr,
    stream: Option<StreamId>,
    taken: u64,
    sent: u64,
    /// Datagrams that left, if they are kept.
    left: Option<Vec<Left>>,
    /// Bytes that are still to be written.
    more: u64,
    /// When its thread went to sleep.
    slept: Instant,
    /// When its thread is awake, after a timer has gone off.
    wakes: Option<Instant>,
    /// When its kernel has what arrived last.
    arrived: Instant,
    /// When it reads next, at the earliest.
    reads: Instant,
}

/// A datagram that left a client.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Left {
    pub(crate) at_s: f64,
    pub(crate) bytes: usize,
    pub(crate) lost: bool,
}

/// Clients have even numbers, the server of each the number after.
struct Laboratory {
    line: Line,
    sides: Vec<Side>,
    client: Arc<QuicClientConfig>,
    server: Arc<QuicServerConfig>,
    under_way: BinaryHeap<Reverse<Arrival>>,
    order: u64,
    /// The time from which the line is free.
    free: Instant,
    at_head: Option<AtHead>,
    /// When what a client sent last has come to the line.
    reached: Instant,
    begin: Instant,
    /// The datagram of a client that is lost, counted from one; none if it is zero.
    lost: u64,
    /// What befalls datagrams of the first client, each the first with data from its time on.
    deeds: VecDeque<(Instant, Deed)>,
    draws: Draws,
}

fn is_client(number: usize) -> bool {
    number.is_multiple_of(2)
}

fn transport(packet: f64, makes: Option<Makes>) -> Arc<TransportConfig> {
    let mut config = TransportConfig::default();
    config
        .max_idle_timeout(Some(IdleTimeout::from(VarInt::from_u32(600_000))))
        .stream_receive_window(VarInt::from_u32(64 << 20))
        .receive_window(VarInt::from_u32(64 << 20))
        .send_window(64 << 20)
        // Packets of one size, as those of a simulation are.
        .initial_mtu(packet as u16)
        .mtu_discovery_config(None)
        .enable_segmentation_offload(false);
    if let Some(makes) = makes {
        config.congestion_controller_factory(makes);
    }
    Arc::new(config)
}

fn address(number: usize) -> SocketAddr {
    SocketAddr::from((Ipv4Addr::LOCALHOST, 10_000 + number as u16))
}

/// A transfer of so many bytes over a line, which loses one of its datagrams, counted from one: what left.
pub(crate) fn transfer(line: Line, flow: Makes, bytes: u64, lost: u64) -> Vec<Left> {
    let mut laboratory = Laboratory::new(line, 1);
    laboratory.sides[0].more = bytes;
    laboratory.sides[0].left = Some(Vec::new());
    laboratory.lost = lost;
    let mut now = laboratory.begin;
    laboratory.start(0, flow, now);
    while laboratory.sides[1].taken < bytes {
        now = now.max(laboratory.next().expect("the transfer is under way"));
        laboratory.step(now);
    }
    laboratory.sides[0].left.take().unwrap()
}

/// Runs flows for `seconds`, which start together; measures from `warmup`.
pub(crate) fn run(line: Line, flows: &[Makes], warmup: u64, seconds: u64) -> Outcome {
    let mut laboratory = Laboratory::new(line, flows.len());
    let begin = laboratory.begin;
    let at = |ms: u64| begin + Duration::from_millis(ms);
    let (mut queued, mut samples, mut started) = (0.0, 0, 0);
    let mut before = vec![(0, 0); flows.len()];
    let mut now = begin;
    for ms in 0..=seconds * 1000 {
        let until = at(ms);
        while let Some(next) = laboratory.next().filter(|next| *next <= until) {
            now = now.max(next);
            laboratory.step(now);
        }
        now = until;
        while started < flows.len() {
            laboratory.start(started, Arc::clone(&flows[started]), now);
            started += 1;
        }
        if ms == warmup * 1000 {
            before = (0..flows.len()).map(|flow| laboratory.counts(flow)).collect();
        }
        if ms > warmup * 1000 {
            queued += laboratory.waiting(now);
            samples += 1;
        }
    }
    let span = (seconds - warmup) as f64;
    let flows = before.iter().enumerate().map(|(number, before)| {
        let after = laboratory.counts(number);
        Flow { goodput_bit_per_s: 8.0 * (after.0 - before.0) as f64 / span, lost: after.1 - before.1 }
    });
    let flows = flows.collect();
    let marked = laboratory.at_head.map_or(0, |queue| queue.marked);
    Outcome { flows, queue: queued / f64::from(samples), marked }
}

impl Laboratory {
    /// Ends of so many flows that have not started.
    fn new(line: Line, flows: usize) -> Self {
        let certified = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
        let certificate = CertificateDer::from(certified.cert);
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(certified.signing_key.serialize_der()));
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let versions = [&rustls::version::TLS13];
        let server = rustls::ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_protocol_versions(&versions)
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.clone()], key)
            .unwrap();
        let server = Arc::new(QuicServerConfig::try_from(server).unwrap());
        let mut roots = rustls::RootCertStore::empty();
        roots.add(certificate).unwrap();
        let client = rustls::ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&versions)
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        let client = Arc::new(QuicClientConfig::try_from(client).unwrap());

        let begin = Instant::now();
        let mut sides = Vec::new();
        for number in 0..flows {
            let mut config = EndpointConfig::default();
            config.rng_seed(Some([number as u8; 32]));
            let config = Arc::new(config);
            let mut accepts = ServerConfig::with_crypto(Arc::clone(&server) as _);
            accepts.transport_config(transport(line.packet, None));
            for (offset, accepts) in [(0, None), (1, Some(Arc::new(accepts)))] {
                let endpoint = Endpoint::new(Arc::clone(&config), accepts, false, None);
                let address = address(2 * number + offset);
                sides.push(Side {
                    endpoint,
                    connection: None,
                    address,
                    stream: None,
                    taken: 0,
                    sent: 0,
                    left: None,
                    more: u64::MAX,
                    slept: begin,
                    wakes: None,
                    arrived: begin,
                    reads: begin,
                });
            }
        }
        let at_head = line.codel.then(|| AtHead::codel(begin, &line));
        Self {
            line,
            sides,
            client,
            server,
            under_way: BinaryHeap::new(),
            order: 0,
            free: begin,
            at_head,
            reached: begin,
            begin,
            lost: 0,
            deeds: VecDeque::new(),
            draws: Draws(line.ends.seed),
        }
    }

    /// A flow starts.
    fn start(&mut self, flow: usize, makes: Makes, now: Instant) {
        self.connect(2 * flow, transport(self.line.packet, Some(makes)), now);
    }

    /// An end connects to the other.
    fn connect(&mut self, number: usize, transport: Arc<TransportConfig>, now: Instant) {
        let mut config = ClientConfig::new(Arc::clone(&self.client) as _);
        config.transport_config(transport);
        let to = self.sides[number ^ 1].address;
        let side = &mut self.sides[number];
        side.connection = Some(side.endpoint.connect(now, config, to, "localhost").unwrap());
        self.drive(number, now);
    }

    /// How an end accepts connections.
    fn accepts(&self, makes: Option<Makes>) -> ServerConfig {
        let mut accepts = ServerConfig::with_crypto(Arc::clone(&self.server) as _);
        accepts.transport_config(transport(self.line.packet, makes));
        accepts
    }

    /// Bytes taken by a flow's server, and packets lost by its client.
    fn counts(&self, flow: usize) -> (u64, u64) {
        let path = self.sides[2 * flow].connection.as_ref().unwrap().1.stats().path;
        (self.sides[2 * flow + 1].taken, path.lost_packets)
    }

    /// Packets that wait, without the one in transmission.
    fn waiting(&self, now: Instant) -> f64 {
        if let Some(at_head) = &self.at_head {
            return at_head.waiting.len() as f64;
        }
        let busy_s = self.free.saturating_duration_since(now).as_secs_f64();
        ((busy_s * self.line.rate_bit_per_s / 8.0 / self.line.packet).ceil() - 1.0).max(0.0)
    }

    /// The time of the next event.
    fn next(&mut self) -> Option<Instant> {
        let arrival = self.under_way.peek().map(|Reverse(arrival)| arrival.at);
        let timers = (0..self.sides.len()).filter_map(|number| self.goes_off(number)).min();
        let departure = self.at_head.as_ref().filter(|queue| !queue.waiting.is_empty()).map(|_| self.free);
        [arrival, timers, departure].into_iter().flatten().min()
    }

    /// When the timer of an end goes off.
    fn goes_off(&mut self, number: usize) -> Option<Instant> {
        let (tick, begin, side) = (self.line.ends.tick, self.begin, &mut self.sides[number]);
        if side.wakes.is_some() {
            return side.wakes;
        }
        let due = side.connection.as_mut()?.1.poll_timeout()?;
        if due <= side.slept {
            return Some(side.slept);
        }
        let due = begin + up(due - begin, tick);
        Some(side.slept + up(due - side.slept, tick))
    }

    /// Processes the events that are due now.
    fn step(&mut self, now: Instant) {
        self.serve(now);
        while self.under_way.peek().is_some_and(|Reverse(arrival)| arrival.at <= now) {
            let Reverse(Arrival { datagram, stage, .. }) = self.under_way.pop().unwrap();
            match stage {
                Stage::Leaves => self.enter(now, datagram),
                Stage::Arrives => {
                    let wake_up = self.time_of(datagram.to, |end| end.wake_up);
                    let side = &mut self.sides[datagram.to];
                    if side.reads < now {
                        // A timer may be waking it already.
                        side.reads = side.wakes.unwrap_or(now + wake_up);
                    }
                    let at = side.reads;
                    self.come(at, Stage::Read, datagram);
                }
                Stage::Read => {
                    self.arrive(&datagram, now);
                    self.drive(datagram.to, now);
                }
            }
        }
        for number in 0..self.sides.len() {
            if self.goes_off(number).is_none_or(|due| due > now) {
                continue;
            }
            let wake_up = self.time_of(number, |end| end.wake_up);
            let side = &mut self.sides[number];
            if side.wakes.take().is_none() && side.reads < now && !wake_up.is_zero() {
                side.wakes = Some(now + wake_up);
            } else if let Some((_, connection)) = &mut side.connection {
                connection.handle_timeout(now);
                self.drive(number, now);
            }
        }
    }

    /// The line takes from its queue what it can.
    fn serve(&mut self, now: Instant) {
        while self.free <= now
            && let Some(queue) = &mut self.at_head
            && let Some(datagram) = queue.next(now)
        {
            self.free = now + self.takes(datagram.bytes.len());
            self.carry(self.free + self.line.rtt / 2, datagram);
        }
    }

    fn takes(&self, bytes: usize) -> Duration {
        Duration::from_secs_f64(8.0 * bytes as f64 / self.line.rate_bit_per_s)
    }

    fn carry(&mut self, at: Instant, datagram: Datagram) {
        let Ends { batch, pause, .. } = self.line.ends;
        let at = self.begin + after_pause(up(at - self.begin, batch), pause);
        let late = self.time_of(datagram.to, |end| end.path);
        let arrived = &mut self.sides[datagram.to].arrived;
        *arrived = (at + late).max(*arrived);
        let at = *arrived;
        self.come(at, Stage::Arrives, datagram);
    }

    /// A random time of a part of an answer of this end.
    fn time_of(&mut self, number: usize, part: fn(&Answers) -> Waits) -> Duration {
        draw(part(&self.line.ends.waits[number % 2]), &mut self.draws).mul_f64(self.line.ends.scale)
    }

    fn come(&mut self, at: Instant, stage: Stage, datagram: Datagram) {
        self.order += 1;
        self.under_way.push(Reverse(Arrival { at, order: self.order, stage, datagram }));
    }

    fn arrive(&mut self, &Datagram { to: number, ecn, ref bytes }: &Datagram, now: Instant) {
        let from = self.sides[number ^ 1].address;
        let side = &mut self.sides[number];
        let mut out = Vec::new();
        match side.endpoint.handle(now, from, None, ecn, BytesMut::from(&bytes[..]), &mut out) {
            Some(DatagramEvent::ConnectionEvent(_, event)) => {
                if let Some((_, connection)) = &mut side.connection {
                    connection.handle_event(event);
                }
            }
            Some(DatagramEvent::NewConnection(incoming)) => {
                side.connection = Some(side.endpoint.accept(incoming, now, &mut out, None).unwrap());
            }
            Some(DatagramEvent::Response(transmit)) => self.send(number, now, &transmit, &out),
            None => {}
        }
    }

    /// One end does what it can: it reads, writes and sends.
    fn drive(&mut self, number: usize, now: Instant) {
        let chunk = [0u8; 1 << 14];
        let side = &mut self.sides[number];
        let Some((handle, connection)) = &mut side.connection else { return };
        while let Some(event) = connection.poll() {
            match event {
                quinn_proto::Event::Connected if is_client(number) => side.stream = connection.streams().open(Dir::Uni),
                quinn_proto::Event::Stream(_) if !is_client(number) => {
                    side.stream = side.stream.or_else(|| connection.streams().accept(Dir::Uni));
                }
                quinn_proto::Event::ConnectionLost { reason } => panic!("connection lost: {reason}"),
                _ => {}
            }
        }
        if let Some(stream) = side.stream {
            if is_client(number) {
                while side.more > 0 {
                    let some = chunk.len().min(usize::try_from(side.more).unwrap_or(usize::MAX));
                    let Ok(written) = connection.send_stream(stream).write(&chunk[..some]) else { break };
                    side.more -= written as u64;
                }
            } else {
                let mut receiving = connection.recv_stream(stream);
                let mut chunks = receiving.read(false).unwrap();
                while let Ok(Some(chunk)) = chunks.next(usize::MAX) {
                    side.taken += chunk.bytes.len() as u64;
                }
                let _ = chunks.finalize();
            }
        }
        while let Some(event) = connection.poll_endpoint_events() {
            if let Some(answer) = side.endpoint.handle_event(*handle, event) {
                connection.handle_event(answer);
            }
        }
        let mut sent = Vec::new();
        loop {
            let mut bytes = Vec::new();
            let Some(transmit) = connection.poll_transmit(now, 1, &mut bytes) else { break };
            sent.push((transmit, bytes));
        }
        let mut leaves = now;
        for (place, (transmit, bytes)) in sent.into_iter().enumerate() {
            if place == 0 {
                leaves = now.max(self.sides[number].reads) + self.time_of(number, |end| end.work);
            }
            let begins = leaves;
            if place % SEGMENTS == 0 {
                leaves += self.time_of(number, |end| end.send);
            }
            self.send(number, begins, &transmit, &bytes);
        }
        let side = &mut self.sides[number];
        side.reads = leaves.max(side.reads);
        side.slept = leaves;
    }

    /// A datagram leaves an end: a client's goes over the line, a server's is only late.
    fn send(&mut self, from: usize, now: Instant, transmit: &Transmit, bytes: &[u8]) {
        assert!(transmit.segment_size.is_none(), "one datagram at a time");
        let half = self.line.rtt / 2;
        let ecn = transmit.ecn.filter(|_| self.line.marks);
        let mut datagram = Datagram { to: from ^ 1, ecn, bytes: bytes[..transmit.size].to_vec() };
        if !is_client(from) {
            return self.carry(now + half, datagram);
        }
        self.sides[from].sent += 1;
        let number = self.sides[from].sent;
        let deed = self.befalls(from, transmit.size, now);
        if deed == Some(Deed::Marks) {
            datagram.ecn = datagram.ecn.map(|_| EcnCodepoint::Ce);
        }
        let lost = self.line.lost_of.is_some_and(|of| number.is_multiple_of(of))
            || self.lost == number
            || deed == Some(Deed::Loses);
        if let Some(left) = &mut self.sides[from].left {
            left.push(Left { at_s: (now - self.begin).as_secs_f64(), bytes: transmit.size, lost });
        }
        if !lost {
            self.reached = self.reached.max(now + self.time_of(from, |end| end.path));
            self.come(self.reached, Stage::Leaves, datagram);
        }
    }

    /// A datagram comes to the line.
    fn enter(&mut self, now: Instant, datagram: Datagram) {
        if self.free > now && self.waiting(now) + 1.0 > self.line.buffer {
            return;
        }
        if let Some(queue) = &mut self.at_head {
            queue.waiting.push_back((now, datagram));
            return self.serve(now);
        }
        self.free = self.free.max(now) + self.takes(datagram.bytes.len());
        self.carry(self.free + self.line.rtt / 2, datagram);
    }
}

/// A factory as quinn takes it.
pub(crate) fn makes(factory: Factory) -> Makes {
    Arc::new(factory)
}
