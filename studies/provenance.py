"""What made a result: command, versions, machine."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from scoregnn.training.run_folder import package_versions


def provenance(module: str) -> dict[str, Any]:
    """The command line of the running program `module`, versions and the machine, to be stored with its result."""
    return {
        "command": shlex.join(["python", "-m", module, *sys.argv[1:]]),
        "versions": package_versions(),
        "machine": {
            "system": f"{platform.system()} {platform.machine()}",
            "processor": _processor(),
            "cores": os.cpu_count(),
            "torch_threads": torch.get_num_threads(),
        },
    }


def settings_digest(settings: Mapping[str, Any]) -> str:
    """Short hash of an estimator's parameters, to stamp a result with what made it."""
    return hashlib.sha256(json.dumps(dict(settings), sort_keys=True).encode()).hexdigest()[:12]


def _processor() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor()
