//! Observations of a law that requires deliveries, and its host's use of the timing output: a law of its own here keeps a
//! diary, and each test reads it.

use std::cell::RefCell;
use std::collections::BTreeSet;

use penstock_law::cc::{
    self, Controller, Delivery, DeliveryEvent, Event, Marks, Observation, Output, Requirements, Timing,
};
use penstock_law::law::{Entry, Law, Linearisation, Observables, build};
use penstock_law::numbers;
use penstock_law::parameter::{Parameter, Unit, Values};
use penstock_law::quantity::Time;
use penstock_scenario::model::Scenario;
use penstock_scenario::world::{End, Run};

use crate::laboratory::{Dumbbell, data_at, group, run_scenario, scenario};

/// The observations of the law, in order.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Heard {
    Plain(Event),
    Detail(Delivery),
}

thread_local! {
    static DIARY: RefCell<Vec<Heard>> = const { RefCell::new(Vec::new()) };
}

/// A fixed window and gap.
static DIARIST: Entry<Controller> = Entry {
    name: "diarist",
    title: "A fixed window that notes what happens",
    source: "a test",
    colour: "#123456",
    parameters: &[
        Parameter::number("window", Unit::Packets, 20.0, [0.0, 1e6], "its window", "a test"),
        Parameter::number("gap", Unit::Seconds, 0.0, [0.0, 1e3], "its gap", "a test"),
        Parameter::number("quantum", Unit::Packets, 1.0, [1.0, 1e3], "its quantum", "a test"),
        Parameter::number("period", Unit::Seconds, 0.0, [0.0, 1e3], "of its timer", "a test"),
        Parameter::switch("delivery", true, "whether it asks for deliveries", "a test"),
        Parameter::switch("fractions", false, "whether a small window is a rate", "a test"),
        Parameter::switch("counts", false, "whether it counts marks", "a test"),
        Parameter::switch("kernel", false, "whether only the kernel has it", "a test"),
    ],
    observables: Observables::NONE,
    linearisation: Linearisation::Unsupported("it is a test"),
    real: &build::<f64, Diarist>,
    dual: None,
    fixed: None,
    kernel: None,
};

#[derive(Debug)]
struct Diarist {
    window: f64,
    gap_s: f64,
    quantum: u32,
    period: Time,
    delivery: bool,
    fractions: bool,
    counts: bool,
    kernel: bool,
}

numbers! {
    struct State {
        unused: "1",
    }
    frozen {
        next: Time,
    }
}

impl Law<f64> for Diarist {
    type Role = Controller;
    type State = State<f64>;

    fn compile(values: &Values, _: &cc::Context) -> Result<Self, String> {
        Ok(Self {
            window: values.number("window"),
            gap_s: values.number("gap"),
            quantum: values.number("quantum") as u32,
            period: Time::from_seconds(values.number("period")),
            delivery: values.switch("delivery"),
            fractions: values.switch("fractions"),
            counts: values.switch("counts"),
            kernel: values.switch("kernel"),
        })
    }
    fn initial_state(&self) -> State<f64> {
        State { unused: 0.0, next: self.period }
    }
    fn on_event(&self, _: &mut State<f64>, event: Event, _: &Observation<f64>) {
        DIARY.with_borrow_mut(|diary| diary.push(Heard::Plain(event)));
    }
    fn on_detail(&self, s: &mut State<f64>, delivery: &Delivery, _: &Observation<f64>) {
        if delivery.event == DeliveryEvent::Timer {
            s.next = delivery.now + self.period;
        }
        DIARY.with_borrow_mut(|diary| diary.push(Heard::Detail(*delivery)));
    }
    fn output(&self, _: &State<f64>, _: &Observation<f64>) -> Output<f64> {
        Output { window: self.window, gap_s: self.gap_s }
    }
    fn timing(&self, s: &State<f64>, _: &Observation<f64>) -> Timing {
        Timing { quantum: self.quantum, timer: (self.period > Time::ZERO).then_some(s.next) }
    }
    fn requirements(&self) -> Requirements {
        let Self { delivery, fractions, kernel, .. } = *self;
        let marks = if self.counts { Marks::Counted } else { Marks::Ignored };
        Requirements { marks, delivery, fractions, kernel, ..Requirements::LEAST }
    }
}

/// A scenario in which the diarist takes the law's place, with these parameters.
fn diarist(text: &str, set: &[(&str, f64)]) -> Scenario {
    let mut scenario = scenario(text);
    let cc = &mut scenario.groups.get_mut("f").unwrap().cc;
    cc.law = &DIARIST;
    cc.values = Values::defaults(DIARIST.parameters);
    for (name, value) in set {
        cc.values.set(DIARIST.parameters.iter().find(|p| p.name == *name).unwrap(), *value).unwrap();
    }
    scenario
}

/// A run and the observations of the law.
fn hear(scenario: &Scenario) -> (Run, Vec<Heard>) {
    DIARY.with_borrow_mut(Vec::clear);
    let run = run_scenario(scenario);
    (run, DIARY.take())
}

fn details(diary: &[Heard]) -> Vec<Delivery> {
    diary.iter().filter_map(|heard| if let Heard::Detail(delivery) = heard { Some(*delivery) } else { None }).collect()
}

/// Losses at random, of data and of acknowledgements, under either recovery.
fn lossy(recovery: &str, more: &str) -> String {
    let flows =
        format!("start = \"0 s\"\ncc = {{ law = \"newreno\" }}\nsender = {{ recovery = \"{recovery}\" }}\n{more}");
    Dumbbell { link: "loss = 0.02", flows: &flows, ..Dumbbell::PLAIN }.text()
}

/// Every transmission is delivered, lost or in flight at each event; losses come one by one, and as many as are counted; at
/// the end all that arrived has been told of, but for what is under way.
#[test]
fn what_is_sent_is_delivered_lost_or_in_flight_at_each_event() {
    for recovery in ["sack", "rack"] {
        let (run, diary) = hear(&diarist(&lossy(recovery, ""), &[]));
        let details = details(&diary);
        assert!(details.len() > 5000, "{recovery}: {}", details.len());
        let (mut losses, mut acked, mut now) = (0, 0, Time::ZERO);
        for d in &details {
            assert_eq!(d.sent, d.delivered + d.lost + d.in_flight, "{recovery}: {d:?}");
            assert!(d.now >= now && d.in_flight <= 21, "{recovery}: {d:?}");
            assert!((0.0..1.0).contains(&d.uniform));
            now = d.now;
            match d.event {
                DeliveryEvent::Lost(lost) => {
                    losses += 1;
                    assert!(lost.in_flight >= 1 && lost.in_flight <= 21 && lost.lost <= d.lost && lost.sent < d.now);
                }
                DeliveryEvent::Ack(ack) => {
                    acked += u64::from(ack.packets);
                    if let Some(rate) = ack.rate {
                        // 1250 packets a second; both ends of a short interval may have one more.
                        let most = 1250.0 * (1.0 + 2.0 / rate.delivered as f64);
                        assert!(
                            rate.packets_per_s() <= most
                                && rate.interval >= ack.rtt.unwrap_or(Time::ZERO).min(Time(40_000_000_000))
                        );
                    }
                }
                _ => {}
            }
        }
        let last = details.last().unwrap();
        assert!(losses >= last.lost && losses > 50, "{recovery}: {losses} told, {} counted", last.lost);
        assert_eq!(acked, last.delivered, "{recovery}");
        let f = group(&run, "f");
        // Of a link that loses alone: the group's own count of what was lost, without what nobody knows of yet.
        assert!(f.retransmits + 21 >= last.lost, "{recovery}: {} {}", f.retransmits, last.lost);
    }
}

/// The order of events: losses, the cut, the recovery that begins, the acknowledgement; a recovery begins before it ends, and
/// acknowledgements come in it too, while events of every law do not. Losses beyond a recovery renew it as it ends, with a cut: with RACK, known ones too.
#[test]
fn events_come_in_order() {
    for recovery in ["sack", "rack"] {
        let (_, diary) = hear(&diarist(&lossy(recovery, ""), &[]));
        let mut open = false;
        let mut seen = BTreeSet::new();
        let mut acks_in_recovery = 0;
        for (at, heard) in diary.iter().enumerate() {
            let before = at.checked_sub(1).map(|at| diary[at]);
            match heard {
                Heard::Plain(Event::Congestion) => {
                    let lost = matches!(before, Some(Heard::Detail(Delivery { event: DeliveryEvent::Lost(_), .. })));
                    let renewed =
                        matches!(before, Some(Heard::Detail(Delivery { event: DeliveryEvent::RecoveryRenewed, .. })));
                    assert!(lost || renewed, "{recovery}: {before:?}");
                    assert!(!open || renewed || recovery == "sack", "{recovery}: a cut in a recovery");
                }
                Heard::Plain(Event::Ack { .. }) => assert!(!open, "{recovery}: an ordinary event in recovery"),
                Heard::Detail(d) => match d.event {
                    DeliveryEvent::RecoveryEntered => {
                        assert!(
                            !open && matches!(before, Some(Heard::Plain(Event::Congestion))),
                            "{recovery}: {before:?}"
                        );
                        (open, _) = (true, seen.insert("entered"));
                    }
                    DeliveryEvent::RecoveryRenewed => {
                        let after = diary.get(at + 1);
                        assert!(
                            open && matches!(after, Some(Heard::Plain(Event::Congestion))),
                            "{recovery}: {after:?}"
                        );
                        seen.insert("renewed");
                    }
                    DeliveryEvent::RecoveryLeft => {
                        assert!(open, "{recovery}");
                        (open, _) = (false, seen.insert("left"));
                    }
                    DeliveryEvent::Timeout => {
                        (open, _) = (true, seen.insert("timeout"));
                    }
                    DeliveryEvent::RecoveryUndone | DeliveryEvent::TimeoutUndone => open = false,
                    DeliveryEvent::Ack(_) => acks_in_recovery += u32::from(open),
                    _ => {}
                },
                Heard::Plain(_) => {}
            }
        }
        assert!(seen.contains("entered") && seen.contains("left") && acks_in_recovery > 100, "{recovery}: {seen:?}");
        assert!(seen.contains("renewed"), "{recovery}: {seen:?}");
    }
}

/// Packets that come late, by more than the reordering window allows before any reordering was seen: what was taken for lost
/// was not, and the law is called with that; nothing is lost for good.
#[test]
fn what_turns_out_to_have_been_no_loss_is_undone() {
    let flows = "start = \"0 s\"\ncc = { law = \"newreno\" }\nsender = { recovery = \"rack\" }";
    let link = "reorder = { share = 0.002, by = \"30 ms\" }";
    let (run, diary) = hear(&diarist(&Dumbbell { link, flows, ..Dumbbell::PLAIN }.text(), &[]));
    let details = details(&diary);
    let undone = details.iter().filter(|d| d.event == DeliveryEvent::RecoveryUndone).count();
    assert!(undone > 0, "{:?}", group(&run, "f").retransmits);
    let told = details.iter().filter(|d| matches!(d.event, DeliveryEvent::Lost(_))).count() as u64;
    assert!(details.last().unwrap().lost <= told);
    assert!(details.iter().all(|d| d.sent == d.delivered + d.lost + d.in_flight));
}

/// As in Linux, nothing is given back after a mark in the recovery, whatever the law makes of marks. Half of a fixed window waits, and
/// all of that is marked, or none.
#[test]
fn nothing_is_undone_after_a_mark_in_the_recovery() {
    let flows = "start = \"0 s\"\ncc = { law = \"newreno\" }\nsender = { recovery = \"rack\", dsack = false }";
    for delivery in [0.0, 1.0] {
        let undone = |start: &str| {
            let link = format!(
                "reorder = {{ share = 0.002, by = \"80 ms\" }}\n\
                 aqm = {{ law = \"ramp\", start = \"{start}\", range = \"0 s\" }}"
            );
            let text = Dumbbell { link: &link, flows, ..Dumbbell::PLAIN }.text();
            let (run, _) = hear(&diarist(&text, &[("window", 100.0), ("delivery", delivery), ("counts", 1.0)]));
            group(&run, "f").undone_recoveries.unwrap()
        };
        let (unmarked, marked) = (undone("10 s"), undone("10 ms"));
        assert!(unmarked > 5 && marked == 0, "{delivery}: {unmarked} {marked}");
    }
}

/// A line that is silent for 150 ms: the timer expires, and what was sent before arrives afterwards.
#[test]
fn a_timeout_for_nothing_is_undone() {
    let rate = "[[\"0 s\", \"10 Mbit/s\"], [\"2 s\", \"0 bit/s\"], [\"2.35 s\", \"10 Mbit/s\"]]";
    let flows =
        "start = \"0 s\"\ncc = { law = \"newreno\" }\nsender = { recovery = \"rack\", tail_loss_probe = false }";
    let top = "duration = \"5 s\"";
    let (run, diary) = hear(&diarist(&Dumbbell { top, rate, flows, ..Dumbbell::PLAIN }.text(), &[]));
    let events: Vec<_> = details(&diary)
        .into_iter()
        .filter(|d| matches!(d.event, DeliveryEvent::Timeout | DeliveryEvent::TimeoutUndone))
        .map(|d| (d.event, (d.now.seconds() * 1e3) as u64))
        .collect();
    assert_eq!(group(&run, "f").timeouts, 1);
    assert_eq!(events.len(), 2, "{events:?}");
    assert_eq!(events[0].0, DeliveryEvent::Timeout);
    assert!(events[1].0 == DeliveryEvent::TimeoutUndone && events[1].1 >= 2350, "{events:?}");
}

/// The timer comes at the very time of the law's output, whatever other events there are then, and as often.
#[test]
fn a_timer_comes_at_its_time() {
    let (_, diary) = hear(&diarist(&lossy("sack", ""), &[("period", 0.0137)]));
    let times: Vec<_> = details(&diary).iter().filter(|d| d.event == DeliveryEvent::Timer).map(|d| d.now).collect();
    let period = Time::from_seconds(0.0137);
    assert_eq!(times.len() as u64, 20 * Time::PER_SECOND / period.0);
    for (at, time) in times.iter().enumerate() {
        assert_eq!(time.0, (at as u64 + 1) * period.0);
    }
}

/// Four packets leave together, and the next four four gaps later: 1000 packets a second, with a window that allows more.
#[test]
fn a_quantum_leaves_together() {
    let flows = "start = \"0 s\"\ncc = { law = \"newreno\" }";
    let set = [("window", 1000.0), ("gap", 1e-3), ("quantum", 4.0)];
    let scenario = diarist(&Dumbbell { top: "duration = \"2 s\"", flows, ..Dumbbell::PLAIN }.text(), &set);
    let (_, seen) = crate::laboratory::watch_scenario(&scenario);
    let sent = data_at(&seen, End::Sender, 0);
    assert!((1996..=2004).contains(&sent.len()), "{}", sent.len());
    for four in sent.chunks_exact(4) {
        assert!(four[3] == four[0], "{four:?}");
    }
    let steps: Vec<_> = sent.iter().step_by(4).collect();
    assert!(steps.windows(2).all(|w| (w[1] - w[0] - 4e-3).abs() < 1e-9), "{:?}", &steps[..5]);
}

/// A window of less than two packets, with nothing queued, is that many packets a round trip of 40.8 ms. Without the
/// requirement it is whole packets, and one at the least.
#[test]
fn a_fraction_of_a_packet_is_a_rate() {
    let sent = |window: f64, fractions: f64| {
        let flows = "start = \"0 s\"\ncc = { law = \"newreno\" }";
        let set = [("window", window), ("fractions", fractions), ("delivery", 0.0)];
        let run = run_scenario(&diarist(
            &Dumbbell { top: "duration = \"60 s\"\nwarmup = \"0 s\"", flows, ..Dumbbell::PLAIN }.text(),
            &set,
        ));
        group(&run, "f").throughput_packets_per_s * 0.040_832
    };
    for window in [0.02, 0.3, 0.9, 1.0, 1.5, 1.9] {
        let is = sent(window, 1.0);
        assert!((is / window - 1.0).abs() < 0.03 + 0.0007 / window, "{window}: {is}");
    }
    assert!((sent(0.3, 0.0) - 1.0).abs() < 0.01 && (sent(1.9, 0.0) - 1.0).abs() < 0.01);
    assert!((sent(3.5, 1.0) - sent(3.5, 0.0)).abs() < 1e-9, "from two packets on it is a window");
}

/// A flow that sends and pauses: the law observes that it was short of data, once a pause, and packets sent then are app-limited.
#[test]
fn a_pause_is_told_when_it_is_over() {
    let more = "size = \"20000 B\"\nidle = \"200 ms\"";
    let flows =
        format!("start = \"0 s\"\ncc = {{ law = \"newreno\" }}\nsender = {{ remember = \"everything\" }}\n{more}");
    let text = Dumbbell { flows: &flows, ..Dumbbell::PLAIN }.text();
    let (run, diary) = hear(&diarist(&text, &[("window", 30.0)]));
    let details = details(&diary);
    let restarts = details.iter().filter(|d| d.event == DeliveryEvent::IdleRestart).count();
    let transfers = group(&run, "f").transfers.as_ref().map_or(0, |t| t.completed) as usize;
    assert!(restarts > 50 && restarts.abs_diff(transfers) <= 1, "{restarts} {transfers}");
    assert!(details.iter().all(|d| d.event != DeliveryEvent::IdleRestart || (d.in_flight == 0 && d.app_limited)));
    // A window that is full says so; one that is not is short of data.
    let full =
        diarist(&Dumbbell { flows: "start = \"0 s\"\ncc = { law = \"newreno\" }", ..Dumbbell::PLAIN }.text(), &[]);
    let limited: Vec<_> = self::details(&hear(&full).1).iter().map(|d| (d.window_limited, d.app_limited)).collect();
    assert!(limited.iter().all(|limits| *limits == (true, false)));
    // A window beyond what the receiver takes is not what limits the flow.
    let flows = "start = \"0 s\"\ncc = { law = \"newreno\" }\nsender = { receive_window = 10 }";
    let short = diarist(&Dumbbell { flows, ..Dumbbell::PLAIN }.text(), &[]);
    assert!(self::details(&hear(&short).1).iter().all(|d| !d.window_limited && d.app_limited));
}

/// The same seed is the same diary, to the last bit; another seed draws otherwise; and a flow more changes no draw.
#[test]
fn draws_belong_to_the_flow() {
    let draws = |seed: u32, more: &str| {
        let text = lossy("sack", "").replace("duration", &format!("seed = {seed}\nduration")) + more;
        details(&hear(&diarist(&text, &[])).1)
    };
    let first = draws(1, "");
    assert_eq!(first, draws(1, ""));
    let uniform = |d: &[Delivery]| d.iter().take(100).map(|d| d.uniform).collect::<Vec<_>>();
    assert_ne!(uniform(&first), uniform(&draws(2, "")));
    let beside =
        "\n[flows.g]\nfrom = \"l\"\nto = \"r\"\nrtt = \"50 ms\"\nstart = \"0 s\"\ncc = { law = \"newreno\" }\n";
    assert_eq!(uniform(&first), uniform(&draws(1, beside)));
    let mean = first.iter().map(|d| d.uniform).sum::<f64>() / first.len() as f64;
    assert!((mean - 0.5).abs() < 0.02, "{mean}");
}

/// A law that does not require it gets nothing of this, and one that requires it of a sender without it is refused.
#[test]
fn nobody_hears_who_does_not_ask() {
    let (_, diary) = hear(&diarist(&lossy("sack", ""), &[("delivery", 0.0)]));
    assert!(diary.len() > 1000 && details(&diary).is_empty());
    for recovery in ["newreno", "reno"] {
        let refused =
            penstock_scenario::world::World::refusals(&penstock_packets::Packets, &diarist(&lossy(recovery, ""), &[]));
        assert!(refused.len() == 1 && refused[0].contains("flows.f.sender.recovery"), "{refused:?}");
    }
    let kernel = diarist(&lossy("sack", ""), &[("kernel", 1.0)]);
    let refused = penstock_scenario::world::World::refusals(&penstock_packets::Packets, &kernel);
    assert!(refused.len() == 1 && refused[0].contains("only the kernel has `diarist`"), "{refused:?}");
}
