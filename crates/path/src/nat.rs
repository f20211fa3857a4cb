//! The way out: from the sending end over the links to the receiving end, and from there into this machine's network.
//!
//! Whatever the sending end sends to an address that is no flow's crosses the links and leaves the receiving end by a pair of devices
//! (veth) whose other half is in the namespace of this process; both replace the source address, so that replies come back the same way.
//! All of it goes with this process: the pair with the receiving end's namespace, the rules with the sockets that made them.

use std::fs;
use std::io;
use std::net::Ipv4Addr;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use penstock_machine::while_trying;

use super::device::NAME;
use super::ends::{End, ip};
use super::packet::Direction;
use super::{Error, Refused, address, masquerade};

/// The rules of both namespaces.
#[derive(Debug)]
pub(super) struct Nat {
    _rules: [OwnedFd; 2],
}

/// Name of the receiving end's half of the pair.
const INNER: &str = "penstock1";
/// Pairs of addresses in 10.79.0.0/16.
const PAIRS: u32 = 1 << 14;

impl Nat {
    /// Gives the sending end a way out.
    ///
    /// # Errors
    /// Where this machine does not forward packets, or an error of the kernel or of `ip`.
    pub(super) fn new(sender: &End, receiver: &End) -> Result<Self, Error> {
        let forwards = fs::read_to_string("/proc/sys/net/ipv4/ip_forward").is_ok_and(|text| text.trim() == "1");
        if !forwards {
            // A kill would leave the setting as it was made.
            let what =
                "a way out: this machine does not forward packets between its networks (net.ipv4.ip_forward is 0)";
            return Err(Refused::new(what, "set it, as root: `sysctl -w net.ipv4.ip_forward=1`").into());
        }
        let [outer, inner] =
            connect(receiver).map_err(while_trying("connect the receiving end to this machine's network"))?;
        let own = address::v4(Direction::Reverse, 0);
        // The second route takes what is left when the device is gone, as those of flows do.
        let out = format!(
            "route add default dev {NAME} table local metric 1 src {own}\nroute add local default dev lo table local metric 2\n"
        );
        sender.namespace.within(|| ip(&out)).map_err(while_trying("give the sending end a way out"))?;
        let at_receiver = || {
            // Only what comes over the links goes out. Answers to it come from addresses to which nothing else has a route.
            ip(&format!("route add default via {outer} dev {INNER} table 100\nrule add iif {NAME} lookup 100\n"))?;
            for (name, value) in [("conf/all/rp_filter", "0"), ("conf/penstock1/rp_filter", "0"), ("ip_forward", "1")] {
                fs::write(format!("/proc/sys/net/ipv4/{name}"), value)?;
            }
            let [ten, senders, ..] = own.octets();
            masquerade::sources(&[ten, senders])
        };
        let inside =
            receiver.namespace.within(at_receiver).map_err(while_trying("translate addresses at the receiving end"))?;
        let outside =
            masquerade::sources(&inner.octets()).map_err(while_trying("translate addresses on this machine"))?;
        Ok(Self { _rules: [inside, outside] })
    }
}

/// Makes the pair of devices: the addresses of this half, and of the receiving end's.
fn connect(receiver: &End) -> io::Result<[Ipv4Addr; 2]> {
    let process = std::process::id();
    let place = format!("/proc/{process}/fd/{}", receiver.namespace.as_fd().as_raw_fd());
    let mut tried = Err(io::Error::other("no free pair of addresses in 10.79.0.0/16"));
    // Others have others.
    for number in (0..8).map(|n| (process + n) % PAIRS) {
        let [_, _, high, low] = (number * 4).to_be_bytes();
        let [outer, inner] = [1, 2].map(|host| Ipv4Addr::new(10, 79, high, low + host));
        let name = format!("penstock-{number}");
        tried = ip(&format!("link add {name} type veth peer name {INNER} netns {place}\n"));
        if tried.is_err() {
            continue;
        }
        ip(&format!("addr add {outer}/30 dev {name}\nlink set {name} up\n"))?;
        receiver.namespace.within(|| ip(&format!("addr add {inner}/30 dev {INNER}\nlink set {INNER} up\n")))?;
        return Ok([outer, inner]);
    }
    tried.map(|()| [Ipv4Addr::UNSPECIFIED; 2])
}
