use super::*;
use penstock_scenario::read::Document;

/// The plan of one group for a generator.
pub(super) fn planned(flow: &str, more: &str, generator: Generator) -> Result<Plan, Vec<Refused>> {
    let text = format!(
        r#"format = 1
        duration = "10 s"
        {more}
        links.l = {{ from = "a", to = "b", rate = "8 Mbit/s", delay = "5 ms", buffer = "90 packets" }}
        flows.f = {{ from = "a", to = "b", {flow} }}"#
    );
    let cells = Document::parse(&text, "test.toml").and_then(|document| document.cells()).unwrap();
    Plan::of(&cells[0].scenario, generator)
}

fn plan(flow: &str, more: &str) -> Result<Plan, Vec<Refused>> {
    planned(flow, more, Generator::Own)
}

fn refused(flow: &str, more: &str) -> String {
    let [refused] = <[_; 1]>::try_from(plan(flow, more).unwrap_err()).expect("one refusal");
    refused.what
}

#[test]
fn rounds_are_not_sampled() {
    let what = refused("cc = { law = \"newreno\" }", "dynamics = { round = \"40 ms\" }");
    assert_eq!(what, "dynamics: this world does not sample each round");
}

#[test]
fn what_the_kernel_has_is_taken_over() {
    let flow = r#"count = 2, cc = { law = "newreno", ecn = true }, start = "1 s", stop = "5 s", size = "3 MB",
                  sender = { initial_window = 10, recovery = "newreno", delayed_ack = 1, receive_window = 100, burst = 8 }"#;
    let Plan { habits, flows, .. } = plan(flow, "packet = { wire = \"1500 B\", payload = \"1448 B\" }").unwrap();
    assert!(habits.timestamps && habits.mtu == 1500 && habits.burst == Some(8));
    let one = FlowHabits {
        initial_window: Some(10),
        min_rto: Some(Time(Time::PER_SECOND / 5)),
        ecn: true,
        quick_ack: true,
        receive_window: Some(Bytes(144_800)),
        echoes: None,
        low_latency: false,
    };
    assert_eq!(habits.flows, [one.clone(), one]);
    let FlowPlan { group: 0, start, stop, bytes: Some(Bytes(3_000_000)), source } = &flows[1] else {
        panic!("{flows:?}")
    };
    assert_eq!((*start, *stop), (Time(Time::PER_SECOND), Time(5 * Time::PER_SECOND)));
    assert!(matches!(source, Source::Tcp { controller: Controller::Kernel("reno"), sack: false }));
}

#[test]
fn datagrams_have_their_steps() {
    let flow = r#"cc = { law = "cbr", rate = [["0 s", "5 Mbit/s"], ["2 s", "9 Mbit/s"]] }"#;
    let Plan { flows, habits, .. } = plan(flow, "").unwrap();
    let Source::Datagrams(rates) = &flows[0].source else { panic!("{flows:?}") };
    assert_eq!(*rates, [(Time::ZERO, Rate(5_000_000)), (Time(2 * Time::PER_SECOND), Rate(9_000_000))]);
    assert_eq!((habits.burst, &habits.flows[0]), (None, &FlowHabits::default()));
}

#[test]
fn everything_that_it_has_not_is_refused_at_once() {
    let flow = r#"cc = { law = "cubic", beta = 0.5, c = 0.5 }, sender = { ssthresh = 30, recovery = "reno" }"#;
    let refused = plan(flow, "packet = \"100 B\"").unwrap_err();
    let mut keys: Vec<_> = refused.iter().map(|refused| refused.what.split(':').next().unwrap()).collect();
    // The machine's own setting decides whether this one is there.
    keys.retain(|key| *key != "flows.f.cc.hystart");
    assert_eq!(
        keys,
        ["packet", "flows.f.cc.c", "flows.f.cc.beta", "flows.f.sender.recovery", "flows.f.sender.ssthresh"]
    );
}

/// A profile without a part of the kernel's recovery was not written by anybody key by key.
#[test]
fn only_parts_that_were_left_out_are_refused() {
    let newreno = r#"cc = { law = "newreno" }"#;
    let left_out = ("\"rfc\", tail_loss_probe = false", &["tail_loss_probe"][..]);
    for (sender, parts) in [("\"quic\"", &[][..]), left_out] {
        let refused = plan(&format!("{newreno}, sender = {{ profile = {sender} }}"), "").err();
        let all: Vec<String> = refused.unwrap_or_default().into_iter().map(|refused| refused.what).collect();
        let of_recovery = ["prr", "tail_loss_probe", "dsack", "undo"].into_iter();
        let named =
            of_recovery.filter(|part| all.iter().any(|what| what.starts_with(&format!("flows.f.sender.{part}:"))));
        assert_eq!(named.collect::<Vec<_>>(), parts, "{all:?}");
    }
}

#[test]
fn what_it_has_not_is_refused_by_name() {
    let newreno = r#"cc = { law = "newreno" }"#;
    let linux = |more: &str| format!("{newreno}, sender = {{ profile = \"linux\", {more} }}");
    if AccurateEcn::in_kernel() == Some(false) {
        let said = refused("cc = { law = \"newreno\", ecn = true }, sender = { ecn_echo = \"accurate\" }", "");
        assert!(said.starts_with("flows.f.sender.ecn_echo: this kernel does not accept"), "{said}");
    }
    let beside = "flows.g = { from = \"a\", to = \"b\", cc = { law = \"newreno\" } }";
    let said = refused("cc = { law = \"newreno\", ecn = true }, sender = { ecn_echo = \"accurate\" }", beside);
    assert!(
        said.starts_with("flows.f.sender.ecn_echo: all flows of the Linux world share") && said.contains("flows.g"),
        "{said}"
    );
    for (flow, more, named) in [
        (r#"cc = { law = "ccp" }"#, "", "flows.f.cc: no kernel has a controller for the law `ccp`"),
        (
            &format!("cc = {{ law = \"cubic\", beta = 0.5, hystart = {} }}", hystart()),
            "",
            "flows.f.cc.beta: this parameter is 0.5",
        ),
        (r#"cc = { law = "newreno", grow_on_echo = true, ecn = true }"#, "", "flows.f.cc.grow_on_echo"),
        (r#"cc = { law = "newreno", flight_size = true }"#, "", "flows.f.cc.flight_size"),
        (
            &format!("{newreno}, size = \"1 MB\", idle = \"1 s\", sender = {{ remember = \"base rtt\" }}"),
            "",
            "flows.f.sender.remember",
        ),
        (&format!("{newreno}, sender = {{ recovery = \"reno\" }}"), "", "flows.f.sender.recovery"),
        (&format!("{newreno}, sender = {{ ssthresh = 30 }}"), "", "flows.f.sender.ssthresh"),
        (&format!("{newreno}, sender = {{ tick = \"100 ms\" }}"), "", "flows.f.sender.tick"),
        (&linux("undo = false"), "", "flows.f.sender.undo"),
        (&format!("{newreno}, sender = {{ delayed_ack = 2 }}"), "", "flows.f.cc.per_ack"),
        (&linux("ack_gap_once = true"), "", "flows.f.sender.ack_gap_once"),
        (&linux("max_ack_delay = \"25 ms\""), "", "flows.f.sender.max_ack_delay"),
        (newreno, "packet = { wire = \"1500 B\", payload = \"1400 B\" }", "packet: 100 B of header"),
        (newreno, "packet = \"100 B\"", "packet: 100 B on the wire"),
    ] {
        let said = refused(flow, more);
        assert!(said.starts_with(named), "{said}");
    }
    let other = !hystart();
    let said = refused(&format!("cc = {{ law = \"cubic\", hystart = {other} }}"), "");
    assert!(
        said.starts_with(&format!("flows.f.cc.hystart: this parameter is {other}, and the kernel's `cubic` has")),
        "{said}"
    );
}
