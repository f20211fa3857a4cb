//! The loop of a scenario, which Python evaluates at frequencies of its own.

use std::collections::BTreeMap;

use penstock_fluid::analysis::closed_loop;
use penstock_fluid::response::Loop as Closed;
use penstock_fluid::{AnalysisError, Clocking, Complex, LoopModel, Options};
use penstock_scenario::quantity;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::error;
use crate::law::raised;
use crate::looks::while_wanted;
use crate::scenario::Scenario;

/// The loop of a scenario at its equilibrium, opened at the arrivals of the links that limit anyone.
#[pyclass(frozen, module = "penstock._native")]
pub(crate) struct Loop {
    closed: Closed,
    links: Vec<String>,
}

#[pymethods]
impl Loop {
    /// Linearises a scenario at its equilibrium.
    #[new]
    #[pyo3(signature = (scenario, at, clocking))]
    fn new(
        py: Python<'_>,
        scenario: &Bound<'_, Scenario>,
        at: Option<&str>,
        clocking: BTreeMap<String, String>,
    ) -> PyResult<Self> {
        let cell = scenario.get().ready(py, None)?.cell;
        let at = at.map(quantity::time).transpose();
        let at = at.map_err(|e| error::input(py, &format!("at: {e}")))?;
        let mut by_name = BTreeMap::new();
        for (group, name) in clocking {
            let clocking = match name.as_str() {
                "paced" => Clocking::Paced,
                "ack" => Clocking::Ack,
                _ => return Err(error::input(py, &format!("clocking of {group} is `{name}`: write paced or ack"))),
            };
            by_name.insert(group, clocking);
        }
        let options = Options { at, clocking: by_name, ..Options::default() };
        let (found, raised) = raised::here(|| {
            while_wanted(py, |looks| closed_loop(&cell.scenario, &options, &|_| looks.leave_unless_wanted()))
        });
        if let Some(raised) = raised {
            return Err(raised);
        }
        let (closed, links) = found?.map_err(|e: AnalysisError| error::input(py, &e.to_string()))?;
        Ok(Self { closed, links })
    }

    /// The links, in the order of rows and columns.
    #[getter]
    fn links(&self) -> Vec<String> {
        self.links.clone()
    }

    /// The gain at each frequency [rad/s], as complex numbers of twice eight bytes: row by row, and in each place frequency by
    /// frequency. It is that of the margins: of one link the gain with the clock of acknowledgements closed inside, of several `L`.
    fn response<'py>(&self, py: Python<'py>, omega: Vec<f64>, model: &str) -> PyResult<Bound<'py, PyBytes>> {
        let model = match model {
            "laws" => LoopModel::Laws,
            "estimators" => LoopModel::Estimators,
            "sampled" => LoopModel::Sampled,
            _ => {
                return Err(error::input(py, &format!("model is `{model}`: write laws, estimators or sampled")));
            }
        };
        let n = self.closed.links.len();
        let bytes = while_wanted(py, |looks| {
            let mut bytes = vec![0; 16 * n * n * omega.len()];
            for (at, w) in omega.iter().enumerate() {
                looks.leave_unless_wanted();
                let s = Complex::new(0.0, *w);
                let matrix = if n == 1 { vec![vec![self.closed.gain(s, model)]] } else { self.closed.matrix(s, model) };
                for (place, value) in matrix.iter().flatten().enumerate() {
                    let from = 16 * (place * omega.len() + at);
                    bytes[from..from + 8].copy_from_slice(&value.re.to_le_bytes());
                    bytes[from + 8..from + 16].copy_from_slice(&value.im.to_le_bytes());
                }
            }
            bytes
        })?;
        Ok(PyBytes::new(py, &bytes))
    }
}
