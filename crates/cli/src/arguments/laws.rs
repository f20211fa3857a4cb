//! Options that take laws.

/// The laws of an option that may be given several times, each time with several laws. A comma within braces or a text divides no
/// laws.
pub(crate) fn laws(given: &[String]) -> Vec<&str> {
    let mut laws = Vec::new();
    for given in given {
        let (mut depth, mut quoted, mut begin) = (0_usize, false, 0);
        for (at, c) in given.char_indices() {
            match c {
                '"' => quoted = !quoted,
                _ if quoted => {}
                '{' | '[' => depth += 1,
                '}' | ']' => depth = depth.saturating_sub(1),
                ',' if depth == 0 => {
                    laws.push(given[begin..at].trim());
                    begin = at + 1;
                }
                _ => {}
            }
        }
        laws.push(given[begin..].trim());
    }
    laws
}
