//! Error of the path on this machine: `cargo run --release -p penstock-path --example bars`, as root.
//!
//! Prints the figures of docs/linux.md: how late the machine itself ends a sleep, pings over an idle path, lateness at 100 and
//! 200 Mbit/s and 1 Gbit/s, a transfer with losses and marks, and what one flow gets without a limit of rate, beside two ends
//! joined by a veth.

#[path = "../tests/laboratory/mod.rs"]
mod laboratory;

use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::{AsFd, AsRawFd};
use std::process::Command;
use std::time::Duration;

use laboratory::{Laboratory, bulk, hard, line, quantile};
use penstock_law::quantity::Time;
use penstock_machine::clock::Clock;
use penstock_machine::namespace::Namespace;

fn main() {
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    println!("load of the machine: {load}");
    for span_us in [100, 10_000] {
        oversleep(Duration::from_micros(span_us));
    }
    for rate in ["100 Mbit/s", "1 Gbit/s"] {
        for sleeps in [true, false] {
            ping(rate, sleeps);
        }
    }
    for (rate, rtt) in [("100 Mbit/s", "40 ms"), ("200 Mbit/s", "40 ms"), ("1 Gbit/s", "40 ms")] {
        lateness(rate, rtt);
    }
    transfer();
    without_limit();
}

fn oversleep(span: Duration) {
    let late = std::thread::spawn(move || {
        let priority = penstock_machine::scheduling::prefer_this_thread();
        // As the path's thread has it.
        nix::sys::prctl::set_timerslack(1).unwrap();
        let clock = Clock::start();
        let mut late: Vec<Time> = (0..500)
            .map(|_| {
                let start = clock.now();
                std::thread::sleep(span);
                clock.now().since(start + Time(span.as_nanos() as u64 * 1000))
            })
            .collect();
        late.sort_unstable();
        (late, priority)
    });
    let (late, priority) = late.join().unwrap();
    let at = |share| quantile(&late, share).0 as f64 / 1e6;
    println!("a sleep of {span:?} ends p50 {:.1} us, p99 {:.1} us late (first: {priority})", at(0.5), at(0.99));
}

fn ping(rate: &str, sleeps: bool) {
    let laboratory = Laboratory::new(&line(rate, "20 ms", ""), false);
    // A pinger that waits for others to sleep would measure itself.
    let priority = penstock_machine::scheduling::prefer_this_thread();
    let rtts = laboratory.ping(500, Duration::from_millis(1), sleeps);
    let outcome = laboratory.end();
    let above = |share| (quantile(&rtts, share).0 as f64 - 20e9) / 1e6;
    println!(
        "ping, {rate} x 20 ms idle: p50 {:.1} us and p99 {:.1} us above (pinger {}, first: {priority}; path: {})",
        above(0.5),
        above(0.99),
        if sleeps { "sleeps" } else { "looks" },
        outcome.scheduling
    );
}

fn lateness(rate: &str, rtt: &str) {
    let buffered = line(rate, rtt, "").replace("\"unlimited\"", "\"1 bdp\"");
    let laboratory = Laboratory::new(&buffered, false);
    let (to, path) = (SocketAddrV4::new(Ipv4Addr::new(10, 78, 0, 1), 5000), &laboratory.path);
    let bits = bulk([&|| path.sender.enter(), &|| path.receiver.enter()], to, "cubic", 15);
    let bound = laboratory.path.bound;
    let outcome = laboratory.end();
    let error = outcome.lateness.sum_up(bound);
    let us = |time: Option<Time>| time.map_or(0.0, |time| time.seconds() * 1e6);
    println!(
        "{rate} x {rtt}: {:.1} Mbit/s, lateness p50 {:.1} us, p99 {:.1} us, p99.9 {:.1} us, latest {}, gaps above 5 ms {}, longest {} ({})",
        bits / 1e6,
        us(error.lateness_p50),
        us(error.lateness_p99),
        us(error.lateness_p999),
        error.latest,
        error.gaps,
        error.longest_gap,
        outcome.scheduling
    );
}

fn transfer() {
    // A window of five packets, halved for good by every loss until it has grown again, takes its time.
    let laboratory = Laboratory::new(&hard().replace("\"60 s\"", "\"600 s\""), true);
    let (sent, got, time) = laboratory.transfer(200 << 20, "cubic");
    let passed = laboratory.end().emulation.passed()[0];
    println!(
        "200 MiB: {} in {time}; {} packets, {} lost, {:.2} % marked",
        if sent == got { "the same SHA-256" } else { "NOT THE SAME" },
        passed.sent,
        passed.lost,
        100.0 * passed.marked as f64 / passed.delivered as f64
    );
}

fn without_limit() {
    let laboratory = Laboratory::new(&line("1 Tbit/s", "0 s", ""), false);
    let (to, path) = (SocketAddrV4::new(Ipv4Addr::new(10, 78, 0, 1), 5000), &laboratory.path);
    let bits = bulk([&|| path.sender.enter(), &|| path.receiver.enter()], to, "cubic", 5);
    laboratory.end();
    let (a, b) = (Namespace::new().unwrap(), Namespace::new().unwrap());
    let peer = format!("/proc/{}/fd/{}", std::process::id(), b.as_fd().as_raw_fd());
    let ip = |at: &Namespace, words: &str| {
        at.within(|| Command::new("ip").args(words.split(' ')).status()).unwrap();
    };
    ip(&a, &format!("link add v0 type veth peer name v1 netns {peer}"));
    for (at, device, address) in [(&a, "v0", "10.9.0.1/24"), (&b, "v1", "10.9.0.2/24")] {
        ip(at, &format!("addr add {address} dev {device}"));
        ip(at, &format!("link set {device} up"));
    }
    let veth = bulk([&|| a.enter(), &|| b.enter()], SocketAddrV4::new(Ipv4Addr::new(10, 9, 0, 2), 5000), "cubic", 5);
    println!("without a limit of rate: {:.2} Gbit/s over the path, {:.2} Gbit/s over a veth", bits / 1e9, veth / 1e9);
}
