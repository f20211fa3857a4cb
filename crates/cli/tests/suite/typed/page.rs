//! A page of the documentation as somebody reads it who types what it says.

/// Lines of a page to type and to look at.
#[derive(Debug, Default)]
pub(crate) struct Page {
    /// Lines of blocks and what stands between back-ticks, in the order of the page, if `penstock` is called there.
    pub(crate) commands: Vec<Command>,
    /// Blocks of TOML, and those that begin with a table in brackets.
    pub(crate) scenarios: Vec<String>,
    /// Blocks of what a command prints.
    pub(crate) shown: Vec<String>,
    /// Commands of a block, and the lines that the block shows of what the last of them prints.
    pub(crate) dialogue: Vec<(Vec<String>, Vec<String>)>,
    /// Files that are read in other languages.
    pub(crate) reads: Vec<String>,
}

/// A command as it stands on a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Command {
    /// As a shell reads it, without what the page says of it.
    pub(crate) line: String,
    /// Whether it stands in the middle of a sentence.
    pub(crate) inline: bool,
}

impl Command {
    /// Its words from `penstock` on, up to where the shell sends its output.
    pub(crate) fn words(&self) -> Vec<String> {
        let words = shlex::split(&self.line).unwrap_or_default();
        let words = words.into_iter().skip_while(|word| word != "penstock");
        words.take_while(|word| ![">", ">>", "|", "&", "&&"].contains(&word.as_str())).collect()
    }

    /// Whether a sentence only speaks of a command, without what it is about.
    pub(crate) fn is_mention(&self) -> bool {
        self.inline
            && self.words()[1..].iter().all(|word| word == "..." || word.chars().all(|c| c.is_ascii_lowercase()))
    }

    /// Whether a word stands for others: `FILE`, `KEY/FIGURE`, `I/N`, `...`.
    pub(crate) fn is_pattern(&self) -> bool {
        let capitals = |word: &str| !word.is_empty() && word.chars().all(|c| c.is_ascii_uppercase());
        self.words().iter().any(|word| word.split(['/', '=', '.']).any(capitals) || word.contains("..."))
    }
}

/// Reads a page.
pub(crate) fn read(markdown: &str) -> Page {
    let mut page = Page::default();
    let mut sentence = String::new();
    let mut lines = markdown.lines().peekable();
    while let Some(line) = lines.next() {
        if let Some(language) = line.strip_prefix("```") {
            page.inline(&mut sentence);
            let block: Vec<&str> = lines.by_ref().take_while(|line| !line.starts_with("```")).collect();
            match language {
                // The space of a search has a scenario in it, and is none.
                "toml" if block.iter().any(|line| line.starts_with("[scenario") || *line == "[genes]") => {}
                // The program of examples/own-law has this law; a test of the house holds the block against its files.
                "toml" if block.iter().any(|line| line.contains("law = \"steady\"")) => {}
                "toml" => page.scenarios.push(block.join("\n")),
                // The compiler has seen it: a test of documentation, or examples/own-law. Python runs in the package's tests.
                "rust" | "rust,no_run" | "c" | "python" => {}
                _ if block.iter().any(|line| line.starts_with("penstock ")) => {
                    page.dialogue(&block);
                    page.block(&block);
                }
                _ => page.shown.push(block.join("\n")),
            }
        } else if let Some(first) = code(line).filter(|_| sentence.is_empty()) {
            let mut block = vec![first];
            while let Some(next) = lines.peek().and_then(|line| code(line)) {
                block.push(next);
                lines.next();
            }
            page.block(&block);
        } else {
            // A list item is a paragraph of its own, a row of a table too; what is quoted may go on in the next line.
            if line.trim().is_empty() || line.starts_with(['|', '-']) {
                page.inline(&mut sentence);
            }
            sentence.push_str(line.trim());
            if !line.trim().is_empty() {
                sentence.push(' ');
            }
        }
    }
    page.inline(&mut sentence);
    page
}

/// A line of an indented block.
fn code(line: &str) -> Option<&str> {
    line.strip_prefix("    ").filter(|code| !code.trim_start().starts_with(['-', '*']) || code.starts_with(' '))
}

impl Page {
    /// The text between the back-ticks of a paragraph.
    fn inline(&mut self, sentence: &mut String) {
        for code in sentence.split('`').skip(1).step_by(2) {
            self.command(code, true);
        }
        sentence.clear();
    }

    fn dialogue(&mut self, lines: &[&str]) {
        for line in lines.iter().map(|line| line.trim()).filter(|line| !line.is_empty()) {
            let is_command = line.starts_with("penstock ");
            if is_command && self.dialogue.last().is_none_or(|(_, shown)| !shown.is_empty()) {
                self.dialogue.push((Vec::new(), Vec::new()));
            }
            let Some((commands, shown)) = self.dialogue.last_mut() else { continue };
            if is_command { commands } else { shown }.push(line.to_owned());
        }
    }

    fn block(&mut self, lines: &[&str]) {
        if lines.first().is_some_and(|line| line.starts_with('[')) {
            self.scenarios.push(lines.join("\n"));
            return;
        }
        let mut whole = String::new();
        for line in lines {
            let line = line.trim();
            if let Some(part) = line.strip_suffix('\\') {
                whole += part;
                continue;
            }
            whole += line;
            let file = whole.split_once("read_").and_then(|(_, call)| call.split('"').nth(1));
            self.reads.extend(file.map(str::to_owned));
            self.command(without_remark(&whole), false);
            whole.clear();
        }
    }

    fn command(&mut self, line: &str, inline: bool) {
        let command = Command { line: line.trim().to_owned(), inline };
        if command.words().get(1).is_some_and(|first| first != "...") {
            self.commands.push(command);
        }
    }
}

/// A line up to two spaces that are not quoted: what comes behind is said of it.
fn without_remark(line: &str) -> &str {
    let (mut quote, mut space) = (None, false);
    for (at, c) in line.char_indices() {
        match (quote, c) {
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), c) if c == open => quote = None,
            (None, ' ') if space => return line[..at].trim_end(),
            _ => {}
        }
        space = c == ' ';
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_read_as_people_read_it() {
        let page = read(
            "Type `penstock laws` or `penstock run\nFILE --seed 2`.\n\n    penstock run a.toml --set x='a  b'   what it does\n    \
             sudo penstock linux attach fast \\\n        --trace > file\n    pl.read_parquet(\"out/a/links.parquet\")  # it\n\n\
             - item\n\n```\nshown\n```\n\n```\npenstock laws\npenstock laws fast\n\na  1\nb  2\npenstock list\n```\n\n    [sweep]\n    seed = 1\n",
        );
        let lines: Vec<(&str, bool)> = page.commands.iter().map(|c| (c.line.as_str(), c.inline)).collect();
        assert_eq!(
            lines,
            [
                ("penstock laws", true),
                ("penstock run FILE --seed 2", true),
                ("penstock run a.toml --set x='a  b'", false),
                ("sudo penstock linux attach fast --trace > file", false),
                ("penstock laws", false),
                ("penstock laws fast", false),
                ("penstock list", false),
            ]
        );
        let dialogue: Vec<(String, String)> =
            page.dialogue.iter().map(|(commands, shown)| (commands.join(";"), shown.join(";"))).collect();
        assert_eq!(dialogue[0], ("penstock laws;penstock laws fast".to_owned(), "a  1;b  2".to_owned()));
        assert_eq!(dialogue[1], ("penstock list".to_owned(), String::new()));
        assert_eq!(page.commands[3].words(), ["penstock", "linux", "attach", "fast", "--trace"]);
        let patterns: Vec<bool> = page.commands.iter().map(Command::is_pattern).collect();
        assert_eq!(patterns, [false, true, false, false, false, false, false]);
        assert_eq!(page.shown, ["shown"]);
        assert_eq!(page.scenarios, ["[sweep]\nseed = 1"]);
        assert_eq!(page.reads, ["out/a/links.parquet"]);
    }
}
