//! Texts, keys and paths as TOML writes them.

use std::fmt::Write;

/// A TOML string.
pub fn quoted(text: &str) -> String {
    let mut out = String::from('"');
    for c in text.chars() {
        match c {
            '"' => out += "\\\"",
            '\\' => out += "\\\\",
            '\n' => out += "\\n",
            '\t' => out += "\\t",
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04X}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// A TOML key: as it stands where that is allowed.
pub fn bare(key: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !key.is_empty() && key.chars().all(plain) { key.to_owned() } else { quoted(key) }
}

/// A path as it is written.
pub fn dotted(path: &[String]) -> String {
    path.iter().map(|part| bare(part)).collect::<Vec<_>>().join(".")
}

/// The parts of a dotted path; parts with dots in them stand in quotation marks.
pub fn parts(path: &str) -> Option<Vec<String>> {
    let mut parts = Vec::new();
    let mut rest = path.trim();
    loop {
        let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''));
        let (part, after) = match quote {
            Some(quote) => rest[1..].split_once(quote)?,
            None => rest.split_at(rest.find('.').unwrap_or(rest.len())),
        };
        if part.is_empty() || parts.len() >= 16 {
            return None;
        }
        parts.push(part.to_owned());
        match after.strip_prefix('.') {
            Some(next) => rest = next,
            None if after.is_empty() => return Some(parts),
            None => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_split_at_dots_outside_quotation_marks() {
        let parts = |path| parts(path).map(|p| p.join("|"));
        assert_eq!(parts("links.a.rate").as_deref(), Some("links|a|rate"));
        assert_eq!(parts("links.\"a.b/back\".rate").as_deref(), Some("links|a.b/back|rate"));
        assert_eq!(parts("links.a/back.rate").as_deref(), Some("links|a/back|rate"));
        for bad in ["", ".", "a.", ".a", "a..b", "\"a", "\"a\"b", "a.\"\""] {
            assert_eq!(parts(bad), None, "{bad}");
        }
    }
}
