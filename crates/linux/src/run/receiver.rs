//! The receiving end: takes whatever arrives and counts it.

use std::collections::{BTreeMap, VecDeque};
use std::io::{self, ErrorKind};
use std::net::TcpListener;
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use nix::errno::Errno;
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use penstock_path::address;
use penstock_path::packet::Direction;

use super::socket;

/// Bytes of user's data that came in order, one a flow.
pub(super) type Received = [AtomicU64];

/// Bytes read at once at most [B].
const ROOM: usize = 1 << 20;
const LISTENER: u64 = u64::MAX;

/// Receives on the calling thread, which is in the receivers' namespace, until `stop`. Gives the connections that there still
/// are: closing one resets it.
pub(super) fn receive(listener: &TcpListener, received: &Received, stop: &AtomicBool) -> io::Result<Vec<OwnedFd>> {
    let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
    epoll.add(listener, EpollEvent::new(EpollFlags::EPOLLIN, LISTENER))?;
    let mut connections: BTreeMap<RawFd, (OwnedFd, usize)> = BTreeMap::new();
    // Connections whose end the sender has yet to acknowledge.
    let mut ending: VecDeque<OwnedFd> = VecDeque::new();
    let mut room = vec![0; ROOM];
    let mut events = [EpollEvent::empty(); 64];
    while !stop.load(Ordering::Relaxed) {
        let ready = match epoll.wait(&mut events, EpollTimeout::from(50u8)) {
            Ok(ready) => ready,
            Err(Errno::EINTR) => 0,
            Err(error) => return Err(error.into()),
        };
        for event in &events[..ready] {
            if event.data() == LISTENER {
                while let Some((connection, flow)) = accepted(listener)? {
                    if flow >= received.len() {
                        continue;
                    }
                    let number = connection.as_raw_fd();
                    epoll.add(&connection, EpollEvent::new(EpollFlags::EPOLLIN, number as u64))?;
                    connections.insert(number, (connection, flow));
                }
                continue;
            }
            let number = event.data() as RawFd;
            let Some((connection, flow)) = connections.get(&number) else { continue };
            match socket::discard(connection, &mut room) {
                Ok(None) => {}
                Ok(Some(bytes)) if bytes > 0 => {
                    received[*flow].fetch_add(bytes as u64, Ordering::Relaxed);
                }
                // Its end; ours tells the sender that all has arrived.
                Ok(Some(_)) | Err(_) => {
                    epoll.delete(connection.as_fd())?;
                    socket::finish(connection)?;
                    ending.extend(connections.remove(&number).map(|(connection, _)| connection));
                }
            }
        }
        while let Some(first) = ending.front()
            && socket::is_over(first)?
        {
            ending.pop_front();
        }
    }
    Ok(connections.into_values().map(|(connection, _)| connection).chain(ending).collect())
}

/// A new connection, and whose it is.
fn accepted(listener: &TcpListener) -> io::Result<Option<(OwnedFd, usize)>> {
    match listener.accept() {
        Ok((connection, _)) => {
            let flow = address::flow(Direction::Forward, connection.local_addr()?.ip());
            Ok(Some((connection.into(), flow.map_or(usize::MAX, |flow| flow as usize))))
        }
        Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted | ErrorKind::ConnectionAborted) => {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}
