"""What the metadata says against what the source tree holds."""

from __future__ import annotations

import ast
import configparser
import re
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

import scoregnn

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
SETUPTOOLS = PROJECT["tool"]["setuptools"]
FOLDERS = {"scoregnn": "scoregnn", **SETUPTOOLS["package-dir"]}
RUNTIME = [Requirement(text) for text in PROJECT["project"]["dependencies"]]
OPTIONAL = PROJECT["project"]["optional-dependencies"]
EXTRAS = [Requirement(text) for extra in OPTIONAL.values() for text in extra]
USER_EXTRAS = [Requirement(text) for name, extra in OPTIONAL.items() if name != "dev" for text in extra]


def source_files() -> Iterator[tuple[str, Path]]:
    """Package and path of every Python file that is installed."""
    for package, folder in FOLDERS.items():
        for path in sorted((ROOT / folder).rglob("*.py")):
            yield ".".join((package, *path.relative_to(ROOT / folder).parent.parts)), path


def constraints() -> dict[str, str]:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pins = [line.split("==") for line in lines if line and not line.startswith("#")]
    return {canonicalize_name(name): version for name, version in pins}


def imported_packages(path: Path) -> set[str]:
    """Top-level names of the imports of a file, those inside functions too."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names.add(node.module.split(".")[0])
    return names


def test_every_package_folder_is_in_the_metadata():
    found = {package for package, _ in source_files()}
    assert found == set(SETUPTOOLS["packages"])


def test_every_package_folder_has_an_init():
    packages = {package for package, path in source_files() if path.name == "__init__.py"}
    assert packages == set(SETUPTOOLS["packages"])


def test_every_data_file_is_matched_by_the_metadata():
    matched = {
        path
        for package, patterns in SETUPTOOLS["package-data"].items()
        for pattern in patterns
        for path in (ROOT / FOLDERS[package]).glob(pattern)
    }
    data = {
        path
        for folder in FOLDERS.values()
        for path in (ROOT / folder).rglob("*")
        # Results of studies are kept in the repository, not installed.
        if path.is_file() and path.suffix not in (".py", ".pyc") and "results" not in path.parts
    }
    assert data == matched


def test_every_third_party_import_is_a_dependency():
    # What an extra brings may be imported too: inside a function, with an error that names the extra.
    declared = {canonicalize_name(requirement.name) for requirement in RUNTIME + USER_EXTRAS}
    owners = packages_distributions()
    for _, path in source_files():
        for name in imported_packages(path) - set(sys.stdlib_module_names) - {"scoregnn"}:
            distributions = {canonicalize_name(owner) for owner in owners.get(name, [name])}
            assert distributions & declared, f"{path.relative_to(ROOT)} imports {name}"


def test_every_dependency_is_imported():
    owners = packages_distributions()
    used = {
        canonicalize_name(owner)
        for _, path in source_files()
        for name in imported_packages(path)
        for owner in owners.get(name, [])
    }
    here = [requirement for requirement in RUNTIME if requirement.marker is None or requirement.marker.evaluate()]
    assert {canonicalize_name(requirement.name) for requirement in here} <= used


@pytest.mark.parametrize("requirement", RUNTIME + EXTRAS, ids=str)
def test_constraints_pin_every_dependency_within_its_bounds(requirement):
    version = constraints()[canonicalize_name(requirement.name)]
    assert requirement.specifier.contains(version)
    assert [specifier.operator for specifier in requirement.specifier] == [">="], "an honest lower bound, no cap"


def test_constraints_are_exact_public_versions():
    pins = constraints()
    assert "scoregnn" not in pins
    assert all(Version(version).local is None for version in pins.values())
    # Not a tested set of the CUDA build.
    assert not [name for name in pins if name.startswith(("nvidia", "cuda", "triton"))]


def test_version_is_the_same_everywhere():
    version = PROJECT["project"]["version"]
    assert scoregnn.__version__ == version
    assert re.search(rf"^## \[{re.escape(version)}\]", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)


def test_top_level_is_as_designed():
    names = {path.name for path in ROOT.iterdir()}
    assert {"scoregnn", "datasets", "baselines", "studies", "tests", "benchmarks"} <= names
    assert {"pyproject.toml", "setup.cfg", "constraints.txt", "Makefile", "README.md", "LICENSE"} <= names
    packages = {path.parent.name for path in ROOT.glob("*/__init__.py")}
    assert packages == set(FOLDERS.values())


def test_layers_list_every_room_in_the_order_of_the_contributing_page():
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg")
    layers = config["importlinter:contract:rooms"]["layers"].split()
    rooms = re.findall(r"^\| `(?:scoregnn/)?(\w+)/` \|", (ROOT / "CONTRIBUTING.md").read_text(), re.MULTILINE)
    assert len(rooms) == 10
    assert layers[1:11] == rooms[::-1]
    assert {package.split(".")[1] for package in SETUPTOOLS["packages"] if "." in package} == set(rooms)
