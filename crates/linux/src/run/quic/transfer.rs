//! One transfer: a connection, and a stream with its data.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use penstock_law::quantity::Time;
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::{Notify, watch};

use super::super::traffic::Begin;
use super::stack::{Client, Connection, Stream};

/// The events of a transfer.
#[derive(Debug)]
pub(super) enum Said {
    /// It has a connection.
    Connected(u32, Connection),
    /// The receiver has acknowledged everything.
    Done(Begin, Time),
    /// It is over, and not complete.
    Failed(u32, io::Error),
}

/// Where a transfer goes, the signal that ends it early, and whether the flow is between two times of sending.
#[derive(Debug, Clone)]
pub(super) struct Way {
    pub(super) client: Client,
    pub(super) to: SocketAddr,
    pub(super) stop: Arc<Notify>,
    pub(super) silent: watch::Receiver<bool>,
    pub(super) chunk: Bytes,
}

impl Way {
    /// Sends the bytes of `begin`, without end where it has no size; it began at `began`.
    pub(super) async fn transfer(self, begin: Begin, began: Time, said: UnboundedSender<Said>) {
        let flow = begin.flow;
        let told = match self.sent(begin, &said).await {
            Ok(true) => Said::Done(begin, began),
            // What its stop cuts short is not complete.
            Ok(false) => return,
            Err(error) => Said::Failed(flow, error),
        };
        // Nobody listens after the end of the run.
        let _ = said.send(told);
    }

    async fn sent(mut self, begin: Begin, said: &UnboundedSender<Said>) -> io::Result<bool> {
        let mut connection = self.client.connect(self.to).await?;
        let _ = said.send(Said::Connected(begin.flow, connection.clone()));
        loop {
            tokio::select! {
                () = turned(&mut self.silent, false) => {}
                () = self.stop.notified() => return Ok(false),
            }
            let mut stream = connection.open().await?;
            let over = tokio::select! {
                done = write(&mut stream, begin.bytes.map(|bytes| bytes.0), &self.chunk) => {
                    done?;
                    connection.close();
                    return Ok(true);
                }
                () = self.stop.notified() => true,
                () = turned(&mut self.silent, true) => false,
            };
            // Nothing new leaves any more, and what is lost is not sent again: a stack has taken data ahead of what it sends.
            stream.reset();
            if over {
                return Ok(false);
            }
        }
    }
}

/// Waits until the flow is silent, or speaks.
async fn turned(silent: &mut watch::Receiver<bool>, now: bool) {
    if silent.wait_for(|silent| *silent == now).await.is_err() {
        // The run is over.
        std::future::pending::<()>().await;
    }
}

async fn write(stream: &mut Stream, bytes: Option<u64>, chunk: &Bytes) -> io::Result<()> {
    let mut left = bytes.unwrap_or(u64::MAX);
    while left > 0 {
        let next = chunk.slice(..chunk.len().min(usize::try_from(left).unwrap_or(usize::MAX)));
        let size = next.len() as u64;
        stream.write(next).await?;
        if bytes.is_some() {
            left -= size;
        }
    }
    stream.finish().await
}
