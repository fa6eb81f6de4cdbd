"""Writes the tables of README.md from the results under `studies/results/`.

    python -m scoregnn.studies.readme_tables --results studies/results --readme README.md [--check]

A result that another preset made than today's is refused: the study has to be run again first.
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
    machine = result["machine"]
    lines += [
        "",
        f"Printed by `{result['command']}`",
        f"(preset {made_with}, torch {result['versions']['torch']}, {machine['cores']} cores, {machine['processor']}).",
        "Batch size, learning rate and epochs of the preset were chosen from about a dozen trials by their validation",
        "error on these same splits. Five splits of one small set say little about small differences.",
    ]
    return "\n".join(lines)


TABLES = {"esol-reference": ("esol_reference.json", reference_table)}


def filled(readme: str, results: Path) -> str:
    """The text of README.md with every table between its two marks written anew."""
    for name, (file, make) in TABLES.items():
        begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
        if begin not in readme or end not in readme:
            raise InputError(f"README.md has no marks for the table {name}")
        before, rest = readme.split(begin, 1)
        readme = f"{before}{begin}\n{make(read_json(results / file))}\n{end}{rest.split(end, 1)[1]}"
    return readme


def main() -> None:
    """Entry point of `python -m scoregnn.studies.readme_tables`."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--results", type=Path, required=True)
    parser.add_argument("--readme", type=Path, required=True)
    parser.add_argument("--check", action="store_true", help="only say whether the tables are up to date")
    options = parser.parse_args()
    try:
        old = options.readme.read_text(encoding="utf-8")
        new = filled(old, options.results)
    except (OSError, ScoreGNNError) as error:
        sys.exit(f"error: {error}")
    if options.check and new != old:
        sys.exit(f"error: the tables of {options.readme} are not those of {options.results}; run without --check")
    if not options.check:
        write_atomically(options.readme, new)


if __name__ == "__main__":
    main()
