//! The ends of a run as endpoints of QUIC stacks, quinn and s2n-quic: a client for each flow, a server for each flow, and a connection for each transfer.
//!
//! Each end has one thread with a runtime of tokio. The certificate is made for the run, and nothing else knows it.

mod measured;
#[cfg(feature = "s2n")]
mod s2n;
mod socket;
mod stack;
mod transfer;

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use bytes::Bytes as Content;
use penstock_law::quantity::Time;
use penstock_machine::clock::{Clock, duration};
use penstock_machine::scheduling::prefer_this_thread;
use penstock_path::address;
use penstock_path::packet::Direction;
use penstock_scenario::model::Scenario;
use penstock_scenario::transfer::Transfer;
use penstock_scenario::world::Log;
use quinn::{
    ClientConfig, Endpoint, EndpointConfig, Incoming, QlogConfig, QlogStream, Runtime, ServerConfig, TokioRuntime,
    TransportConfig, VarInt,
};
use tokio::runtime;
use tokio::sync::mpsc::unbounded_channel;
use tokio::sync::{Notify, watch};

use crate::quinn::keys::Keys;

use super::plan::{FlowPlan, HEADERS_OF_QUIC, Quic, Source};
use super::receiver::Received;
use super::sender::{LOOK, Reading, Readings, Sender, Sent, Told};
use super::traffic::{Happening, Traffic};

use socket::WithoutEcn;
use stack::Connection;
use transfer::{Said, Way};

/// Where servers listen.
const PORT: u16 = 4433;
/// Data that may be under way or wait, where a receiver has no bound of its own [bytes].
const ROOM: u32 = 1 << 28;
/// Written at once [bytes].
const CHUNK: usize = 1 << 16;
/// Timers are of a millisecond, and one that is later by so much waited for a processor.
const ON_TIME: Time = Time(2_000_000_000);

/// Settings of the ends of a run: a certificate, and a client's settings for each flow.
#[derive(Debug)]
pub(super) struct Ends {
    server: ServerConfig,
    /// Where a flow has a controller of s2n-quic.
    #[cfg(feature = "s2n")]
    s2n: Option<s2n::Ends>,
    /// None for flows of datagrams.
    clients: Vec<Option<Client>>,
    mtu: u16,
    /// A thread of an end had no priority.
    deferred: AtomicBool,
    /// Time that the receiving end waited for a processor [ps].
    late_ps: AtomicU64,
    clock: Clock,
}

#[derive(Debug)]
struct Client {
    settings: Settings,
    /// Data that its receiver has room for [bytes].
    room: u32,
    /// Its socket, in a few words.
    kind: String,
}

/// The settings of a flow, for the stack that sends it.
#[derive(Debug)]
enum Settings {
    Quinn {
        config: Box<ClientConfig>,
        ecn: bool,
    },
    #[cfg(feature = "s2n")]
    S2n(s2n::Settings),
}

fn runtime() -> io::Result<runtime::Runtime> {
    runtime::Builder::new_current_thread().enable_all().build()
}

impl Ends {
    /// `log` gives the place for the log of a flow's connections, if somebody wants it; its times count as those of `clock`.
    pub(super) fn new(
        scenario: &Scenario,
        flows: &[FlowPlan],
        clock: Clock,
        log: &mut dyn FnMut(u32) -> Option<Log>,
    ) -> io::Result<Self> {
        let Keys { server, client } = Keys::new()?;
        let mtu = scenario.packet.wire.0.saturating_sub(HEADERS_OF_QUIC) as u16;

        let server = ServerConfig::with_crypto(server);
        #[cfg(feature = "s2n")]
        let s2n = flows
            .iter()
            .any(|flow| of_quic(flow).is_some_and(|quic| crate::s2n::is_own(quic.chosen.law.name)))
            .then(|| s2n::Ends::new(mtu + HEADERS_OF_QUIC as u16, ROOM))
            .transpose()?;
        let clients = flows.iter().enumerate().map(|(number, flow)| {
            let Some(quic) = of_quic(flow) else { return Ok(None) };
            let room = quic.receive_window.map_or(ROOM, |room| room.0.min(ROOM.into()) as u32);
            #[cfg(feature = "s2n")]
            if crate::s2n::is_own(quic.chosen.law.name) {
                let law = quic.chosen.law.name;
                let name = format!("{} of s2n-quic", law.trim_start_matches("s2n-"));
                let log = log(number as u32).map(|log| s2n::Qlog::new(log, &format!("flow {number}: {name}"), clock));
                let initial_window = (quic.initial_window * f64::from(mtu)) as u32;
                let kind = format!("{name}, QUIC, ECN, {mtu} B a datagram");
                let settings = Settings::S2n(s2n::Settings { law, initial_window, log });
                return Ok(Some(Client { settings, room, kind }));
            }
            let seed = scenario.seed.stream(&format!("quic/{number}")).bits();
            let (makes, name) = crate::quinn::makes(&quic.chosen, mtu, quic.initial_window, seed);
            let mut transport = transport(mtu, ROOM);
            transport.congestion_controller_factory(makes);
            if let Some(log) = log(number as u32) {
                transport.qlog_stream(Some(qlog(log, format!("flow {number}: {name}"), clock)?));
            }
            let mut config = ClientConfig::new(Arc::clone(&client) as _);
            config.transport_config(Arc::new(transport));
            let ecn = if quic.ecn { ", ECN" } else { "" };
            let kind = format!("{name}, QUIC{ecn}, {mtu} B a datagram");
            Ok(Some(Client { settings: Settings::Quinn { config: Box::new(config), ecn: quic.ecn }, room, kind }))
        });
        Ok(Self {
            server,
            #[cfg(feature = "s2n")]
            s2n,
            clients: clients.collect::<io::Result<_>>()?,
            mtu,
            deferred: AtomicBool::new(false),
            late_ps: AtomicU64::new(0),
            clock,
        })
    }

    /// An end that waits for a processor would be measured in the place of its controller.
    fn prefer(&self) {
        if !prefer_this_thread() {
            self.deferred.store(true, Ordering::Relaxed);
        }
    }

    /// Findings on priority that the ends did not get, once both are over.
    pub(super) fn finding(&self) -> Option<String> {
        self.deferred.load(Ordering::Relaxed).then(|| {
            "this kernel gave the ends of QUIC no priority (`SCHED_FIFO`): other programs may have delayed them"
                .to_owned()
        })
    }

    /// Time that the receiving end waited for a processor, once it is over.
    pub(super) fn receiver_late(&self) -> Time {
        Time(self.late_ps.load(Ordering::Relaxed))
    }

    fn endpoint(&self, at: SocketAddr, server: Option<ServerConfig>, ecn: bool) -> io::Result<Endpoint> {
        let mut config = EndpointConfig::default();
        config.max_udp_payload_size(self.mtu.max(1472)).map_err(io::Error::other)?;
        let runtime = Arc::new(TokioRuntime);
        let socket = runtime.wrap_udp_socket(UdpSocket::bind(at)?)?;
        let socket = if ecn { socket } else { Arc::new(WithoutEcn(socket)) };
        Endpoint::new_with_abstract_socket(config, server, socket, runtime)
    }

    /// Receives on the calling thread, which is in the receivers' namespace, until `stop`.
    pub(super) fn receive(&self, received: &Arc<Received>, stop: &AtomicBool) -> io::Result<()> {
        self.prefer();
        runtime()?.block_on(async {
            for (number, client) in (0..).zip(&self.clients) {
                let Some(client) = client else { continue };
                self.serve(number, client, Arc::clone(received))?;
            }
            while !stop.load(Ordering::Relaxed) {
                let due = self.clock.now() + LOOK + ON_TIME;
                tokio::time::sleep(duration(LOOK)).await;
                self.late_ps.fetch_add(self.clock.now().since(due).0, Ordering::Relaxed);
            }
            Ok(())
        })
    }

    /// Starts the server of a flow.
    fn serve(&self, number: u32, client: &Client, received: Arc<Received>) -> io::Result<()> {
        let at = (address::v4(Direction::Forward, number), PORT).into();
        // A connection that ends early has sent what it has sent.
        match &client.settings {
            Settings::Quinn { .. } => {
                let mut server = self.server.clone();
                server.transport_config(Arc::new(transport(self.mtu, client.room)));
                let endpoint = self.endpoint(at, Some(server), true)?;
                tokio::spawn(async move {
                    while let Some(incoming) = endpoint.accept().await {
                        tokio::spawn(take(incoming, Arc::clone(&received), number as usize));
                    }
                });
            }
            #[cfg(feature = "s2n")]
            Settings::S2n(_) => {
                let Some(s2n) = &self.s2n else { return Ok(()) };
                let mut server = s2n.server(at, client.room)?;
                tokio::spawn(async move {
                    while let Some(connection) = server.accept().await {
                        let received = Arc::clone(&received);
                        tokio::spawn(s2n::take(connection, move |bytes| {
                            received[number as usize].fetch_add(bytes, Ordering::Relaxed);
                        }));
                    }
                });
            }
        }
        Ok(())
    }

    /// The client of a flow.
    fn client(&self, at: SocketAddr, settings: &Settings) -> io::Result<stack::Client> {
        match settings {
            Settings::Quinn { config, ecn } => Ok(stack::Client::Quinn(self.endpoint(at, None, *ecn)?, config.clone())),
            #[cfg(feature = "s2n")]
            Settings::S2n(settings) => {
                let s2n = self.s2n.as_ref().ok_or_else(|| io::Error::other("s2n-quic has no certificate"))?;
                Ok(stack::Client::S2n(s2n.client(at, settings)?))
            }
        }
    }

    /// Sends on the calling thread, which is in the senders' namespace, until it is stopped.
    pub(super) fn send(&self, sender: &Sender<'_>) -> io::Result<Sent> {
        self.prefer();
        sender.clock.sleep_until_start();
        runtime()?.block_on(self.sending(sender))
    }

    async fn sending(&self, sender: &Sender<'_>) -> io::Result<Sent> {
        let mut flows: Vec<Flow> = self.clients.iter().map(|_| Flow::default()).collect();
        let chunk = Content::from(vec![0; CHUNK]);
        let turns: Vec<watch::Sender<bool>> = flows.iter().map(|_| watch::Sender::new(false)).collect();
        let way = |number: usize, client: &Client| -> io::Result<Way> {
            let ends = [Direction::Reverse, Direction::Forward].map(|end| address::v4(end, number as u32));
            Ok(Way {
                client: self.client((ends[0], 0).into(), &client.settings)?,
                to: (ends[1], PORT).into(),
                stop: Arc::new(Notify::new()),
                silent: turns[number].subscribe(),
                chunk: chunk.clone(),
            })
        };
        let ways = self
            .clients
            .iter()
            .enumerate()
            .map(|(number, client)| client.as_ref().map(|client| way(number, client)).transpose());
        let ways: Vec<Option<Way>> = ways.collect::<io::Result<_>>()?;
        let mut traffic = Traffic::of(sender.scenario, sender.flows);
        let mut readings = Readings::new(sender.boundaries, sender.scenario.sample);
        let mut sent = Sent { controllers: vec![None; flows.len()], ..Sent::default() };
        let (tell, mut heard) = unbounded_channel();
        let mut next_look = Time::ZERO;
        loop {
            let now = sender.clock.now();
            let over = sender.stop.load(Ordering::Relaxed);
            while let Some(happening) = traffic.happened(now).filter(|_| !over) {
                match happening {
                    Happening::Begin(begin) => {
                        if let Some(way) = &ways[begin.flow as usize] {
                            tokio::spawn(way.clone().transfer(begin, now, tell.clone()));
                        }
                    }
                    Happening::Stop(flow) => {
                        if let Some(way) = &ways[flow as usize] {
                            way.stop.notify_one();
                        }
                    }
                    // Nobody listens where a transfer is over.
                    Happening::Silent(flow) => {
                        turns[flow as usize].send_replace(true);
                    }
                    Happening::Speaks(flow) => {
                        turns[flow as usize].send_replace(false);
                    }
                }
            }
            if now >= next_look || over {
                next_look = now + LOOK;
                for (flow, received) in flows.iter_mut().zip(sender.received) {
                    flow.look(now, received.load(Ordering::Relaxed), self.mtu);
                }
                sender.look_for_the_end(flows.iter().map(|flow| &flow.told));
            }
            let reading = || Reading { at: sender.clock.now(), flows: flows.iter().map(|flow| flow.told).collect() };
            readings.take(now, over, &mut sent, reading);
            if over {
                flows.iter().enumerate().try_for_each(|(number, flow)| flow.examine(number))?;
                return Ok(sent);
            }
            let due = next_look.min(readings.next()).min(traffic.next());
            let wait = due.since(sender.clock.now());
            let said = tokio::select! {
                said = heard.recv() => said,
                () = tokio::time::sleep(duration(wait)) => None,
            };
            let now = sender.clock.now();
            sent.late += now.since(due + ON_TIME);
            match said {
                Some(Said::Connected(flow, connection)) => {
                    let at = flow as usize;
                    sent.controllers[at] = self.clients[at].as_ref().map(|client| client.kind.clone());
                    flows[at].begin(connection, now);
                }
                Some(Said::Done(begin, began)) => {
                    let flow = &mut flows[begin.flow as usize];
                    let received = sender.received[begin.flow as usize].load(Ordering::Relaxed);
                    flow.look(now, received, self.mtu);
                    flow.examine(begin.flow as usize)?;
                    flow.end();
                    flow.told.completed.get_or_insert(now);
                    let (arrived, bytes) = (begin.arrived, begin.bytes.unwrap_or_default());
                    sent.transfers.push(Transfer {
                        flow: begin.flow,
                        number: begin.number,
                        arrived,
                        began,
                        ended: now,
                        bytes,
                    });
                    traffic.completed(begin.flow, now);
                }
                Some(Said::Failed(flow, error)) => {
                    return Err(io::Error::new(error.kind(), format!("flow {flow}: {error}")));
                }
                None => {}
            }
        }
    }
}

fn of_quic(flow: &FlowPlan) -> Option<&Quic> {
    if let Source::Quic(quic) = &flow.source { Some(quic) } else { None }
}

/// Packets of one size, and no other bound than the congestion window but the receiver's.
fn transport(mtu: u16, room: u32) -> TransportConfig {
    let mut config = TransportConfig::default();
    config
        .initial_mtu(mtu)
        .min_mtu(mtu)
        .mtu_discovery_config(None)
        .max_idle_timeout(None)
        .stream_receive_window(VarInt::from_u32(room))
        .receive_window(VarInt::from_u32(room))
        .send_window(ROOM.into());
    config
}

/// A log of connections by quinn itself, in the format qlog.
fn qlog(log: Log, title: String, clock: Clock) -> io::Result<QlogStream> {
    let mut config = QlogConfig::default();
    config.writer(log).title(Some(title)).start_time(clock.start_instant());
    config.into_stream().ok_or_else(|| io::Error::other("the log of a connection does not begin"))
}

/// Takes the streams of one connection.
async fn take(incoming: Incoming, received: Arc<Received>, number: usize) -> io::Result<()> {
    let connection = incoming.await?;
    loop {
        let mut stream = connection.accept_uni().await?;
        while let Ok(Some(chunk)) = stream.read_chunk(usize::MAX, true).await {
            received[number].fetch_add(chunk.bytes.len() as u64, Ordering::Relaxed);
        }
    }
}

/// State of a flow.
#[derive(Debug, Default)]
struct Flow {
    connection: Option<Connection>,
    told: Told,
    /// Packets lost in the connections before.
    lost_before: u64,
    looked: Time,
}

impl Flow {
    fn begin(&mut self, connection: Connection, now: Time) {
        self.connection = Some(connection);
        self.looked = now;
    }

    /// Sees that what controlled the connection was its law.
    fn examine(&self, number: usize) -> io::Result<()> {
        let Some(connection) = &self.connection else { return Ok(()) };
        match connection.complaint() {
            Some(why) => Err(io::Error::other(format!("flow {number}: {why}"))),
            None => Ok(()),
        }
    }

    fn end(&mut self) {
        self.connection = None;
        self.told.window_now = 0.0;
        self.lost_before = self.told.again;
    }

    /// Reads the statistics of the stack. The last values hold until now.
    fn look(&mut self, now: Time, received: u64, mtu: u16) {
        let told = &mut self.told;
        let packets = (received - told.received) as f64 / f64::from(mtu);
        told.received = received;
        let seconds = now.since(self.looked).seconds();
        self.looked = now;
        told.window += told.window_now * seconds;
        told.window_squared += told.window_now * told.window_now * seconds;
        let Some(connection) = &self.connection else { return };
        let measured = connection.measured();
        // The smoothed round trip, as often as packets arrived since the last look.
        told.rtt += measured.smoothed_rtt.as_secs_f64() * packets;
        told.rtts += packets;
        told.window_now = measured.window as f64 / f64::from(mtu);
        let least = Time(measured.least_rtt.as_nanos() as u64 * 1000);
        told.least_rtt = Some(told.least_rtt.map_or(least, |before| before.min(least)));
        told.again = self.lost_before + measured.lost;
    }
}
