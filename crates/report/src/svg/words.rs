//! Width of words, and words cut or broken to a width.

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

/// `text` in lines of about `width`, broken at spaces and after slashes; a word that is wider than a line is cut.
pub(super) fn wrap(text: &str, width: f64, size: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    for word in text.split_inclusive([' ', '/']) {
        if !line.is_empty() && text_width(&line, size) + text_width(word.trim_end(), size) > width {
            lines.push(std::mem::take(&mut line));
        }
        line.push_str(word);
    }
    lines.push(line);
    lines.iter().map(|l| shortened(l.trim(), width, size)).filter(|l| !l.is_empty()).collect()
}

/// `text`, cut where it would be wider than `width`.
pub(super) fn shortened(text: &str, width: f64, size: f64) -> String {
    if text_width(text, size) <= width {
        return text.to_owned();
    }
    let mut out = String::new();
    for c in text.chars() {
        out.push(c);
        if text_width(&out, size) > width - size {
            break;
        }
    }
    out.push('\u{2026}');
    out
}
