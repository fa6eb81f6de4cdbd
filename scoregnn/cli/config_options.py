"""An option of the command line for every field of `Config`, made from the field itself."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import typing
from collections.abc import Callable
from types import UnionType
from typing import Annotated, Any

import typer

from scoregnn.config import Config


def with_config_options(function: Callable[..., None]) -> Callable[..., None]:
    """Gives `function` an option for each field of `Config`; what was given arrives as its argument `given`."""
    fields = dataclasses.fields(Config)
    hints = typing.get_type_hints(Config)
    own = [p for p in inspect.signature(function, eval_str=True).parameters.values() if p.name != "given"]
    options = [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=None,
            annotation=Annotated[_plain(hints[field.name]) | None, _option(field, hints[field.name])],
        )
        for field in fields
    ]
    parameters = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in own] + options

    @functools.wraps(function)
    def command(**arguments: Any) -> None:
        values = {field.name: arguments.pop(field.name) for field in fields}
        function(**arguments, given={name: value for name, value in values.items() if value is not None})

    # Typer reads the signature and the annotations.
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {p.name: p.annotation for p in parameters} | {"return": None}
    return command


def _option(field: dataclasses.Field[Any], hint: Any) -> Any:
    flag = field.name.replace("_", "-")
    names = f"--{flag}/--no-{flag}" if _plain(hint) is bool else f"--{flag}"
    shown = "" if field.default is None else f" [default: {_text(field.default)}]"
    return typer.Option(names, help=field.metadata["help"] + shown, show_default=False)


def _plain(hint: Any) -> Any:
    """The type of a field without its None."""
    if isinstance(hint, UnionType):
        return next(part for part in typing.get_args(hint) if part is not type(None))
    return hint


def _text(default: Any) -> str:
    if isinstance(default, bool):
        return "yes" if default else "no"
    return f"{default:g}" if isinstance(default, float) else str(default)
