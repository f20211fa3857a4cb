//! Ends that move, and ends that receive.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use quinn_proto::congestion;

use super::{Laboratory, Line, Makes, transport};

type Controllers = [Box<dyn congestion::Controller>; 2];

/// Time goes on until `until`.
fn go_on(laboratory: &mut Laboratory, now: &mut Instant, until: Instant) {
    while let Some(next) = laboratory.next().filter(|next| *next <= until) {
        *now = (*now).max(next);
        laboratory.step(*now);
    }
}

/// A flow whose receiver changes its address after so many milliseconds: the sender's controller just before and 60 ms later, and
/// how many bytes came in half a second.
pub(crate) fn migration(line: Line, flow: Makes, to: Ipv4Addr, after_ms: u64) -> (Controllers, u64) {
    let mut laboratory = Laboratory::new(line, 1);
    let mut now = laboratory.begin;
    // The sender accepts the connection: a server stays where it is.
    let accepts = Arc::new(laboratory.accepts(Some(flow)));
    laboratory.sides[0].endpoint.set_server_config(Some(accepts));
    laboratory.connect(1, transport(laboratory.line.packet, None), now);
    let begin = now;
    let mut until = |laboratory: &mut Laboratory, ms: u64| {
        go_on(laboratory, &mut now, begin + Duration::from_millis(ms));
        let connection = &laboratory.sides[0].connection.as_ref().unwrap().1;
        (connection.congestion_state().clone_box(), laboratory.sides[1].taken)
    };
    let (before, had) = until(&mut laboratory, after_ms);
    laboratory.sides[1].address = SocketAddr::from((to, 20_000));
    let (after, _) = until(&mut laboratory, after_ms + 60);
    let (_, has) = until(&mut laboratory, after_ms + 500);
    assert_eq!(laboratory.sides[0].connection.as_ref().unwrap().1.remote_address(), laboratory.sides[1].address);
    ([before, after], has - had)
}

/// A flow whose application says after so many milliseconds that its path is another: the windows before, and each 10 ms from then
/// on [bytes].
pub(crate) fn change_of_path(line: Line, flow: Makes, after_ms: u64) -> Vec<u64> {
    let mut laboratory = Laboratory::new(line, 1);
    let mut now = laboratory.begin;
    let changes = now + Duration::from_millis(after_ms);
    laboratory.start(0, flow, now);
    let mut windows = Vec::new();
    for ms in [0, 0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100] {
        go_on(&mut laboratory, &mut now, changes + Duration::from_millis(ms));
        let connection = &mut laboratory.sides[0].connection.as_mut().unwrap().1;
        windows.push(connection.congestion_state().window());
        if windows.len() == 1 {
            connection.path_changed(changes);
        }
    }
    windows
}

/// A client sends for so many seconds: the controller of the server, whose packets are of ACK frames.
pub(crate) fn receives(line: Line, sends: Makes, receives: Makes, seconds: u64) -> Box<dyn congestion::Controller> {
    let mut laboratory = Laboratory::new(line, 1);
    let mut now = laboratory.begin;
    let until = now + Duration::from_secs(seconds);
    let accepts = Arc::new(laboratory.accepts(Some(receives)));
    laboratory.sides[1].endpoint.set_server_config(Some(accepts));
    laboratory.start(0, sends, now);
    go_on(&mut laboratory, &mut now, until);
    laboratory.sides[1].connection.as_ref().unwrap().1.congestion_state().clone_box()
}
