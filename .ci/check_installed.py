"""Types (mypy) and layers (import-linter) of the INSTALLED scoregnn; no module may go unchecked.

Run with the Python of an environment that has the wheel and the development tools. Both tools work from an
empty folder: at the root of the repository they would silently miss the rooms outside of scoregnn/.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ROOMS = (
    "molecules",
    "graphs",
    "nn",
    "training",
    "prediction",
    "datasets",
    "baselines",
    "estimators",
    "studies",
    "cli",
)


def source_modules() -> set[str]:
    """Dotted names of all modules in the source tree, as they are called when installed."""
    setuptools = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
    folders = {"scoregnn": "scoregnn", **setuptools["package-dir"]}
    modules = set()
    for package, folder in folders.items():
        for path in (ROOT / folder).rglob("*.py"):
            parts = path.relative_to(ROOT / folder).with_suffix("").parts
            modules.add(".".join((package, *parts)).removesuffix(".__init__"))
    return modules


def fail(message: str) -> None:
    sys.exit(f"check_installed: {message}")


def require_all(tool: str, checked: set[str]) -> None:
    expected = source_modules()
    if missing := sorted(expected - checked):
        fail(f"{tool} did not check {', '.join(missing)}")
    if empty := [room for room in ROOMS if f"scoregnn.{room}" not in checked]:
        fail(f"{tool} did not check the rooms {', '.join(empty)}")
    print(f"{tool}: checked {len(checked)} modules in {len(ROOMS)} rooms of the installed package")


def run_mypy(folder: Path) -> None:
    # Without a cache, because the report lists only modules that this very run has analysed.
    command = ["mypy", "--config-file", str(ROOT / "setup.cfg"), "--cache-dir", os.devnull]
    command += ["--linecount-report", str(folder / "report"), "--package", "scoregnn"]
    if subprocess.run([sys.executable, "-m", *command], cwd=folder).returncode:
        fail("mypy found errors")
    names = re.findall(r"\S+$", (folder / "report" / "linecount.txt").read_text(), flags=re.MULTILINE)
    require_all("mypy", {name for name in names if name.split(".")[0] == "scoregnn"})


def run_import_linter(folder: Path) -> None:
    linter = Path(sys.executable).with_name("lint-imports")
    if subprocess.run([linter, "--no-cache", ROOT / "setup.cfg"], cwd=folder).returncode:
        fail("import-linter found broken contracts")
    modules = "import grimp; print(*grimp.build_graph('scoregnn', cache_dir=None).modules)"
    listing = subprocess.check_output([sys.executable, "-c", modules], cwd=folder, text=True)
    require_all("import-linter", set(listing.split()))


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        where = "import scoregnn, pathlib; print(pathlib.Path(scoregnn.__file__).resolve())"
        found = subprocess.run([sys.executable, "-c", where], cwd=folder, capture_output=True, text=True)
        if found.returncode or ROOT / "scoregnn" in Path(found.stdout.strip()).parents:
            fail("scoregnn must be installed from its wheel (make lint does it), not from the source tree")
        run_mypy(folder)
        run_import_linter(folder)


if __name__ == "__main__":
    main()
