"""The diagnosis as a picture."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any


def diagnosis_png(found: Mapping[str, Any]) -> bytes:
    """A PNG with six panels of what `scoregnn.prediction.diagnosis.diagnose` found."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    iterations = found["iterations"]
    steps = [entry["iteration"] for entry in iterations]
    figure = Figure(figsize=(13, 7), layout="constrained")
    canvas = FigureCanvasAgg(figure)
    axes = figure.subplots(2, 3)

    def curve(place: Any, name: str, title: str, start: bool = False, **style: Any) -> None:
        shown = [(step, entry[name]) for step, entry in zip(steps, iterations, strict=True) if entry[name] is not None]
        if start:
            shown.insert(0, (0, found["start"][name]))
        if shown:
            place.plot(*zip(*shown, strict=True), marker="o", markersize=4, **style)
        place.set(title=title, xlabel="iteration")

    curve(axes[0, 0], "relative_update", "relative size of the update")
    curve(axes[0, 1], "update_cosine", "cosine between successive updates")
    axes[0, 1].set_ylim(-1.05, 1.05)
    curve(axes[0, 2], "spectral_norm_max", "spectral norm of the step's Jacobian", label="largest over molecules")
    curve(axes[0, 2], "spectral_norm_median", "spectral norm of the step's Jacobian", label="median over molecules")
    axes[0, 2].axhline(1.0, color="0.5", linewidth=0.8)
    if axes[0, 2].get_legend_handles_labels()[0]:
        axes[0, 2].legend(frameon=False, fontsize=8)
    curve(axes[1, 0], "dirichlet_energy", "Dirichlet energy of atom states", start=True)
    curve(axes[1, 1], "gradient_norm", "gradient reaching the state")
    errors = found.get("error_by_steps")
    if errors:
        axes[1, 2].plot([int(step) for step in errors], list(errors.values()), marker="o", markersize=4)
        axes[1, 2].axvline(found["config"]["steps"], color="0.5", linewidth=0.8)
        axes[1, 2].set(title="error against iterations at inference", xlabel="iterations (line: as trained)")
    else:
        curve(axes[1, 2], "pairwise_distance", "distance of atom states in a molecule", start=True)
    for place in axes.flat:
        place.xaxis.get_major_locator().set_params(integer=True)
    buffer = io.BytesIO()
    canvas.print_png(buffer)
    return buffer.getvalue()
