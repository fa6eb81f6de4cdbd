"""What the documents show runs, and what they name exists."""

import re
from pathlib import Path

import pytest

from scoregnn.cli.main import app
from scoregnn.config import BLOCKS as BLOCK_NAMES
from scoregnn.config import DEPTHS, HEADS, INTEGRATORS, READOUTS, VELOCITIES
from scoregnn.studies.document_tables import TABLES, filled

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCKS = [
    pytest.param(code, id=f"{page.name}-{number}")
    for page in PAGES
    for number, code in enumerate(re.findall(r"^```python\n(.*?)^```", page.read_text(), flags=re.M | re.S))
]


@pytest.mark.parametrize("code", BLOCKS)
def test_python_in_the_documents_runs(code, capsys):
    # The same program with one epoch: what is tested is that it runs, not what it learns.
    variables = {}
    exec(compile(code.replace("epochs=30", "epochs=1"), "document", "exec"), variables)
    assert len(variables) > 1


def command_names():
    from typer.main import get_command

    group = get_command(app)
    return {
        name: {flag for p in command.params for flag in (*p.opts, *p.secondary_opts)}
        for name, command in group.commands.items()
    }


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_options_in_the_documents_exist(page):
    known = set().union(*command_names().values()) | {"--version", "--help", "--editable", "--constraint"}
    text = re.sub(r"^```sh\n.*?^```|`python -m [^`]*`", "", page.read_text(), flags=re.M | re.S)
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", text))
    assert named <= known, sorted(named - known)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_in_the_documents_exist_with_their_options(page):
    commands = command_names()
    for verb, rest in re.findall(r"(?<!from )(?<![\w.])scoregnn ([a-z]+)([^\n`|]*)", page.read_text()):
        assert verb in commands, verb
        for flag in re.findall(r"(?<![\w-])--[a-z][a-z-]+", rest):
            assert flag in commands[verb] | {"--help"}, f"scoregnn {verb} {flag}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_and_pictures_in_the_documents_are_there(page):
    for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
        assert (page.parent / target).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_tables_in_the_documents_are_those_of_the_results(page):
    text = page.read_text()
    assert filled(text, ROOT / "studies" / "results") == text


def test_every_result_has_its_table_in_a_document():
    texts = [page.read_text() for page in PAGES]
    assert all(sum(f"<!-- {name}: begin -->" in text for text in texts) == 1 for name in TABLES)
    files = {path.name for path in (ROOT / "studies" / "results").iterdir()}
    assert files == {file for file, _ in TABLES.values()}


def test_the_method_page_names_every_choice():
    text = (ROOT / "docs" / "method.md").read_text()
    for registry in (BLOCK_NAMES, READOUTS, INTEGRATORS, VELOCITIES, DEPTHS, HEADS):
        for name in registry:
            assert f"`{name}`" in text, name
