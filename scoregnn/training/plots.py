"""Pictures of a run, drawn without a display."""

from __future__ import annotations

import io
from collections.abc import Mapping

import numpy as np

from scoregnn.training.task import Task

_COLOURS = {"train": "#b8c4d6", "validation": "#e0a030", "test": "#1f6fb4"}


def parity_png(
    task: Task, targets: np.ndarray, bounds: np.ndarray, predicted: list[np.ndarray], parts: Mapping[str, np.ndarray]
) -> bytes:
    """A PNG with one panel a target: predicted against measured, or ROC curves for a classification.

    targets, bounds: [n, num_targets]; predicted: values [n] or probabilities [n, num_classes] for each target;
    parts: rows of each part by its name.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    shown = min(len(task.targets), 12)
    columns = min(shown, 3)
    rows = -(-shown // columns)
    figure = Figure(figsize=(4.6 * columns, 4.4 * rows), layout="constrained")
    canvas = FigureCanvasAgg(figure)
    for column in range(shown):
        axes = figure.add_subplot(rows, columns, column + 1)
        for part, members in parts.items():
            exact = np.isfinite(targets[members, column]) & (bounds[members, column] == 0)
            truth, guess = targets[members[exact], column], predicted[column][members[exact]]
            if len(truth) == 0:
                continue
            if task.kind == "regression":
                axes.scatter(truth, guess, s=9, color=_COLOURS[part], label=f"{part} ({len(truth)})", linewidths=0)
            else:
                _draw_roc(axes, truth, guess, part)
        _finish(axes, task, column)
    buffer = io.BytesIO()
    canvas.print_png(buffer)
    return buffer.getvalue()


def _draw_roc(axes, truth: np.ndarray, probability: np.ndarray, part: str) -> None:  # type: ignore[no-untyped-def]
    from sklearn.metrics import roc_curve

    for code in [1] if probability.shape[1] == 2 else range(probability.shape[1]):
        if 0 < (truth == code).sum() < len(truth):
            false_rate, true_rate, _ = roc_curve(truth == code, probability[:, code])
            axes.plot(
                false_rate, true_rate, color=_COLOURS[part], label=f"{part} ({len(truth)})" if code <= 1 else None
            )


def _finish(axes, task: Task, column: int) -> None:  # type: ignore[no-untyped-def]
    name, unit = task.targets[column], task.units[column]
    if task.kind == "regression":
        low, high = min(axes.get_xlim()[0], axes.get_ylim()[0]), max(axes.get_xlim()[1], axes.get_ylim()[1])
        axes.plot([low, high], [low, high], color="0.4", linewidth=0.8, zorder=0)
        axes.set(xlim=(low, high), ylim=(low, high), aspect="equal")
        suffix = f" ({unit})" if unit else ""
        axes.set(title=name, xlabel=f"measured{suffix}", ylabel=f"predicted{suffix}")
    else:
        axes.plot([0, 1], [0, 1], color="0.4", linewidth=0.8, zorder=0)
        axes.set(title=name, xlabel="false positive rate", ylabel="true positive rate", aspect="equal")
    if axes.get_legend_handles_labels()[0]:
        axes.legend(frameon=False, fontsize=8)
