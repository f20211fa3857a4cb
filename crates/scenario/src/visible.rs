//! Characters that a terminal or an editor acts on instead of showing them: control characters, marks that change the
//! direction of text, and those without width or ink. A name may have none of them, and text that is printed shows them as
//! escapes.

use std::borrow::Cow;
use std::fmt::Write;

/// Whether a character acts on text instead of being part of it.
///
/// These are the control characters, the separators of lines and paragraphs, what Unicode calls explicit directional
/// formatting (UAX 9, section 2), and the zero-width space, the word joiner and the byte order mark. The joiners within words
/// of some scripts are text.
///
/// ```
/// use penstock_scenario::visible::acts;
/// assert!(acts('\u{1b}') && acts('\n') && acts('\u{202e}') && acts('\u{200b}') && !acts('\u{e9}') && !acts('\u{200d}'));
/// ```
pub fn acts(c: char) -> bool {
    let direction =
        matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{200b}' | '\u{2060}' | '\u{feff}') || direction
}

/// Text of several lines with everything else that acts as an escape, such as `\u{1b}`.
///
/// ```
/// use penstock_scenario::visible::lines;
/// assert_eq!(lines("red \u{1b}[31m\r\n\tand \u{202e}back"), "red \\u{1b}[31m\\r\n\tand \\u{202e}back");
/// ```
pub fn lines(text: &str) -> Cow<'_, str> {
    escaped(text, |c| acts(c) && !matches!(c, '\n' | '\t'))
}

/// The same on one line: a character that would end a line is an escape too.
pub fn line(text: &str) -> Cow<'_, str> {
    escaped(text, acts)
}

fn escaped(text: &str, hides: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.chars().any(&hides) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if hides(c) {
            let _ = match c {
                '\n' | '\r' | '\t' => write!(out, "{}", c.escape_default()),
                c => write!(out, "{}", c.escape_unicode()),
            };
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// At most `most` characters of a text, with `...` where there were more.
///
/// ```
/// use penstock_scenario::visible::cut;
/// assert_eq!((cut("penstock", 8), cut("penstock", 3)), ("penstock".into(), "pen...".into()));
/// ```
pub fn cut(text: &str, most: usize) -> Cow<'_, str> {
    match text.char_indices().nth(most) {
        None => Cow::Borrowed(text),
        Some((end, _)) => Cow::Owned(format!("{}...", &text[..end])),
    }
}
