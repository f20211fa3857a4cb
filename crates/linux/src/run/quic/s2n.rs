//! Endpoints of s2n-quic. It answers no questions about windows and round trips: its events say them.

use std::fmt::{self, Write as _};
use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use penstock_machine::clock::Clock;
use penstock_scenario::world::Log;
use s2n_quic::client::Connect;
use s2n_quic::connection::Handle;
use s2n_quic::provider::congestion_controller::{bbr, cubic};
use s2n_quic::provider::event::events::{
    PacingRateUpdated, PacketHeader, PacketLost, PacketReceived, PacketSent, RecoveryMetrics,
};
use s2n_quic::provider::event::{ConnectionInfo, ConnectionMeta, Subscriber};
use s2n_quic::provider::io::tokio as sockets;
use s2n_quic::provider::limits::Limits;
use s2n_quic::provider::tls::rustls;
use s2n_quic::{Server, client};

use super::measured::Measured;
use crate::quinn::keys::{NAME, certificate};

/// Time without packets after which a connection ends: longer than any run. s2n-quic panics where a silent connection has none.
const SILENCE: Duration = Duration::from_hours(30 * 24);

/// Settings of all endpoints of s2n-quic in a run.
#[derive(Debug)]
pub(super) struct Ends {
    certificate: Vec<u8>,
    key: Vec<u8>,
    /// Size of packets on the wire [bytes].
    wire: u16,
    /// Data that a sender has room for [bytes].
    ahead: u32,
}

/// The settings of a flow.
#[derive(Debug)]
pub(super) struct Settings {
    pub(super) law: &'static str,
    /// [bytes]
    pub(super) initial_window: u32,
    pub(super) log: Option<Qlog>,
}

/// The end of a flow that opens its connections.
#[derive(Debug, Clone)]
pub(super) struct Client(client::Client);

/// A connection, and what its events said last.
#[derive(Debug, Clone)]
pub(super) struct Connection {
    pub(super) handle: Handle,
    told: Told,
}

type Told = Arc<Mutex<Measured>>;

impl Ends {
    pub(super) fn new(wire: u16, ahead: u32) -> io::Result<Self> {
        let (certificate, key) = certificate()?;
        Ok(Self { certificate: certificate.to_vec(), key, wire, ahead })
    }

    /// A server with room for so many bytes, whose socket is in the namespace of the calling thread.
    pub(super) fn server(&self, at: SocketAddr, room: u32) -> io::Result<Server> {
        let tls = rustls::Server::builder().with_certificate(self.certificate.clone(), self.key.clone());
        let tls = tls.and_then(rustls::server::Builder::build).map_err(io::Error::other)?;
        let builder = Server::builder().with_tls(tls).map_err(io::Error::other)?;
        let builder = builder.with_io(self.socket(at)?).map_err(io::Error::other)?;
        let builder = builder.with_limits(self.limits(room)?).map_err(io::Error::other)?;
        builder.start().map_err(io::Error::other)
    }

    /// A client, whose socket is in the namespace of the calling thread.
    pub(super) fn client(&self, at: SocketAddr, settings: &Settings) -> io::Result<Client> {
        let tls = rustls::Client::builder().with_certificate(self.certificate.clone());
        let tls = tls.and_then(rustls::client::Builder::build).map_err(io::Error::other)?;
        let builder = client::Client::builder().with_tls(tls).map_err(io::Error::other)?;
        let builder = builder.with_io(self.socket(at)?).map_err(io::Error::other)?;
        let builder = builder.with_limits(self.limits(self.ahead)?).map_err(io::Error::other)?;
        let builder = builder.with_event(Events { log: settings.log.clone() }).map_err(io::Error::other)?;
        let window = settings.initial_window;
        let client = if settings.law == "s2n-bbr" {
            let bbr = bbr::Builder::default().with_initial_congestion_window(window).build();
            builder.with_congestion_controller(bbr).map_err(io::Error::other)?.start()
        } else {
            let cubic = cubic::Builder::default().with_initial_congestion_window(window).build();
            builder.with_congestion_controller(cubic).map_err(io::Error::other)?.start()
        };
        client.map(Client).map_err(io::Error::other)
    }

    /// No other bound than the congestion window but the receiver's.
    fn limits(&self, room: u32) -> io::Result<Limits> {
        Limits::new()
            .with_data_window(room.into())
            .and_then(|limits| limits.with_unidirectional_data_window(room.into()))
            .and_then(|limits| limits.with_max_send_buffer_size(self.ahead))
            .and_then(|limits| limits.with_max_idle_timeout(SILENCE))
            .map_err(io::Error::other)
    }

    /// Packets of one size: with one there is nothing to discover.
    fn socket(&self, at: SocketAddr) -> io::Result<sockets::Provider> {
        let builder = sockets::Builder::default().with_receive_address(at)?;
        builder.with_max_mtu(self.wire)?.with_initial_mtu(self.wire)?.with_base_mtu(self.wire)?.build()
    }
}

impl Client {
    pub(super) async fn connect(&self, to: SocketAddr) -> io::Result<Connection> {
        let (handle, _) = self.0.connect(Connect::new(to).with_server_name(NAME)).await?.split();
        let told = handle.query_event_context(|told: &Told| Arc::clone(told)).map_err(io::Error::other)?;
        Ok(Connection { handle, told })
    }
}

impl Connection {
    pub(super) fn measured(&self) -> Measured {
        *self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Listens to the events of a flow's connections.
#[derive(Debug)]
struct Events {
    log: Option<Qlog>,
}

impl Subscriber for Events {
    type ConnectionContext = Told;

    fn create_connection_context(&mut self, _: &ConnectionMeta, _: &ConnectionInfo) -> Told {
        Told::default()
    }

    fn on_recovery_metrics(&mut self, told: &mut Told, _: &ConnectionMeta, event: &RecoveryMetrics<'_>) {
        let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
        told.window = event.congestion_window.into();
        told.smoothed_rtt = event.smoothed_rtt;
        told.least_rtt = event.min_rtt;
        drop(told);
        let Some(log) = &self.log else { return };
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        log.write(
            "recovery:metrics_updated",
            format_args!(
                r#""min_rtt":{},"smoothed_rtt":{},"latest_rtt":{},"rtt_variance":{},"pto_count":{},"congestion_window":{},"bytes_in_flight":{}"#,
                ms(event.min_rtt),
                ms(event.smoothed_rtt),
                ms(event.latest_rtt),
                ms(event.rtt_variance),
                event.pto_count,
                event.congestion_window,
                event.bytes_in_flight,
            ),
        );
    }

    fn on_pacing_rate_updated(&mut self, _: &mut Told, _: &ConnectionMeta, event: &PacingRateUpdated) {
        if let Some(log) = &self.log {
            let bits = event.bytes_per_second.saturating_mul(8);
            log.write("recovery:metrics_updated", format_args!(r#""pacing_rate":{bits}"#));
        }
    }

    fn on_packet_lost(&mut self, told: &mut Told, _: &ConnectionMeta, event: &PacketLost<'_>) {
        told.lock().unwrap_or_else(PoisonError::into_inner).lost += 1;
        if let Some(log) = &self.log {
            log.write("recovery:packet_lost", format_args!("{}", Header(&event.packet_header, None)));
        }
    }

    fn on_packet_sent(&mut self, _: &mut Told, _: &ConnectionMeta, event: &PacketSent) {
        if let Some(log) = &self.log {
            let header = Header(&event.packet_header, Some(event.packet_len));
            log.write("transport:packet_sent", format_args!("{header}"));
        }
    }

    fn on_packet_received(&mut self, _: &mut Told, _: &ConnectionMeta, event: &PacketReceived) {
        if let Some(log) = &self.log {
            log.write("transport:packet_received", format_args!("{}", Header(&event.packet_header, None)));
        }
    }
}

/// A packet's header in a log, and its length where it is known.
struct Header<'a>(&'a PacketHeader, Option<usize>);

impl fmt::Display for Header<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, number) = match self.0 {
            PacketHeader::Initial { number, .. } => ("initial", Some(number)),
            PacketHeader::Handshake { number, .. } => ("handshake", Some(number)),
            PacketHeader::ZeroRtt { number, .. } => ("0RTT", Some(number)),
            PacketHeader::OneRtt { number, .. } => ("1RTT", Some(number)),
            PacketHeader::Retry { .. } => ("retry", None),
            PacketHeader::VersionNegotiation { .. } => ("version_negotiation", None),
            PacketHeader::StatelessReset { .. } => ("stateless_reset", None),
            _ => ("unknown", None),
        };
        write!(f, r#""header":{{"packet_type":"{kind}""#)?;
        if let Some(number) = number {
            write!(f, r#","packet_number":{number}"#)?;
        }
        if let Some(length) = self.1 {
            write!(f, r#","length":{length}"#)?;
        }
        f.write_char('}')
    }
}

/// A log of a flow's connections in the format qlog, from the events of s2n-quic, which writes none.
#[derive(Clone)]
pub(super) struct Qlog {
    log: Arc<Mutex<Log>>,
    clock: Clock,
}

impl fmt::Debug for Qlog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Qlog").finish_non_exhaustive()
    }
}

impl Qlog {
    /// Begins a log. Times count as those of `clock`. `title` has no character that JSON escapes.
    pub(super) fn new(log: Log, title: &str, clock: Clock) -> Self {
        let qlog = Self { log: Arc::new(Mutex::new(log)), clock };
        qlog.record(format_args!(
            r#"{{"qlog_version":"0.3","qlog_format":"JSON-SEQ","title":"{title}","trace":{{"vantage_point":{{"type":"client"}},"common_fields":{{"protocol_type":["QUIC"],"time_format":"relative","reference_time":0}}}}}}"#
        ));
        qlog
    }

    fn write(&self, name: &str, data: fmt::Arguments<'_>) {
        let ms = self.clock.now().seconds() * 1e3;
        self.record(format_args!(r#"{{"time":{ms},"name":"{name}","data":{{{data}}}}}"#));
    }

    /// A record of a sequence of JSON texts (RFC 7464). The owner of the log hears of an error of its file.
    fn record(&self, text: fmt::Arguments<'_>) {
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = writeln!(log, "\u{1e}{text}");
    }
}

/// Receives the streams of one connection after the other.
pub(super) async fn take(mut connection: s2n_quic::Connection, mut received: impl FnMut(u64)) -> io::Result<()> {
    while let Some(mut stream) = connection.accept_receive_stream().await? {
        while let Ok(Some(chunk)) = stream.receive().await {
            received(chunk.len() as u64);
        }
    }
    Ok(())
}
