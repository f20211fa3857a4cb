//! Conventions of the shell: the command's arguments, completions, manual pages.

use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::path::Path;

use clap::{ColorChoice, CommandFactory, FromArgMatches};
use clap_complete::Shell;
use clap_mangen::Man;

use crate::arguments::Arguments;
use crate::failure::{Done, Failure};
use crate::named::Shown as _;
use crate::program;
use crate::terminal;

/// The arguments, the name of the program first. Clap's errors are coloured as `--color` has it.
pub(crate) fn parse(given: Vec<OsString>) -> Result<Arguments, clap::Error> {
    let command = Arguments::command().color(choice(&given));
    Arguments::from_arg_matches(&command.try_get_matches_from(given)?)
}

/// The value of `--color`, before it is known whether the other arguments can be read.
fn choice(given: &[OsString]) -> ColorChoice {
    let words: Vec<&str> = given.iter().map_while(|word| word.to_str()).take_while(|word| *word != "--").collect();
    let next = |at: usize| words.get(at + 1).copied();
    let value = words.iter().enumerate().find_map(|(at, word)| match word.strip_prefix("--color") {
        Some("") => next(at),
        Some(rest) => rest.strip_prefix('='),
        None => None,
    });
    match value {
        Some("always") => ColorChoice::Always,
        Some("never") => ColorChoice::Never,
        _ => ColorChoice::Auto,
    }
}

/// Prints the script by which a shell completes the command.
pub(crate) fn completions(shell: Shell) -> Result<Done, Failure> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), program::name(), &mut text);
    terminal::say(String::from_utf8_lossy(&text).trim_end())?;
    Ok(Done::Well)
}

/// Prints the manual page of the command, or writes those of all its subcommands into a directory.
pub(crate) fn manual(folder: Option<&Path>) -> Result<Done, Failure> {
    let command = Arguments::command().name(program::name());
    let Some(folder) = folder else {
        let mut text = Vec::new();
        let written = Man::new(command).render(&mut text).and_then(|()| text.flush());
        written.map_err(|e| Failure::Bug(format!("manual page: {e}")))?;
        terminal::say(String::from_utf8_lossy(&text).trim_end())?;
        return Ok(Done::Well);
    };
    let written = fs::create_dir_all(folder).and_then(|()| clap_mangen::generate_to(command, folder));
    written.map_err(|e| Failure::Input(format!("cannot write manual pages to {}: {e}", folder.shown())))?;
    terminal::note(format!("manual pages in {}", folder.shown()));
    Ok(Done::Well)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_of_clap_are_those_asked_for() {
        let of = |words: &[&str]| choice(&words.iter().map(OsString::from).collect::<Vec<_>>());
        assert_eq!(of(&["penstock", "--color", "always", "rum"]), ColorChoice::Always);
        assert_eq!(of(&["penstock", "run", "--color=never"]), ColorChoice::Never);
        assert_eq!(of(&["penstock", "linux", "path", "x", "--", "ls", "--color=always"]), ColorChoice::Auto);
        assert_eq!(of(&["penstock", "run", "--color"]), ColorChoice::Auto);
    }
}
