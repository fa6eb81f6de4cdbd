"""Writes the tables of the documents from the results under `studies/results/`.

    python -m scoregnn.studies.document_tables --results studies/results README.md docs/method.md [--check]

A table stands between two marks, `<!-- NAME: begin -->` and `<!-- NAME: end -->`. A result that other settings made
than today's is refused: the study has to be run again first.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scoregnn.config import PRESETS
from scoregnn.errors import InputError, ScoreGNNError
from scoregnn.files import write_atomically
from scoregnn.studies.mlp_descriptors import model_of
from scoregnn.studies.provenance import settings_digest
from scoregnn.training.run_folder import read_json


def reference_table(result: Mapping[str, Any]) -> str:
    """The ESOL reference study as a Markdown table with the command that made it.

    Raises `InputError` when the preset `fast` is no longer the one of the result.
    """
    made_with, today = result["results"]["SCORE"]["config_digest"], PRESETS["fast"].digest()
    if made_with != today:
        raise InputError(
            f"the result was made with preset {made_with}, today's is {today}; run {result['command']} again"
        )
    seeds = [str(seed) for seed in result["seeds"]]
    lines = [
        "Test RMSE on ESOL in log mol/L, five random 80/10/10 splits grouped by molecule, a single network without",
        "descriptors, and the plain stack that differs from it only in having a layer of its own for each step:",
        "",
        f"| model | {' | '.join(f'split {seed}' for seed in seeds)} | mean | SD | parameters |",
        f"| --- |{' ---: |' * (len(seeds) + 3)}",
    ]
    for name, found in result["results"].items():
        errors = " | ".join(f"{found['test_rmse'][seed]:.3f}" for seed in seeds)
        spread = "-" if found["sd"] is None else f"{found['sd']:.3f}"
        lines.append(f"| {name} | {errors} | {found['mean']:.3f} | {spread} | {found['parameters']:,} |")
    lines += [
        "",
        *made_by(result, f"preset {made_with}"),
        "Batch size, learning rate and epochs of the preset were chosen from about a dozen trials by their validation",
        "error on these same splits. Five splits of one small set say little about small differences.",
    ]
    return "\n".join(lines)


def mlp_table(result: Mapping[str, Any]) -> str:
    """The study of MLP-SCORE as a Markdown table.

    Raises `InputError` when the estimator's settings are no longer those of the result.
    """
    means: dict[str, list[str]] = {}
    parameters: dict[str, list[str]] = {}
    depths = sorted({found["steps"] for found in result["results"]})
    for found in sorted(result["results"], key=lambda found: int(found["steps"])):
        today = settings_digest(model_of(found["variant"], found["steps"], result["epochs"]).get_params())
        if found["settings_digest"] != today:
            raise InputError(f"{found['variant']} was run with other settings; run {result['command']} again")
        means.setdefault(found["variant"], []).append(f"{found['mean']:.3f} ± {found['sd']:.3f}")
        parameters.setdefault(found["variant"], []).append(f"{found['parameters']:,}")
    lines = [
        "Test RMSE on ESOL in log mol/L (mean ± SD of five folds grouped by molecule) of MLPs on RDKit's descriptors,",
        "all of one width, by the number of layers:",
        "",
        f"| layers | {' | '.join(map(str, depths))} |",
        f"| --- |{' ---: |' * len(depths)}",
        *(f"| {name} | {' | '.join(cells)} |" for name, cells in means.items()),
        *(f"| parameters: {name} | {' | '.join(cells)} |" for name, cells in parameters.items()),
        "",
        *made_by(result, f"{result['epochs']} epochs"),
    ]
    return "\n".join(lines)


def made_by(result: Mapping[str, Any], settings: str) -> list[str]:
    """Two lines: the command that printed the result, and with what."""
    machine = result["machine"]
    return [
        f"Printed by `{result['command']}`",
        f"({settings}, torch {result['versions']['torch']}, {machine['cores']} cores, {machine['processor']}).",
    ]


TABLES = {
    "esol-reference": ("esol_reference.json", reference_table),
    "mlp-descriptors": ("mlp_descriptors.json", mlp_table),
}


def filled(text: str, results: Path) -> str:
    """A document with every table between its two marks written anew; raises `InputError` where a mark is missing."""
    for name, (file, make) in TABLES.items():
        begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
        if (begin in text) != (end in text):
            raise InputError(f"the table {name} has only one of its marks")
        if begin in text:
            before, rest = text.split(begin, 1)
            text = f"{before}{begin}\n{make(read_json(results / file))}\n{end}{rest.split(end, 1)[1]}"
    return text


def main() -> None:
    """Entry point of `python -m scoregnn.studies.document_tables`."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--results", type=Path, required=True)
    parser.add_argument("documents", type=Path, nargs="+")
    parser.add_argument("--check", action="store_true", help="only say whether the tables are up to date")
    options = parser.parse_args()
    for document in options.documents:
        try:
            old = document.read_text(encoding="utf-8")
            new = filled(old, options.results)
        except (OSError, ScoreGNNError) as error:
            sys.exit(f"error: {document}: {error}")
        if options.check and new != old:
            sys.exit(f"error: the tables of {document} are not those of {options.results}; run without --check")
        if not options.check:
            write_atomically(document, new)


if __name__ == "__main__":
    main()
