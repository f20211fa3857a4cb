//! The files of a record: the first byte says which of them the rest is.

use penstock_record::{Meaning, read_header, read_summary, read_table, write_table};
use penstock_scenario::world::{Cells, Column, Kind, Table};

/// Nothing panics on a header, a summary or a table of somebody else's, and a table that is read is written again.
///
/// # Panics
/// If not.
pub fn check(data: &[u8]) {
    let Some((which, bytes)) = data.split_first() else { return };
    match which % 3 {
        0 => {
            if let Ok(header) = read_header(bytes) {
                let _ = header.laws();
            }
        }
        1 => drop(read_summary(bytes)),
        _ => {
            if let Ok(table) = read_table(bytes) {
                let again = write_table(&table, &|_| Meaning::default()).expect("a table that was read can be written");
                read_table(&again).expect("a table that was written can be read");
            }
        }
    }
}

/// A header, a summary and a table.
pub fn seeds() -> Vec<Vec<u8>> {
    let header = b"\0format = 1\nid = \"00\"\nseed = 1\nscenario = \"format = 1\"\nworld = \"packets\"\nversion = \"0\"\nwall_s = 1.0\n[files]\n";
    let mut seeds = vec![header.to_vec(), b"\x01{}".to_vec()];
    seeds.push([vec![2], table()].concat());
    seeds
}

/// A small table with a column of each kind.
fn table() -> Vec<u8> {
    let column = |name: &str, kind, values| Column { name: name.to_owned(), kind, values };
    let table = Table {
        name: "links".to_owned(),
        columns: vec![
            column("time_s", Kind::Key, Cells::Number(vec![0.5, f64::NAN])),
            column("drops", Kind::Average, Cells::Count(vec![0, u64::MAX])),
            column("link", Kind::Key, Cells::Name { names: vec!["a".to_owned()], rows: vec![0, 0] }),
        ],
    };
    write_table(&table, &|_| Meaning::default()).unwrap_or_default()
}
