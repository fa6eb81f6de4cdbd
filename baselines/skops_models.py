"""Saving of scikit-learn models as data that can hold known types only."""

from __future__ import annotations

from typing import Any, ClassVar

from scoregnn.baselines.base import Baseline
from scoregnn.errors import RunFolderError

FILE = "model.skops"


class SkopsBaseline(Baseline):
    """Base of the families whose models are scikit-learn estimators.

    _core_type: what the file must hold for each target. _trusted: types that skops does not know as harmless, and
    that these models consist of; a file with any other is refused unread.
    """

    _core_type: ClassVar[type | tuple[type, ...]] = object
    _trusted: ClassVar[tuple[str, ...]] = ()

    def _dump(self, cores: list[Any]) -> dict[str, bytes]:
        import skops.io

        return {FILE: skops.io.dumps(cores)}

    def _load(self, files: dict[str, bytes], num_targets: int) -> list[Any]:
        import skops.io

        content = files[FILE]
        foreign = set(skops.io.get_untrusted_types(data=content)) - set(self._trusted)
        if foreign:
            raise RunFolderError(f"{FILE} holds types that are no part of such a model: {', '.join(sorted(foreign))}")
        cores = skops.io.loads(content, trusted=list(self._trusted))
        if not isinstance(cores, list) or len(cores) != num_targets:
            raise ValueError(f"{FILE} does not hold {num_targets} models")
        if not all(isinstance(core, self._core_type) for core in cores):
            raise ValueError(f"{FILE} holds another kind of model")
        return cores
