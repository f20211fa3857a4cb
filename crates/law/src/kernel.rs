//! The kernel program that an entry brings. Nothing here knows BPF: to this crate the program is bytes, and who loads it judges
//! them.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::law::Role;
use crate::parameter::Values;

/// A law as a program for the kernel, and how the program gets the law's parameters.
///
/// The law itself is that of [`Entry::fixed`](crate::Entry::fixed): it says which parameters fit the kernel's arithmetic and what
/// the law asks of its host, and the program is compared with it.
pub struct KernelProgram<R: Role> {
    /// The compiled object. Empty where the build had no compiler for it.
    pub object: &'static [u8],
    /// The parameters as the program has them, word by word: compiled once, and numbers times 2^32.
    pub words: fn(&Values, &R::Context) -> Result<Vec<i64>, String>,
}

impl<R: Role> KernelProgram<R> {
    /// What the program is told.
    ///
    /// # Errors
    /// As the law says of its parameters; or `words` reads a parameter that the law does not have, or that has no value.
    pub fn told(&self, values: &Values, context: &R::Context) -> Result<Vec<i64>, String> {
        let words = (self.words)(values, context);
        values.missed().map_or(words, Err)
    }
}

impl<R: Role> fmt::Debug for KernelProgram<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KernelProgram").field("object_bytes", &self.object.len()).finish_non_exhaustive()
    }
}
