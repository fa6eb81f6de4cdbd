"""Compares a wheel with the package folders of the source tree: python check_wheel.py dist/*.whl"""

from __future__ import annotations

import sys
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def source_files() -> set[str]:
    """Paths that the wheel must have: every file in the package folders but compiled ones and results of studies."""
    setuptools = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
    folders = {"scoregnn": "scoregnn", **setuptools["package-dir"]}
    return {
        f"{package.replace('.', '/')}/{path.relative_to(ROOT / folder).as_posix()}"
        for package, folder in folders.items()
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and "results" not in path.parts
    }


def main() -> None:
    (wheel,) = sys.argv[1:]
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
        metadata = {name.split(".dist-info/")[1] for name in archive.namelist() if ".dist-info/" in name}
    expected = source_files()
    faults = [f"missing from the wheel: {name}" for name in sorted(expected - names)]
    faults += [f"only in the wheel: {name}" for name in sorted(names - expected)]
    faults += [] if "licenses/LICENSE" in metadata else ["missing from the wheel: the licence"]
    if faults:
        sys.exit("\n".join(faults))
    print(f"{Path(wheel).name}: {len(names)} files, the same as in the source tree")


if __name__ == "__main__":
    main()
