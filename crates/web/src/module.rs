//! The functions of the WebAssembly module: a block of memory for a request, and the response to it.
//!
//! A page writes a request into the block that [`penstock_allocate`] gives, and [`penstock_answer`] takes it. The response is a block
//! that [`penstock_done`] takes back.

#![allow(unsafe_code, reason = "a page hands over blocks of the module's memory by their addresses")]
#![allow(unreachable_pub, reason = "the page reaches them by their names")]

use std::sync::Once;

use crate::answer::answer;

#[link(wasm_import_module = "page")]
unsafe extern "C" {
    /// Is called with the share done, 0 to 1; zero stops the work.
    fn progress(done: f64) -> u32;
    /// Is called with the last words of a module that broke.
    fn broke(at: *const u8, bytes: usize);
}

/// A block of so many bytes.
#[unsafe(no_mangle)]
pub extern "C" fn penstock_allocate(bytes: usize) -> *mut u8 {
    Box::into_raw(vec![0u8; bytes].into_boxed_slice()).cast()
}

/// Takes the block of a request and gives that of the response: its address in the upper half, its bytes in the lower.
///
/// # Safety
/// The block is one of [`penstock_allocate`], whole, and not given before.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn penstock_answer(at: *mut u8, bytes: usize) -> u64 {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        std::panic::set_hook(Box::new(|info| {
            let said = info.to_string();
            // SAFETY: the page copies the bytes before it returns.
            unsafe { broke(said.as_ptr(), said.len()) }
        }));
    });
    // SAFETY: the caller says that this is a whole block of ours.
    let request = unsafe { Box::from_raw(core::ptr::slice_from_raw_parts_mut(at, bytes)) };
    // SAFETY: a number goes out and one comes back.
    let mut watch = |done: f64| unsafe { progress(done) != 0 };
    let answer = answer(&request, &mut watch).into_boxed_slice();
    let length = answer.len() as u64;
    (Box::into_raw(answer).cast::<u8>() as u64) << 32 | length
}

/// Takes back the block of a response.
///
/// # Safety
/// The block is one of [`penstock_answer`], whole, and not given back before.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn penstock_done(at: *mut u8, bytes: usize) {
    // SAFETY: the caller says that this is a whole block of ours.
    drop(unsafe { Box::from_raw(core::ptr::slice_from_raw_parts_mut(at, bytes)) });
}
