//! "A New TCP/AQM for Stable Operation in Fast Networks" in packets: forms, utilities and edges that its figures leave out,
//! and REM. (The figures themselves are in papers/fast-aqm.)

use crate::laboratory::run;

/// One bottleneck of 100 Mbit/s, 12500 packets/s, and `flows`, text of groups.
fn dumbbell(duration: &str, aqm: &str, flows: &str) -> String {
    format!(
        "format = 1\nduration = \"{duration} s\"\nwarmup = \"{} s\"\npacket = \"1000 B\"\n[links.b]\nfrom = \"l\"\nto = \"r\"\n\
         rate = \"100 Mbit/s\"\ndelay = \"1 ms\"\nbuffer = \"unlimited\"\nduplex = true\n{aqm}\n[defaults.flows]\nfrom = \"l\"\n\
         to = \"r\"\nrtt = \"80 ms\"\n{flows}\n",
        duration.parse::<f64>().unwrap() / 2.0
    )
}

/// Equation (6): sources of a largest rate each settle where `n x_m exp(-alpha q / (M d)) = c0`. Clocked by acknowledgements,
/// so that their rate is window over round trip; the register of 31 marks reads a price some 4 % high there (reference,
/// 9.4), which is 3 % of rate.
#[test]
fn the_static_law_rests_where_its_demand_is_the_capacity() {
    let flows = "[flows.f]\ncount = 10\nsender = { pacing = \"off\" }\n\
                 cc = { law = \"leadlag\", eta = 0, max_rate = \"20 Mbit/s\" }";
    let run = run(&dumbbell("60", "aqm = { law = \"price\" }", flows));
    let link = &run.summary.whole.links["b"];
    assert!((link.utilization - 0.95).abs() < 0.005, "{}", link.utilization);
    let demand = 10.0 * 2500.0 * libm::exp(-0.37 * link.price_mean.unwrap() / 0.08);
    let ratio = demand / (0.95 * 12_500.0);
    assert!((0.97..1.06).contains(&ratio), "{ratio}");
}

/// (27), (28) and their link, a plain queue: K packets of each flow are queued, with either exponent.
#[test]
fn with_delay_k_packets_of_each_flow_are_queued() {
    for exponent in ["printed", "of the rate"] {
        let cc = format!("{{ law = \"leadlag\", signal = \"delay\", taubar = \"500 ms\", exponent = \"{exponent}\" }}");
        let flows = format!("[flows.f]\ncount = 10\nstart = {{ uniform = [\"0 s\", \"50 ms\"] }}\ncc = {cc}");
        let run = run(&dumbbell("80", "", &flows));
        let (link, group) = (&run.summary.whole.links["b"], &run.summary.whole.groups["f"]);
        assert!(link.utilization > 0.999, "{}", link.utilization);
        assert!((link.queue_mean_packets / 500.0 - 1.0).abs() < 0.03, "{exponent}: {}", link.queue_mean_packets);
        assert!(group.jain.unwrap() > 0.999);
        assert!(group.window_sd_packets.unwrap() < 0.01 * group.window_mean_packets.unwrap());
    }
}

/// Equation (16) is a law of the rate. A host that paces and also keeps in flight what the window says sends at the smaller of
/// the two, so that noise in the window costs rate, and the price that balances it is below K n / c0. Paced alone, it is
/// there: windows of 95 packets, whose estimate of 31 marks has a bias of 2 to 3 % (reference, 9.4), make up the rest.
#[test]
fn a_sender_that_only_its_pace_limits_rests_at_the_price_of_its_demand() {
    let price = |limit: &str| {
        let sender = format!("sender = {{ limit = \"{limit}\" }}");
        let cc = "{ law = \"leadlag\", taubar = \"200 ms\" }";
        let run =
            run(&dumbbell("120", "aqm = { law = \"price\" }", &format!("[flows.f]\ncount = 10\ncc = {cc}\n{sender}")));
        let link = &run.summary.whole.links["b"];
        assert!((link.utilization - 0.95).abs() < 0.002, "{}", link.utilization);
        link.price_mean.unwrap() / (50.0 * 10.0 / (0.95 * 12_500.0))
    };
    let (window, pace) = (price("window"), price("pace"));
    println!("{window} {pace}");
    assert!(window < 0.97 && (pace - 1.0).abs() < 0.03, "{window} {pace}");
}

/// REM keeps its queue at b* whatever the number of flows: that is told by the price alone. Its gains are those of `price`
/// on this line, with a zero at 0.5 rad/s; the paper's are for lines a hundred times slower. b* is large enough that the queue never runs
/// empty: time in which it did would count as `x < c`, and be made up for by a longer queue.
#[test]
fn rem_holds_its_queue_whatever_the_number_of_flows() {
    let measure = |n: u32| {
        let flows = format!("[flows.f]\ncount = {n}\ncc = {{ law = \"leadlag\", taubar = \"500 ms\" }}");
        let run = run(&dumbbell(
            "120",
            "aqm = { law = \"rem\", ecn = true, bstar = \"200 packets\", gamma = 0.5, alpha = 0.005 }",
            &flows,
        ));
        let link = &run.summary.whole.links["b"];
        (link.queue_mean_packets, link.utilization, link.price_mean.unwrap())
    };
    let (few, many) = (measure(10), measure(30));
    for (queue, utilization, _) in [few, many] {
        assert!((queue - 200.0).abs() < 10.0, "{queue}");
        assert!(utilization > 0.999, "{utilization}");
    }
    assert!(many.2 > 2.5 * few.2, "three times the flows, about three times the price: {few:?} {many:?}");
}

/// Rates that maximise the sum of `U_i` over two links in a row of capacities `c`, for classes across both, the first and
/// the second, each of `n` flows with `U'(x) = (K/r) (r/x)^a`: Newton's method on the two prices.
fn convex_program(c: [f64; 2], classes: [(f64, f64); 3], weight: f64, reference: f64) -> [f64; 3] {
    let demand = |q: f64, a: f64| reference * libm::pow(weight / (reference * q), 1.0 / a);
    let rates = |p: [f64; 2]| {
        let prices = [p[0] + p[1], p[0], p[1]];
        [0, 1, 2].map(|i| demand(prices[i], classes[i].1))
    };
    let mut p = [0.02, 0.02];
    for _ in 0..200 {
        let x = rates(p);
        let [n0, n1, n2] = classes.map(|(n, _)| n);
        let excess = [n0 * x[0] + n1 * x[1] - c[0], n0 * x[0] + n2 * x[2] - c[1]];
        // dx/dq = -x / (a q).
        let slope = |i: usize, q: f64| -x[i] / (classes[i].1 * q);
        let both = n0 * slope(0, p[0] + p[1]);
        let (j11, j22) = (both + n1 * slope(1, p[0]), both + n2 * slope(2, p[1]));
        let det = j11 * j22 - both * both;
        let step = [(excess[0] * j22 - excess[1] * both) / det, (excess[1] * j11 - excess[0] * both) / det];
        for (p, step) in p.iter_mut().zip(step) {
            *p = (*p - 0.5 * step).max(*p * 0.1);
        }
    }
    rates(p)
}

/// The protocol's promise: any utility. Two kinds of it on two bottlenecks, M = 2, settle at the rates of the convex
/// program within 3 %.
#[test]
fn different_utilities_on_two_bottlenecks_reach_the_convex_program() {
    let (weight, reference) = (50.0, 1000.0);
    let text = r#"
format = 1
duration = "240 s"
warmup = "140 s"
packet = "1000 B"
[defaults.links]
delay = "5 ms"
buffer = "unlimited"
duplex = true
aqm = { law = "price" }
[links.first]
from = "a"
to = "b"
rate = "100 Mbit/s"
[links.second]
from = "b"
to = "c"
rate = "150 Mbit/s"
[defaults.flows]
rtt = "60 ms"
count = 10
[flows.both]
from = "a"
to = "c"
cc = { law = "leadlag", taubar = "500 ms", M = 2, fairness = 2 }
[flows.first]
from = "a"
to = "b"
cc = { law = "leadlag", taubar = "500 ms", M = 2 }
[flows.second]
from = "b"
to = "c"
cc = { law = "leadlag", taubar = "500 ms", M = 2 }
"#;
    let whole = run(text).summary.whole;
    let c = [0.95 * 12_500.0, 0.95 * 18_750.0];
    let program = convex_program(c, [(10.0, 2.0), (10.0, 1.0), (10.0, 1.0)], weight, reference);
    for (group, x) in ["both", "first", "second"].into_iter().zip(program) {
        let rate = whole.groups[group].throughput_packets_per_s / 10.0;
        println!("{group}: {rate:.1} packets/s, {x:.1} by the program");
        assert!((rate / x - 1.0).abs() < 0.03, "{group}: {rate} {x}");
    }
    for link in ["first", "second"] {
        assert!((whole.links[link].utilization - 0.95).abs() < 0.005);
    }
}

/// Before the first acknowledgement the base round trip is not known: one packet is out, whatever the period says.
#[test]
fn nothing_is_integrated_before_the_round_trip_is_known() {
    let flows = "[flows.f]\nrtt = \"900 ms\"\nstart = \"0 s\"\ncc = { law = \"leadlag\" }";
    let run =
        run(&dumbbell("0.8", "aqm = { law = \"price\" }", flows).replace("warmup = \"0.4 s\"", "warmup = \"0 s\""));
    assert_eq!(run.summary.whole.links["b"].arrivals, 1);
    assert_eq!(run.summary.whole.groups["f"].window_mean_packets, Some(1.0));
}

/// A link that stood idle has a price of zero and responds to the next load at once: the second half of the run is as the
/// first would be.
#[test]
fn an_idle_link_owes_nothing() {
    let group = |name: &str, start: u32, stop: u32| {
        format!(
            "[flows.{name}]\ncount = 10\nstart = \"{start} s\"\nstop = \"{stop} s\"\ncc = {{ law = \"leadlag\", taubar = \"500 ms\" }}\n"
        )
    };
    let windows =
        "[windows]\nfirst = [\"20 s\", \"40 s\"]\nidle = [\"45 s\", \"59 s\"]\nsecond = [\"80 s\", \"100 s\"]";
    let flows = format!("{}{}{windows}", group("f", 0, 40), group("g", 60, 100));
    let run = run(&dumbbell("100", "aqm = { law = \"price\" }", &flows));
    let link = |window: &str| &run.summary.windows[window].links["b"];
    assert_eq!((link("idle").price_mean, link("idle").arrivals), (Some(0.0), 0));
    let (first, second) = (link("first"), link("second"));
    assert!((first.utilization - 0.95).abs() < 0.005 && (second.utilization - 0.95).abs() < 0.005);
    let ratio = second.price_mean.unwrap() / first.price_mean.unwrap();
    assert!((ratio - 1.0).abs() < 0.03, "{ratio}");
}

/// The price at equilibrium, fixed point or not: see `theorems.rs` for the senders.
#[test]
fn the_price_rests_at_k_n_over_the_virtual_capacity() {
    for n in [5, 20] {
        let flows = format!("[flows.f]\ncount = {n}\ncc = {{ law = \"leadlag\", taubar = \"500 ms\" }}");
        let run = run(&dumbbell("80", "aqm = { law = \"price\" }", &flows));
        let price = run.summary.whole.links["b"].price_mean.unwrap() / (50.0 * f64::from(n) / (0.95 * 12_500.0));
        assert!((0.90..1.02).contains(&price), "{n}: {price}");
    }
}
