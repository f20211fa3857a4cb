//! Hashes: of files, and of a header, whose last line has its own.

use std::fmt::Write as _;
use std::io::{self, Read};

use sha2::{Digest, Sha256};

use crate::error::RecordError;

/// Beginning of the last line of `record.toml`. It is a comment, so that the file is TOML as a whole.
const SEAL: &str = "# SHA-256 of all bytes above this line: ";

/// The text of a header without its seal, with one.
pub fn sealed(header: &str) -> String {
    format!("{header}{SEAL}{}\n", hexadecimal(&Sha256::digest(header)))
}

/// Sees whether a header is whole: its last line has the hash of those above.
pub(crate) fn is_sealed(text: &str) -> bool {
    let above = text.rfind(SEAL).map_or("", |at| &text[..at]);
    text.ends_with('\n') && sealed(above) == text
}

/// The SHA-256 of all that is read, in constant memory.
fn digest(mut content: impl Read) -> io::Result<String> {
    let (mut hash, mut piece) = (Sha256::new(), vec![0; 1 << 16]);
    loop {
        match content.read(&mut piece) {
            Ok(0) => return Ok(hexadecimal(&hash.finalize())),
            Ok(read) => hash.update(&piece[..read]),
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
}

/// Sees whether a file has the hash that is written down for it, if there is one.
pub(crate) fn intact<R: Read>(file: &str, written: Option<&String>, content: io::Result<R>) -> Result<(), RecordError> {
    let damaged = |why: String| RecordError::Damaged { file: file.to_owned(), why };
    let found = content.and_then(digest).map_err(|e| damaged(e.to_string()))?;
    if written == Some(&found) { Ok(()) } else { Err(damaged("it has changed since it was written".to_owned())) }
}

/// Bytes as hexadecimal digits, as hashes are written.
pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
