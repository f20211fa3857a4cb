"""Laws in Python whose numbers are those of numpy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from test_law import attribute, lab

import penstock


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64, np.int32, np.uint8, np.bool_])
def test_a_window_may_be_a_number_of_numpy(breaks: Any, kind: Callable[[float], object]) -> None:
    said = []
    for number in (kind(1), 1.0):
        # Each output is this number: nothing is added to it, in which a float32 would be rounded.
        breaks(attribute("window", number))
        said.append(penstock.run(lab({"law": "breaks", "when": "output"})).summary.groups)
    assert said[0] == said[1]


def test_the_analysis_takes_a_float32_as_a_constant() -> None:
    class Single(penstock.Controller):
        window = penstock.state("packets")

        def start(self, context: penstock.SenderContext) -> None:
            self.window, self.alpha = 10.0, np.float32(20)

        def on_ack(self, observation: penstock.Observation, packets: int, marked: int) -> None:
            if observation.rtt_s > 0:
                queued = self.window * (1 - observation.base_rtt_s / observation.rtt_s)
                self.window = self.window + packets * 0.5 * (-queued + self.alpha) / self.window

    penstock.register(Single)
    assert penstock.analyze(lab({"law": "single"})).classes["ours"].window_packets > 20


def test_an_array_is_no_number(breaks: Any) -> None:
    breaks(attribute("window", np.ones(1)))
    with pytest.raises(TypeError, match="class ndarray: make it a float"):
        penstock.run(lab({"law": "breaks", "when": "on_round"}))
