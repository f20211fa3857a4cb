//! Distributions of sizes: by name, or from a file of points.

use super::error::Reported;
use super::table::Item;
use super::trace::{Fault, Traces, at_line, described, digest, expect};
use crate::format;
use crate::model::{Distribution, Origin};
use crate::sizes::{NAMES, known};

/// The most points of a file.
const MOST: usize = 100_000;
/// The largest size [B].
const LARGEST: f64 = 1e15;

const REMEDY: &str =
    "write `web-search`, `data-mining`, `video-chunks` or the name of a file, as in `{ distribution = \"sizes.csv\" }`";

/// Reads the value of `distribution`: a name, a file's name, or a table of a file's name and its hash.
pub(super) fn distribution(item: &Item<'_>, traces: &Traces<'_>) -> Result<Distribution, Reported> {
    if item.node.table().is_none() {
        let name = item.path(REMEDY)?;
        return match known(name) {
            Some(points) => Ok(Distribution { origin: Origin::Known(name.to_owned()), points: points.into() }),
            None => file(item, traces),
        };
    }
    let fields = item.clone().fields(&format::SIZES, REMEDY)?;
    let named = fields.need("file", REMEDY)?;
    let wanted = fields.find("sha256");
    let found = file(&named, traces)?;
    let Origin::File { file, sha256 } = &found.origin else { return Ok(found) };
    expect(wanted.as_ref(), file, sha256)?;
    Ok(found)
}

fn file(named: &Item<'_>, traces: &Traces<'_>) -> Result<Distribution, Reported> {
    let file = named.path(REMEDY)?;
    let remedy =
        format!("name a file that can be read, or one of {}", NAMES.map(|name| format!("`{name}`")).join(", "));
    let text = match traces.text(file) {
        None => Err("no files are read here".to_owned()),
        Some(text) => text,
    };
    let text = text.map_err(|why| named.wrong(format!("the distribution `{file}` cannot be read: {why}"), remedy))?;
    let points = parse(&text).map_err(|fault| at_line(named, file, "sizes", fault))?;
    Ok(Distribution { origin: Origin::File { file: file.to_owned(), sha256: digest(&text) }, points: points.into() })
}

/// The points of a file: a size in bytes and the share of transfers that are no larger, separated by a comma. Empty lines, and
/// lines that begin with `#`, do not count.
fn parse(text: &str) -> Result<Vec<(f64, f64)>, Fault> {
    let remedy = "write a size in bytes and a probability, as in `1460,0.5`";
    let mut points: Vec<(f64, f64)> = Vec::new();
    let mut last = 1;
    for (line, text) in (1..).zip(text.lines()).filter(|(_, text)| !text.trim().is_empty() && !text.starts_with('#')) {
        last = line;
        let number = |text: &str| text.trim().parse::<f64>().ok().filter(|x| x.is_finite());
        let pair = text.split_once(',').and_then(|(size, share)| Some((number(size)?, number(share)?)));
        let Some((size, share)) = pair else {
            return Err((line, format!("{} is not a point of a distribution", described(text.trim())), remedy));
        };
        if !(0.0..=LARGEST).contains(&size) || !(0.0..=1.0).contains(&share) {
            let remedy = "write a size from 0 to 1e15 bytes and a probability from 0 to 1";
            return Err((line, format!("{} is out of range", described(text.trim())), remedy));
        }
        if let Some(before) = points.last()
            && (size < before.0 || share < before.1)
        {
            return Err((
                line,
                format!("{} is below the line before", described(text.trim())),
                "order the points: neither sizes nor probabilities decrease",
            ));
        }
        if points.len() == MOST {
            return Err((line, format!("more than {MOST} points"), "write fewer points"));
        }
        points.push((size, share));
    }
    match points.last() {
        None => Err((1, "a file without points".into(), remedy)),
        Some((_, share)) if *share < 1.0 => {
            Err((last, format!("the last probability is {share}"), "end with the largest size and the probability 1"))
        }
        Some((size, _)) if *size < 1.0 => {
            Err((last, "the largest size is below a byte".into(), "end with a largest size of 1 byte or more"))
        }
        Some(_) => Ok(points),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_points_in_order_that_end_at_one() {
        assert_eq!(
            parse("# sizes\n100,0.25\n\n100, 0.5\r\n2e3,1\n"),
            Ok(vec![(100.0, 0.25), (100.0, 0.5), (2000.0, 1.0)])
        );
        for (text, line, found) in [
            ("", 1, "a file without points"),
            ("# nothing\n", 1, "a file without points"),
            ("100,0.5\n", 1, "the last probability is 0.5"),
            ("100,0.5\n90,1\n", 2, "`90,1` is below"),
            ("100,0.5\n110,0.4\n", 2, "`110,0.4` is below"),
            ("100,0.5\n110\n", 2, "`110` is not a point"),
            ("secret word,1\n", 1, "a text of 13 characters is not"),
            ("100,1.5\n", 1, "`100,1.5` is out of range"),
            ("-1,1\n", 1, "`-1,1` is out of range"),
            ("nan,1\n", 1, "a text of 5 characters is not"),
            ("0,1\n", 1, "the largest size is below a byte"),
        ] {
            let fault = parse(text).expect_err(text);
            assert!(fault.0 == line && fault.1.contains(found), "{text:?}: {fault:?}");
        }
    }
}
