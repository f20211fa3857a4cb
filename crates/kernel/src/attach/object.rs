//! Loading objects, and the verifier's log of them.

use std::sync::{Mutex, PoisonError};

use libbpf_rs::{ErrorKind, Object, ObjectBuilder, OpenObject, PrintLevel, set_print};
use penstock_machine::Missing;

use super::error::Error;
use crate::packed;

/// The messages of libbpf, which are those of the whole process: one load at a time.
static SAID: Mutex<String> = Mutex::new(String::new());
static ALONE: Mutex<()> = Mutex::new(());
/// Lines of the verifier that are shown: the last of its way, and the error there.
const SHOWN: usize = 12;

#[expect(clippy::needless_pass_by_value, reason = "the type of libbpf's callback")]
fn hear(level: PrintLevel, text: String) {
    if level != PrintLevel::Debug {
        SAID.lock().unwrap_or_else(PoisonError::into_inner).push_str(&text);
    }
}

/// Opens an object, has `prepare` set it up, and loads it.
///
/// # Errors
/// [`Error::Missing`] where this process may not; [`Error::Kernel`] with the verifier's words otherwise.
pub fn load(
    name: &str,
    bytes: &[u8],
    prepare: impl FnOnce(&mut OpenObject) -> Result<(), Error>,
) -> Result<Object, Error> {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    SAID.lock().unwrap_or_else(PoisonError::into_inner).clear();
    let before = set_print(Some((PrintLevel::Warn, hear)));
    let aligned = packed::plain(bytes);
    let loaded = ObjectBuilder::default().open_memory(&aligned).map_err(|e| refused(name, e)).and_then(|mut open| {
        prepare(&mut open)?;
        open.load().map_err(|e| refused(name, e))
    });
    set_print(before);
    loaded
}

/// Bytes of an ELF file for BPF: its magic, 64 bits, and the machine.
const MAGIC: &[u8] = b"\x7fELF\x02";
const MACHINE: std::ops::Range<usize> = 18..20;
const EM_BPF: u16 = 247;

/// Checks that the bytes that an entry brings are an object for BPF at all.
pub(super) fn is_object(law: &str, object: &[u8]) -> Result<(), Error> {
    if object.is_empty() {
        let what = format!("this build has no kernel program of `{law}`, because clang or a header was missing");
        return Err(Missing::new(
            what,
            "install them (Debian: apt install clang libbpf-dev linux-libc-dev) and build again",
        )
        .into());
    }
    let machine = object.get(MACHINE).and_then(|bytes| Some(u16::from_ne_bytes(bytes.try_into().ok()?)));
    if object.starts_with(MAGIC) && machine == Some(EM_BPF) {
        return Ok(());
    }
    Err(unfit(law, "it is no ELF object for BPF of this machine: compile it with penstock_kernel_build::compile"))
}

/// An object that lacks something.
pub(super) fn unfit(law: &str, why: &str) -> Error {
    Error::Input(format!("the kernel program of `{law}` does not fit: {why}"))
}

/// The error of an object that was compiled with other headers than this program has.
pub(super) fn of_other_headers(law: &str, headers: u64, here: u64) -> Error {
    let what =
        "it was compiled with the headers of another version of Penstock: compile it with the penstock-kernel-build";
    unfit(law, &format!("{what} of this one (headers {headers}, here {here})"))
}

/// Does some work without the messages of libbpf on standard error, because the caller reports the error.
pub(super) fn quietly<T>(work: impl FnOnce() -> T) -> T {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let before = set_print(None);
    let done = work();
    set_print(before);
    done
}

/// The error of the kernel's refusal.
pub(super) fn refused(name: &str, source: libbpf_rs::Error) -> Error {
    let said = std::mem::take(&mut *SAID.lock().unwrap_or_else(PoisonError::into_inner));
    let verifier = verifier(&said);
    match source.kind() {
        ErrorKind::PermissionDenied if verifier.is_empty() => Missing::new(
            format!("the kernel does not let this process load `{name}` ({source})"),
            "run it as root, outside of a container that forbids bpf(2) and with kernel lockdown off",
        )
        .into(),
        ErrorKind::Unsupported if verifier.is_empty() => Missing::new(
            format!("this kernel cannot run `{name}` ({source})"),
            "run a kernel with CONFIG_BPF_JIT and CONFIG_DEBUG_INFO_BTF",
        )
        .into(),
        _ if verifier.is_empty() => {
            let said = said.lines().map(str::trim).collect::<Vec<_>>().join("; ");
            Error::Kernel { what: format!("the kernel refused the program `{name}` ({said})"), source, verifier }
        }
        _ => Error::Kernel { what: format!("the kernel refused the program `{name}`"), source, verifier },
    }
}

/// The end of a log of the verifier's, which has our lines of source after semicolons; empty where there is none.
fn verifier(said: &str) -> String {
    const BEGIN: &str = "-- BEGIN PROG LOAD LOG --";
    const END: &str = "-- END PROG LOAD LOG --";
    let Some((_, log)) = said.split_once(BEGIN) else { return String::new() };
    let log = log.split_once(END).map_or(log, |(log, _)| log);
    let told =
        |line: &&str| !line.is_empty() && !line.starts_with("processed ") && !line.starts_with("verification time");
    let lines: Vec<&str> = log.lines().map(str::trim_end).filter(told).collect();
    // From the last line of source on, and a few more before it.
    let source = lines.iter().rposition(|line| line.starts_with(';')).unwrap_or(0);
    let first = source.min(lines.len().saturating_sub(SHOWN));
    lines[first..].iter().take(4 * SHOWN).map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_of_source_is_shown() {
        let said = "libbpf: prog 'x': BPF program load failed: Permission denied\n\
                    libbpf: prog 'x': -- BEGIN PROG LOAD LOG --\n\
                    0: R1=ctx() R10=fp0\n; tp->snd_cwnd_clamp = 1; @ fast.bpf.c:42\n3: (63) *(u32 *)(r1 +1) = r2\n\
                    only read is supported\nprocessed 4 insns (limit 1000000)\n-- END PROG LOAD LOG --\nmore\n";
        let shown = verifier(said);
        assert!(shown.contains("; tp->snd_cwnd_clamp = 1; @ fast.bpf.c:42"), "{shown}");
        assert!(shown.ends_with("only read is supported"), "{shown}");
        assert_eq!(verifier("libbpf: nothing"), "");
    }
}
