//! `penstock check`: the worlds that run a file, and all that the others refuse.

use crate::bench::{Bench, SMALL};
use serde_json::Value;

/// An AQM that a world does not run hides no controller that it does not run either; and quinn's controllers run over quinn alone.
#[test]
fn check_says_all_that_a_world_does_not_run() {
    let bench = Bench::new();
    bench.write("small.toml", SMALL);
    let check = |settings: &[&str]| {
        let set = settings.iter().flat_map(|setting| ["--set", *setting]);
        let arguments: Vec<&str> = ["check", "small.toml", "--json"].into_iter().chain(set).collect();
        let answers: Value = serde_json::from_str(&bench.run(&arguments).out).unwrap();
        answers["worlds"].as_array().unwrap().clone()
    };
    let both = check(&["links.bottleneck.aqm={ law = \"codel\" }", "flows.ftp.cc={ law = \"cubic\" }"]);
    let fluid = both[1]["refusals"].as_array().unwrap();
    for law in ["`codel`", "`cubic`"] {
        assert!(fluid.iter().any(|what| what.as_str().unwrap().contains(law)), "{law}: {fluid:?}");
    }
    let quinn = check(&["flows.ftp.cc={ law = \"quinn-bbr\" }"]);
    let only =
        "flows.ftp.cc: only the QUIC library quinn has the law `quinn-bbr`: use `--world linux --generator quic`";
    for world in &quinn[..3] {
        assert!(world["refusals"].as_array().unwrap().iter().any(|what| what == only), "{world}");
        let said = world["refusals"].to_string();
        assert!(!said.contains("only the kernel has") && !said.contains("no kernel has"), "{said}");
    }
    // What else the group has is refused beside it, be it named as its link is.
    let more = check(&["flows.ftp.cc={ law = \"quinn-bbr\" }", "flows.ftp.on_off={ on = \"1 s\", off = \"1 s\" }"]);
    assert!(more[1]["refusals"].to_string().contains("on-off periods"), "{}", more[1]);
    for arguments in [
        &["compare", "small.toml", "--set", "flows.ftp.cc={ law = \"quinn-bbr\" }"][..],
        &["break", "quinn-bbr", "--objective", "starve"],
        &["evaluate", "quinn-bbr", "--quick"],
    ] {
        let ended = bench.run(arguments);
        assert!(
            ended.status == 3 && ended.err.contains("only the QUIC library quinn has the law `quinn-bbr`"),
            "{arguments:?}: {}",
            ended.err
        );
    }
    // The packets world runs the others.
    let simulated = check(&["flows.ftp.cc={ law = \"quinn-cubic\" }"]);
    assert_eq!(simulated[0]["refusals"], serde_json::json!([]), "{}", simulated[0]);
    assert!(simulated[1]["refusals"].to_string().contains("have the law `quinn-cubic`"), "{}", simulated[1]);
    assert_eq!((&quinn[3]["world"], &quinn[3]["generator"]), (&"linux".into(), &"quic".into()));
    assert!(!quinn[3]["refusals"].to_string().contains("flows.ftp.cc"), "{}", quinn[3]);
    // A host of QUIC asks for it, too, and the answer is that of its stack.
    let rfc = check(&["flows.ftp.sender={ profile = \"rfc\", ssthresh = 30 }"]);
    assert_eq!(rfc.len(), 3, "{rfc:?}");
    let hosts = check(&["flows.ftp.sender={ profile = \"quic\", ssthresh = 30 }"]);
    assert_eq!((hosts.len(), &hosts[3]["generator"]), (4, &"quic".into()), "{hosts:?}");
    assert!(hosts[3]["refusals"].to_string().contains("flows.ftp.sender.ssthresh: quinn goes by"), "{}", hosts[3]);
}

/// `check` lists the worlds without running them, and with JSON for programs.
#[test]
fn check_says_which_worlds_run_a_file() {
    let bench = Bench::new();
    bench.write("small.toml", SMALL);
    assert!(
        bench
            .well(&["check", "small.toml", "--world", "packets,fluid"])
            .starts_with("# Runs with --world packets or fluid.\n")
    );
    let bursts = [
        "--set",
        "flows.ftp.sender={ burst = 4, arithmetic = \"f64\" }",
        "--set",
        "links.bottleneck.scheduler={ law = \"drr\" }",
    ];
    let check = |worlds: &str, more: &[&str]| {
        bench.run(&[&["check", "small.toml", "--world", worlds], &bursts[..], more].concat())
    };
    let refused = check("fluid", &[]);
    assert_eq!(refused.status, 3);
    assert_eq!(
        refused.err,
        "penstock: small.toml: the link `bottleneck` has a scheduler, which fluid does not support (in the fluid world)\n\
         penstock: small.toml: the group `ftp` has bursts, which fluid does not support (in the fluid world)\n"
    );
    let either = check("fluid,packets", &[]);
    assert_eq!(either.status, 0, "{}", either.err);
    assert!(
        either.out.starts_with("# Runs with --world packets.\n# Does not run with --world fluid:\n#   the link"),
        "{}",
        either.out
    );
    // A law of packets one by one, and a recovery that does not tell of each.
    let bbr = bench.run(&[
        "check",
        "small.toml",
        "--world",
        "packets,fluid",
        "--set",
        "flows.ftp.cc={ law = \"bbr\" }",
        "--set",
        "flows.ftp.sender={ recovery = \"newreno\" }",
    ]);
    assert!(bbr.status == 3 && bbr.err.contains("choose `sack` or `rack`"), "{}", bbr.err);
    // What a world refuses it refuses all at once when it runs, too.
    let run = bench.run(&[&["run", "small.toml", "--world", "fluid"], &bursts[..]].concat());
    assert!(
        run.status == 3
            && run.err.lines().count() == 2
            && run.err.contains("a scheduler")
            && run.err.contains("bursts"),
        "{}",
        run.err
    );

    let read: Value = serde_json::from_str(&check("fluid,packets", &["--json"]).out).unwrap();
    assert_eq!(read["worlds"][0]["world"], "fluid");
    assert_eq!((&read["worlds"][0]["runs"], &read["worlds"][1]["runs"]), (&Value::Bool(false), &Value::Bool(true)));
    assert_eq!(read["scenario"]["links"]["bottleneck"]["rate"], "10 Mbit/s");
    assert_eq!(read["cells"].as_array().unwrap().len(), 1);
    bench.write("bad.toml", &SMALL.replace("10 Mbit/s", "10 Mbps").replace("count = 2", "count = 0"));
    let ended = bench.run(&["check", "bad.toml", "--json"]);
    let wrong: Value = serde_json::from_str(&ended.out).unwrap();
    assert_eq!((ended.status, wrong["errors"].as_array().unwrap().len()), (2, 2));
    let error = &wrong["errors"][0];
    assert_eq!(
        (error["file"].as_str(), error["line"].as_u64(), error["column"].as_u64()),
        (Some("bad.toml"), Some(10), Some(8))
    );
    assert_eq!(error["key"], "links.bottleneck.rate");
    assert_eq!(error["found"], "`10 Mbps` is not a rate");
    assert!(error["remedy"].as_str().unwrap().starts_with("write `10 Mbit/s`"), "{error}");
}
