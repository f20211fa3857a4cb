//! Errors of a scenario for people: a headline each, and the line with the part that it is about underlined.

use std::fmt::Write;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use penstock_scenario::read::{ReadError, ReadErrors};
use penstock_scenario::visible;

use crate::program;

/// All errors; `styled` is for a terminal that shows colours. Text from the file is made visible, so that nothing but the
/// style acts on a terminal.
pub(crate) fn rendered(errors: &ReadErrors, styled: bool) -> String {
    let program = program::name();
    let renderer = if styled { Renderer::styled() } else { Renderer::plain() };
    let (shown, more) = errors.shown();
    let mut text = String::new();
    for error in shown {
        let _ = writeln!(text, "{program}: {}", visible::line(&error.to_string()));
        if let Some(lines) = excerpt(error, &renderer) {
            let _ = writeln!(text, "{lines}");
        }
    }
    if more > 0 {
        let _ = writeln!(text, "{program}: and {more} more");
    }
    text.truncate(text.trim_end().len());
    text
}

fn excerpt(error: &ReadError, renderer: &Renderer) -> Option<String> {
    let (line, excerpt) = (error.line?, error.excerpt.as_ref()?);
    let part = |text: Option<&str>| visible::lines(text.unwrap_or_default()).into_owned();
    let before = part(excerpt.text.get(..excerpt.span.start));
    let span = part(excerpt.text.get(excerpt.span.clone()));
    let after = part(excerpt.text.get(excerpt.span.end..));
    let underlined = AnnotationKind::Primary.span(before.len()..before.len() + span.len());
    let snippet = Snippet::source(before + &span + &after).line_start(line as usize).annotation(underlined);
    Some(renderer.render(&[Group::with_level(Level::ERROR).element(snippet)]))
}
