//! Runs a scenario file, and prints its summary.
fn main() {
    let file = std::env::args().nth(1).expect("a file");
    let text = std::fs::read_to_string(&file).expect("readable");
    let cells = penstock_scenario::read::Document::parse(&text, &file).and_then(|d| d.cells()).expect("a scenario");
    for cell in &cells {
        use penstock_scenario::world::World;
        match penstock_linux::run::Linux.run(&cell.scenario, &mut |_| true) {
            Ok(run) => println!("{}\n{:#?}", "=".repeat(70), (run.summary.whole.links, run.summary.whole.groups, run.summary.path)),
            Err(e) => println!("{e}"),
        }
    }
}
