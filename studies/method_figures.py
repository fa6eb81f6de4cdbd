"""Draws the figures of docs/method.md that need no training.

python -m scoregnn.studies.method_figures --output docs/figures
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import torch
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from torch import Tensor, nn

from scoregnn.config import FIXED_STEP
from scoregnn.nn import ContractiveRecurrence


class _Scale(nn.Module):
    """F(h) = factor * h: the linear case, where everything is known."""

    def __init__(self, factor: float) -> None:
        super().__init__()
        self.factor = factor

    def forward(self, h: Tensor) -> Tensor:
        return self.factor * h


def amplification_figure() -> Figure:
    """What one step does to the state when F(h) = c h, against dt, for each scheme."""
    figure = Figure(figsize=(11, 3.4), layout="constrained")
    steps = np.linspace(0.0, 2.5, 101)
    for place, factor in zip(figure.subplots(1, 3, sharey=True), (-0.9, 0.0, 0.9), strict=True):
        for name in FIXED_STEP:
            values = [_one_step(factor, float(dt), name) for dt in steps]
            # For a linear F midpoint and Heun are the same polynomial: dashes let both be seen.
            place.plot(steps, values, "--" if name == "heun" else "-", label=name)
        place.axhspan(-1, 1, color="0.92", zorder=0)
        place.set(title=f"F(h) = {factor:g} h", xlabel="dt", ylim=(-2.5, 2.5))
    figure.axes[0].set_ylabel("h[t+1] / h[t]")
    figure.axes[0].legend(frameon=False, fontsize=8)
    return figure


def convergence_figure() -> Figure:
    """Error against the adaptive solver at constant steps x dt, for each scheme."""
    torch.manual_seed(0)
    layer = nn.Sequential(nn.Linear(8, 8), nn.Tanh()).double()
    h = torch.randn(16, 8, dtype=torch.float64)
    figure = Figure(figsize=(5.5, 4), layout="constrained")
    axes: Any = figure.add_subplot()
    counts = [1, 2, 4, 8, 16, 32]
    with torch.no_grad():
        exact = ContractiveRecurrence(layer, steps=1, dt=1.0, integrator="dopri5", rtol=1e-11, atol=1e-11)(h)
        for name in FIXED_STEP:
            ends = [ContractiveRecurrence(layer, steps=n, dt=1 / n, integrator=name)(h) for n in counts]
            axes.loglog(
                counts, [float((end - exact).abs().max()) for end in ends], marker="o", markersize=4, label=name
            )
    axes.set(xlabel="steps (steps x dt = 1)", ylabel="largest error of the state")
    axes.legend(frameon=False, fontsize=8)
    return figure


def _one_step(factor: float, dt: float, integrator: str) -> float:
    recurrence = ContractiveRecurrence(_Scale(factor), steps=1, dt=dt, integrator=integrator)
    return float(recurrence(torch.ones(1, dtype=torch.float64)))


def main() -> None:
    """Entry point of `python -m scoregnn.studies.method_figures`."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--output", type=Path, required=True, help="folder for the PNG files")
    folder = parser.parse_args().output
    folder.mkdir(parents=True, exist_ok=True)
    for name, figure in (("amplification", amplification_figure()), ("convergence", convergence_figure())):
        FigureCanvasAgg(figure).print_png(folder / f"{name}.png")


if __name__ == "__main__":
    main()
