//! Numbers that a law of Python computes with: floats in a run, dual numbers in the analysis.

use penstock_law::{Dual, Number};
use pyo3::basic::CompareOp;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyInt, PyTuple, PyTupleMethods};

/// A number with its derivative, as the analysis calls a law with it.
///
/// `+`, `-`, `*`, `/`, `**`, `abs` and comparisons take floats and ints beside it. `penstock.math` has the functions.
#[pyclass(frozen, module = "penstock", name = "Dual", from_py_object)]
#[derive(Debug, Clone, Copy)]
pub(crate) struct PyDual(pub(crate) Dual);

/// The arithmetic of a host that calls a law of Python.
pub(crate) trait Arithmetic: Number {
    /// Whether numbers have derivatives: those of the analysis.
    const DUAL: bool;
    /// The number with its derivative.
    fn dual(self) -> Dual;
    /// From what a law computed. None if that is no number.
    fn taken(value: &Bound<'_, PyAny>) -> Option<Self>;
    /// The number as an object of Python.
    fn given(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>>;
    /// Whether nothing tells the two apart.
    fn is(self, other: Self) -> bool;
}

impl Arithmetic for f64 {
    const DUAL: bool = false;
    fn dual(self) -> Dual {
        Dual::constant(self)
    }
    fn taken(value: &Bound<'_, PyAny>) -> Option<Self> {
        match value.cast::<PyFloat>() {
            Ok(number) => Some(number.value()),
            Err(_) => value.cast::<PyInt>().map_or_else(|_| of_numpy(value), |number| number.extract().ok()),
        }
    }
    fn given(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        Ok(PyFloat::new(py, self).into_any())
    }
    fn is(self, other: Self) -> bool {
        self.to_bits() == other.to_bits()
    }
}

/// A number of numpy, which is no float of Python: a float32 for one.
#[cold]
fn of_numpy(value: &Bound<'_, PyAny>) -> Option<f64> {
    let py = value.py();
    let class = value.getattr(pyo3::intern!(py, "dtype")).ok()?.getattr(pyo3::intern!(py, "kind")).ok()?;
    let is_number = matches!(class.extract::<char>(), Ok('f' | 'i' | 'u' | 'b'));
    let is_one = value.getattr(pyo3::intern!(py, "shape")).ok()?.cast::<PyTuple>().is_ok_and(PyTupleMethods::is_empty);
    if is_number && is_one { value.call_method0(pyo3::intern!(py, "__float__")).ok()?.extract().ok() } else { None }
}

impl Arithmetic for Dual {
    const DUAL: bool = true;
    fn dual(self) -> Dual {
        self
    }
    fn taken(value: &Bound<'_, PyAny>) -> Option<Self> {
        match value.cast::<PyDual>() {
            Ok(number) => Some(number.get().0),
            Err(_) => f64::taken(value).map(Self::constant),
        }
    }
    fn given(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        Ok(Bound::new(py, PyDual(self))?.into_any())
    }
    fn is(self, other: Self) -> bool {
        let bits = |of: Self| [of.value, of.slope, of.kink].map(f64::to_bits);
        bits(self) == bits(other)
    }
}

/// The result of an operator, or `NotImplemented` beside what is no number.
fn with<'py>(
    py: Python<'py>,
    other: &Bound<'py, PyAny>,
    result: impl FnOnce(Dual) -> Dual,
) -> PyResult<Bound<'py, PyAny>> {
    match Dual::taken(other) {
        Some(other) => result(other).given(py),
        None => Ok(py.NotImplemented().into_bound(py)),
    }
}

#[pymethods]
impl PyDual {
    /// A number with this value and this derivative.
    #[new]
    #[pyo3(signature = (value, slope=0.0))]
    fn new(value: f64, slope: f64) -> Self {
        Self(Dual { slope, ..Dual::constant(value) })
    }

    /// The value.
    #[getter]
    fn value(&self) -> f64 {
        self.0.value
    }

    /// The derivative.
    #[getter]
    fn slope(&self) -> f64 {
        self.0.slope
    }

    /// The distance to the nearest branch that `penstock.math.min`, `max` and `clamp` did not take, infinite without one.
    #[getter]
    fn kink(&self) -> f64 {
        self.0.kink
    }

    fn __add__<'py>(&self, py: Python<'py>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        with(py, other, |other| self.0 + other)
    }

    fn __radd__<'py>(&self, py: Python<'py>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        with(py, other, |other| other + self.0)
    }

    fn __sub__<'py>(&self, py: Python<'py>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        with(py, other, |other| self.0 - other)
    }

    fn __rsub__<'py>(&self, py: Python<'py>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        with(py, other, |other| other - self.0)
    }

    fn __mul__<'py>(&self, py: Python<'py>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        with(py, other, |other| self.0 * other)
    }

    fn __rmul__<'py>(&self, py: Python<'py>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        with(py, other, |other| other * self.0)
    }

    fn __truediv__<'py>(&self, py: Python<'py>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        with(py, other, |other| self.0 / other)
    }

    fn __rtruediv__<'py>(&self, py: Python<'py>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        with(py, other, |other| other / self.0)
    }

    fn __pow__<'py>(
        &self,
        py: Python<'py>,
        exponent: &Bound<'py, PyAny>,
        modulo: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        powers(py, exponent, modulo, |y| power(self.0, y))
    }

    fn __rpow__<'py>(
        &self,
        py: Python<'py>,
        base: &Bound<'py, PyAny>,
        modulo: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        powers(py, base, modulo, |x| power(x, self.0))
    }

    fn __neg__(&self) -> Self {
        Self(-self.0)
    }

    fn __pos__(&self) -> Self {
        *self
    }

    fn __abs__(&self) -> Self {
        Self(self.0.max(-self.0))
    }

    fn __bool__(&self) -> bool {
        self.0.value != 0.0
    }

    fn __richcmp__<'py>(
        &self,
        py: Python<'py>,
        other: &Bound<'py, PyAny>,
        op: CompareOp,
    ) -> PyResult<Bound<'py, PyAny>> {
        let Some(other) = Dual::taken(other) else { return Ok(py.NotImplemented().into_bound(py)) };
        let (a, b) = (self.0.value, other.value);
        let holds = match op {
            CompareOp::Lt => a < b,
            CompareOp::Le => a <= b,
            CompareOp::Eq => a == b,
            CompareOp::Ne => a != b,
            CompareOp::Gt => a > b,
            CompareOp::Ge => a >= b,
        };
        Ok(holds.into_pyobject(py)?.to_owned().into_any())
    }

    /// A derivative would be lost, so this is refused.
    #[expect(clippy::unused_self, reason = "Python calls a method")]
    fn __float__(&self) -> PyResult<f64> {
        Err(PyTypeError::new_err(
            "a float has no derivative, and the analysis calls the law with numbers that have one: compute with +, -, *, / \
             and penstock.math",
        ))
    }

    fn __repr__(&self) -> String {
        format!("Dual({}, slope={})", self.0.value, self.0.slope)
    }
}

/// A float or a dual number.
enum Any {
    Real(f64),
    Dual(Dual),
}

impl Any {
    fn of(value: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Some(number) = f64::taken(value) {
            return Ok(Self::Real(number));
        }
        if let Ok(number) = value.cast::<PyDual>() {
            Ok(Self::Dual(number.get().0))
        } else {
            let class = value.get_type().name()?;
            Err(PyTypeError::new_err(format!("a number is of class {class}: give a float")))
        }
    }

    fn dual(&self) -> Dual {
        match *self {
            Self::Real(number) => Dual::constant(number),
            Self::Dual(number) => number,
        }
    }
}

/// A function of one number.
fn one<'py>(
    x: &Bound<'py, PyAny>,
    real: impl FnOnce(f64) -> f64,
    dual: impl FnOnce(Dual) -> Dual,
) -> PyResult<Bound<'py, PyAny>> {
    match Any::of(x)? {
        Any::Real(number) => real(number).given(x.py()),
        Any::Dual(number) => dual(number).given(x.py()),
    }
}

/// A function of two numbers.
fn two<'py>(
    x: &Bound<'py, PyAny>,
    y: &Bound<'py, PyAny>,
    real: impl FnOnce(f64, f64) -> f64,
    dual: impl FnOnce(Dual, Dual) -> Dual,
) -> PyResult<Bound<'py, PyAny>> {
    match (Any::of(x)?, Any::of(y)?) {
        (Any::Real(a), Any::Real(b)) => real(a, b).given(x.py()),
        (a, b) => dual(a.dual(), b.dual()).given(x.py()),
    }
}

/// e to the power of `x`. The same bits on every machine.
#[pyfunction]
pub(crate) fn exp<'py>(x: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    one(x, Number::exp, Number::exp)
}

/// The natural logarithm of `x`. The same bits on every machine.
#[pyfunction]
pub(crate) fn log<'py>(x: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    one(x, Number::ln, Number::ln)
}

/// The square root of `x`.
#[pyfunction]
pub(crate) fn sqrt<'py>(x: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    one(x, f64::sqrt, |x| {
        let root = x.value.sqrt();
        Dual { value: root, slope: x.slope * (0.5 / root), kink: x.kink }
    })
}

/// `x` to the power of `y`. The same bits on every machine.
#[pyfunction]
pub(crate) fn pow<'py>(x: &Bound<'py, PyAny>, y: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    two(x, y, libm::pow, power)
}

/// The answer of an operator of powers; none of them has a modulus.
fn powers<'py>(
    py: Python<'py>,
    other: &Bound<'py, PyAny>,
    modulo: Option<&Bound<'py, PyAny>>,
    of: impl FnOnce(Dual) -> Dual,
) -> PyResult<Bound<'py, PyAny>> {
    if modulo.is_some() { Ok(py.NotImplemented().into_bound(py)) } else { with(py, other, of) }
}

/// Powers of constants have no derivative by them: at zero it would be no number.
fn power(x: Dual, y: Dual) -> Dual {
    let value = libm::pow(x.value, y.value);
    let by_base = if x.slope == 0.0 { 0.0 } else { x.slope * (y.value * libm::pow(x.value, y.value - 1.0)) };
    let by_exponent = if y.slope == 0.0 { 0.0 } else { y.slope * (libm::log(x.value) * value) };
    Dual { value, slope: by_base + by_exponent, kink: Number::min(x.kink, y.kink) }
}

/// The smaller of two. The analysis takes the derivative of the one taken, and notes how near the other is.
#[pyfunction]
pub(crate) fn min<'py>(x: &Bound<'py, PyAny>, y: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    two(x, y, Number::min, Number::min)
}

/// The larger of two. The analysis takes the derivative of the one taken, and notes how near the other is.
#[pyfunction]
pub(crate) fn max<'py>(x: &Bound<'py, PyAny>, y: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    two(x, y, Number::max, Number::max)
}

/// `x`, kept within `least` and `most`.
#[pyfunction]
pub(crate) fn clamp<'py>(
    x: &Bound<'py, PyAny>,
    least: &Bound<'py, PyAny>,
    most: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    min(&max(x, least)?, most)
}
