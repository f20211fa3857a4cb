//! The QUIC stacks that send flows, behind the same calls.

use std::io;
use std::net::SocketAddr;

use bytes::Bytes;
use quinn::{ClientConfig, Endpoint, SendStream};

use crate::quinn::keys::NAME;

use super::measured::Measured;
#[cfg(feature = "s2n")]
use super::s2n;

/// The end of a flow that opens its connections.
#[derive(Debug, Clone)]
pub(super) enum Client {
    Quinn(Endpoint, Box<ClientConfig>),
    #[cfg(feature = "s2n")]
    S2n(s2n::Client),
}

/// A connection.
#[derive(Debug, Clone)]
pub(super) enum Connection {
    Quinn(quinn::Connection),
    #[cfg(feature = "s2n")]
    S2n(s2n::Connection),
}

/// A stream to send on.
#[derive(Debug)]
pub(super) enum Stream {
    Quinn(SendStream),
    #[cfg(feature = "s2n")]
    S2n(s2n_quic::stream::SendStream),
}

impl Client {
    /// Opens a connection.
    pub(super) async fn connect(&self, to: SocketAddr) -> io::Result<Connection> {
        match self {
            Self::Quinn(endpoint, config) => {
                let connecting = endpoint.connect_with((**config).clone(), to, NAME).map_err(io::Error::other)?;
                Ok(Connection::Quinn(connecting.await?))
            }
            #[cfg(feature = "s2n")]
            Self::S2n(client) => Ok(Connection::S2n(client.connect(to).await?)),
        }
    }
}

impl Connection {
    pub(super) async fn open(&mut self) -> io::Result<Stream> {
        match self {
            Self::Quinn(connection) => Ok(Stream::Quinn(connection.open_uni().await?)),
            #[cfg(feature = "s2n")]
            Self::S2n(connection) => Ok(Stream::S2n(connection.handle.open_send_stream().await?)),
        }
    }

    pub(super) fn close(&self) {
        match self {
            Self::Quinn(connection) => connection.close(0u32.into(), b"done"),
            #[cfg(feature = "s2n")]
            Self::S2n(connection) => connection.handle.close(0u32.into()),
        }
    }

    pub(super) fn measured(&self) -> Measured {
        match self {
            Self::Quinn(connection) => {
                let path = connection.stats().path;
                Measured { window: path.cwnd, smoothed_rtt: path.rtt, least_rtt: path.min_rtt, lost: path.lost_packets }
            }
            #[cfg(feature = "s2n")]
            Self::S2n(connection) => connection.measured(),
        }
    }

    /// Why the connection's controller was not its law, where it was not.
    pub(super) fn complaint(&self) -> Option<String> {
        match self {
            Self::Quinn(connection) => crate::quinn::complaint(connection.congestion_state()),
            #[cfg(feature = "s2n")]
            Self::S2n(_) => None,
        }
    }
}

impl Stream {
    pub(super) async fn write(&mut self, chunk: Bytes) -> io::Result<()> {
        match self {
            Self::Quinn(stream) => Ok(stream.write_chunk(chunk).await?),
            #[cfg(feature = "s2n")]
            Self::S2n(stream) => Ok(stream.send(chunk).await?),
        }
    }

    /// Ends the stream, and waits until the receiver has acknowledged everything.
    pub(super) async fn finish(&mut self) -> io::Result<()> {
        match self {
            Self::Quinn(stream) => {
                stream.finish().map_err(io::Error::other)?;
                stream.stopped().await?;
                Ok(())
            }
            #[cfg(feature = "s2n")]
            Self::S2n(stream) => Ok(stream.close().await?),
        }
    }

    /// Gives up what has not arrived.
    pub(super) fn reset(&mut self) {
        // A stream that is over needs none.
        match self {
            Self::Quinn(stream) => drop(stream.reset(0u32.into())),
            #[cfg(feature = "s2n")]
            Self::S2n(stream) => drop(stream.reset(0u32.into())),
        }
    }
}
