//! Programs of the system's that run with our rights: taken from where only root puts programs, never from the caller's `PATH`.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Where they are looked for, the first one first. NixOS has all of them in the last.
const FOLDERS: [&str; 7] =
    ["/usr/sbin", "/usr/bin", "/sbin", "/bin", "/usr/local/sbin", "/usr/local/bin", "/run/current-system/sw/bin"];

/// The path of a program of the system's.
///
/// # Errors
/// Names the searched directories, if it is not there.
pub fn of_system(name: &str) -> io::Result<PathBuf> {
    let found = FOLDERS.iter().map(|folder| Path::new(folder).join(name)).find(|path| is_program(path));
    found.ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, format!("not in {}", FOLDERS.join(", "))))
}

/// Where the shell of an account's program looks for others.
pub fn search_path() -> String {
    FOLDERS.join(":")
}

/// Whether there is a program there, for any user.
fn is_program(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
}

/// Whether `execvp` would find something to execute by that name.
///
/// # Errors
/// Names the reason that `execvp` would give.
pub fn find(name: &Path) -> io::Result<PathBuf> {
    let none = |kind, what: &str| Err(io::Error::new(kind, what.to_owned()));
    if name.components().count() > 1 || name.is_absolute() || name.to_string_lossy().contains('/') {
        return match fs::metadata(name) {
            Err(error) => Err(error),
            Ok(about) if about.is_dir() => none(io::ErrorKind::PermissionDenied, "it is a directory"),
            Ok(_) if !is_program(name) => none(io::ErrorKind::PermissionDenied, "it is not executable"),
            Ok(_) => Ok(name.to_path_buf()),
        };
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|folder| folder.join(name)).find(|path| is_program(path));
    found.map_or_else(|| none(io::ErrorKind::NotFound, "no such program in any directory of PATH"), Ok)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_executed_is_told_before() {
        assert!(find(Path::new("sh")).is_ok() && find(Path::new("/bin/sh")).is_ok());
        for (name, why) in [
            ("no-such-program", "in any directory of PATH"),
            ("/no/such/program", "No such file"),
            ("/proc", "it is a directory"),
            ("/proc/version", "it is not executable"),
        ] {
            let said = find(Path::new(name)).unwrap_err().to_string();
            assert!(said.contains(why), "{name}: {said}");
        }
    }
}
