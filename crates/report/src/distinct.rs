//! Titles of figures by which a reader can tell them apart, on the page and as files: the viewer saves the data of a figure
//! under its title.

use std::collections::{BTreeMap, BTreeSet};

use crate::page::Page;

/// The most characters of the name of a file, as in `fileName` of `web/src/csv.ts`.
const MOST: usize = 60;

/// The name under which the viewer saves the data of a figure, without `.csv`. Of a long title it is the start and the end.
pub(crate) fn file_name(title: &str) -> String {
    let name = slug(title);
    match name.len() {
        0 => "figure".to_owned(),
        1..=MOST => name,
        length => format!("{}-{}", &name[..MOST / 2], &name[length + 1 + MOST / 2 - MOST..]),
    }
}

/// `text` in lower case, with nothing but letters, digits and hyphens.
pub(crate) fn slug(text: &str) -> String {
    let letters = text.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { ' ' });
    letters.collect::<String>().split_whitespace().collect::<Vec<_>>().join("-")
}

/// Adds to a title that several figures have the section of each; a number where that is not enough.
pub(crate) fn titles(page: &mut Page) {
    let mut count: BTreeMap<String, usize> = BTreeMap::new();
    for figure in page.sections.iter().flat_map(|section| &section.figures) {
        *count.entry(file_name(&figure.title)).or_default() += 1;
    }
    // A title that only one figure has stays as it is, whatever the others get.
    let mut taken: BTreeSet<String> =
        count.iter().filter(|(_, times)| **times == 1).map(|(name, _)| name.clone()).collect();
    for section in &mut page.sections {
        let place = [section.part.as_str(), section.name()].map(str::trim).map(str::to_owned);
        for figure in &mut section.figures {
            if count.get(&file_name(&figure.title)).is_none_or(|times| *times == 1) {
                continue;
            }
            let place = place.iter().filter(|word| !word.is_empty()).cloned().collect::<Vec<_>>().join(", ");
            let title = if place.is_empty() { figure.title.clone() } else { format!("{} ({place})", figure.title) };
            let mut candidate = title.clone();
            let mut number = 1;
            while !taken.insert(file_name(&candidate)) {
                number += 1;
                candidate = format!("{title} {number}");
            }
            figure.title = candidate;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::{Axis, Figure};
    use crate::page::Section;

    fn page(sections: &[(&str, &[&str])]) -> Page {
        let figure = |title: &&str| Figure::new(*title, Axis::new("", ""), Axis::new("", ""));
        let section = |(heading, titles): &(&str, &[&str])| Section {
            figures: titles.iter().map(figure).collect(),
            ..Section::new(*heading)
        };
        Page { sections: sections.iter().map(section).collect(), ..Page::default() }
    }

    fn titles_of(mut page: Page) -> Vec<String> {
        titles(&mut page);
        page.sections.into_iter().flat_map(|s| s.figures).map(|f| f.title).collect()
    }

    #[test]
    fn a_title_that_several_figures_have_names_the_section() {
        let made = titles_of(page(&[
            ("Links over time", &["Rate", "Queue"]),
            ("Chunks over time", &["Rate", "rate!"]),
            ("", &["Rate", "Rate 2"]),
        ]));
        let wanted = [
            "Rate (Links over time)",
            "Queue",
            "Rate (Chunks over time)",
            "rate! (Chunks over time) 2",
            "Rate",
            "Rate 2",
        ];
        assert_eq!(made, wanted);
    }

    /// Long titles that differ at the end only, and titles without a letter, have names of their own too.
    #[test]
    fn no_two_files_have_one_name() {
        let long = "y".repeat(300);
        let (a, b) = (format!("{long} a"), format!("{long} b"));
        let made = titles_of(page(&[("x", &[&a, &b, &a, "\u{3b1}", "\u{3b2}"]), ("x", &[&a, "\u{3b1}"])]));
        let names: BTreeSet<String> = made.iter().map(|title| file_name(title)).collect();
        assert_eq!(names.len(), made.len(), "{names:?}");
        assert!(names.iter().all(|name| name.len() <= MOST), "{names:?}");
    }
}
