//! Width of words, and words broken to a width.

/// About how wide `text` is in a wide common sans-serif of that size, in pixels: the same everywhere, whatever fonts there are.
pub(super) fn text_width(text: &str, size: f64) -> f64 {
    let em = |c: char| match c {
        'i' | 'j' | 'l' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' | 'I' | ' ' | '\u{202f}' => 0.28,
        'f' | 't' | 'r' | '(' | ')' | '[' | ']' | '/' | '-' => 0.34,
        'm' | 'M' | 'W' | '%' | '@' => 0.87,
        'w' | 'A'..='Z' | '+' | '=' | '<' | '>' | '\u{2212}' | '\u{2026}' => 0.7,
        '\u{2070}'..='\u{207f}' | '\u{b2}' | '\u{b3}' | '\u{b9}' => 0.38,
        '\0'..='\u{24f}' => 0.56,
        '\u{250}'..='\u{10ff}' => 0.62,
        _ => 1.0,
    };
    text.chars().map(em).sum::<f64>() * size * 1.1
}

/// `text` in lines of at most `width`, broken at spaces and after slashes; a word that is wider than a line goes on in the next.
/// Nothing is left out: of two names that differ at the end the starts may be equal.
pub(super) fn wrap(text: &str, width: f64, size: f64) -> Vec<String> {
    let wide = |text: &str| text_width(text.trim_end(), size) > width;
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    for word in text.split_inclusive([' ', '/']) {
        if !line.is_empty() && wide(&format!("{line}{word}")) {
            lines.push(std::mem::take(&mut line));
        }
        line.push_str(word);
        while wide(&line) {
            let ends = line.char_indices().map(|(at, _)| at).skip(1);
            // A character that is wider than a line has one of its own.
            let end = ends.take_while(|end| !wide(&line[..*end])).last();
            let first = line.chars().next().map_or(0, char::len_utf8);
            let rest = line.split_off(end.unwrap_or(first));
            lines.push(std::mem::replace(&mut line, rest));
            if line.chars().count() < 2 {
                break;
            }
        }
    }
    lines.push(line);
    lines.iter().map(|line| line.trim().to_owned()).filter(|line| !line.is_empty()).collect()
}

/// `text` in at most so many lines of at most `width`, if none of its words has to be broken.
pub(super) fn fitted(text: &str, width: f64, size: f64, most: usize) -> Option<Vec<String>> {
    let whole = text.split_inclusive([' ', '/']).all(|word| text_width(word.trim_end(), size) <= width);
    whole.then(|| wrap(text, width, size)).filter(|lines| lines.len() <= most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_broken_and_never_cut() {
        let name = "buffer 1000 packets, dumbbell/red-and-a-law-with-a-long-name-of-its-own";
        for width in [0.0, 5.0, 40.0, 90.0, 1000.0] {
            let lines = wrap(name, width, 12.0);
            let glued = |text: &str| text.replace(' ', "");
            assert_eq!(glued(&lines.concat()), glued(name), "{width}");
            let narrow = |line: &String| text_width(line, 12.0) <= width || line.chars().count() == 1;
            assert!(lines.iter().all(narrow), "{width}: {lines:?}");
        }
        assert_eq!(fitted(name, 90.0, 12.0, 9), None, "a word is wider");
        assert_eq!(fitted("two words", 40.0, 12.0, 1), None);
        assert_eq!(fitted("two words", 40.0, 12.0, 2), Some(vec!["two".to_owned(), "words".to_owned()]));
    }
}
