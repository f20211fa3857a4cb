//! Arithmetic that takes one instruction each, where every packet's way has much of it.

/// The step that a time lies in, where a step is one. Processors convert signed numbers in one instruction, unsigned ones in many.
#[inline]
pub(super) fn index(x: f64) -> usize {
    x as i64 as usize
}

/// The reverse.
#[inline]
pub(super) fn number(step: usize) -> f64 {
    step as i64 as f64
}

/// The smaller of two numbers; the second, if one is NaN. [`f64::min`] spends five instructions on the one that is not.
#[inline]
pub(super) fn smaller(a: f64, b: f64) -> f64 {
    if a < b { a } else { b }
}

/// The larger of two numbers; the second, if one is NaN.
#[inline]
pub(super) fn larger(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}
