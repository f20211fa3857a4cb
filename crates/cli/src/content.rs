//! Files of records that are read, by any author: regular files of a bounded size, and nothing that a name or a link
//! leads to outside.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Take};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use nix::libc::{O_NOFOLLOW, O_NONBLOCK};

/// The largest `record.toml` or `source.json` that is read [B].
pub(crate) const HEADER: u64 = 64_000_000;
/// The largest `summary.json` or `sweep.json` that is read [B].
pub(crate) const SUMMARY: u64 = 1_000_000_000;
/// The largest table that is read [B].
pub(crate) const TABLE: u64 = 4_000_000_000;
/// The largest series or capture whose hash is taken, in constant memory [B].
const HASHED: u64 = 64_000_000_000;

/// Opens a regular file of at most that size. Anything else is refused at once: a pipe would be waited for, a
/// device may have no end.
pub(crate) fn open(path: &Path, most: u64) -> io::Result<Take<File>> {
    let (file, length) = regular(path)?;
    if length > most {
        return Err(too_large(length, most));
    }
    // It may grow while it is read.
    Ok(file.take(most))
}

/// Opens a file that a record lists, for its hash. A large one must at least begin and end as its name says: the hash of a few
/// gigabytes takes minutes, and a file of any size costs nobody a block of a disk.
pub(crate) fn listed(directory: &Path, name: &str) -> io::Result<Take<File>> {
    let (mut file, length) = regular(&directory.join(name))?;
    let ending = name.rsplit_once('.').map(|(_, ending)| ending);
    let most = if matches!(ending, Some("parquet" | "pcapng")) { HASHED } else { SUMMARY };
    if length > most {
        return Err(too_large(length, most));
    }
    if length > SUMMARY {
        let (mut begins, mut ends) = ([0; 4], [0; 4]);
        file.read_exact(&mut begins)?;
        file.seek(SeekFrom::End(-4))?;
        file.read_exact(&mut ends)?;
        file.seek(SeekFrom::Start(0))?;
        let fits = if ending == Some("parquet") { [begins, ends] == [*b"PAR1"; 2] } else { begins == *b"\n\r\r\n" };
        if !fits {
            return Err(io::Error::new(
                ErrorKind::InvalidData,
                format!("it has {length} bytes, and is not of its kind"),
            ));
        }
    }
    Ok(file.take(most))
}

fn too_large(length: u64, most: u64) -> io::Error {
    io::Error::new(ErrorKind::FileTooLarge, format!("it has {length} bytes, and {most} at most are read"))
}

/// Reads such a file.
pub(crate) fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path, most)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Opens a file if it is a regular one, and gives its length.
pub(crate) fn regular(path: &Path) -> io::Result<(File, u64)> {
    let no_file = |what: &str| io::Error::new(ErrorKind::InvalidInput, what.to_owned());
    if path.is_symlink() {
        return Err(no_file("it is a symbolic link; replace it by a copy of its target"));
    }
    let file = OpenOptions::new().read(true).custom_flags(O_NONBLOCK | O_NOFOLLOW).open(path)?;
    let about = file.metadata()?;
    if about.is_file() { Ok((file, about.len())) } else { Err(no_file("it is not a file")) }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write;
    use std::os::unix::fs::symlink;
    use std::process::Command;

    use super::*;

    #[test]
    fn what_is_no_file_is_told_at_once() {
        let home = tempfile::tempdir().unwrap();
        let at = |name: &str| home.path().join(name);
        let refused = |name: &str| read(&at(name), 10).unwrap_err().to_string();
        fs::write(at("ten"), [7; 10]).unwrap();
        assert_eq!(read(&at("ten"), 10).unwrap(), [7; 10]);
        assert_eq!(read(&at("ten"), 9).unwrap_err().to_string(), "it has 10 bytes, and 9 at most are read");
        assert!(Command::new("mkfifo").arg(at("pipe")).status().unwrap().success());
        fs::create_dir(at("directory")).unwrap();
        for name in ["pipe", "directory"] {
            assert_eq!(refused(name), "it is not a file");
        }
        for (name, to) in [("endless", "/dev/zero"), ("near", "ten"), ("nowhere", "none")] {
            symlink(to, at(name)).unwrap();
            assert!(refused(name).starts_with("it is a symbolic link"), "{name}");
        }
        assert_eq!(read(Path::new("/dev/zero"), 10).unwrap_err().to_string(), "it is not a file");
    }

    /// Twenty gigabytes that take no block of the disk.
    #[test]
    fn a_large_file_is_refused_before_its_hash() {
        let home = tempfile::tempdir().unwrap();
        let large = |name: &str, begins: &[u8]| {
            let mut file = File::create(home.path().join(name)).unwrap();
            file.write_all(begins).unwrap();
            file.set_len(20_000_000_000).unwrap();
            listed(home.path(), name).map(|_| ()).map_err(|e| e.to_string())
        };
        assert_eq!(
            large("summary.json", b"{").unwrap_err(),
            "it has 20000000000 bytes, and 1000000000 at most are read"
        );
        assert_eq!(large("links.parquet", b"PAR1").unwrap_err(), "it has 20000000000 bytes, and is not of its kind");
        assert_eq!(large("a.pcapng", b"text").unwrap_err(), "it has 20000000000 bytes, and is not of its kind");
        assert_eq!(large("b.pcapng", b"\n\r\r\n"), Ok(()), "its hash decides");
        fs::write(home.path().join("small.parquet"), "no table").unwrap();
        assert!(listed(home.path(), "small.parquet").is_ok(), "its hash decides");
    }
}
