"""Every command with every program that nests too deep or has something far too large in it.

Commands times inputs, not examples: each line ends with 0, 1 or 2, soon, with one error at most.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from compat_tests.adversarial.generators import depths, huge
from compat_tests.adversarial.generators.commands import run_all
from compat_tests.helpers.thorough import pairs

pytest.importorskip("jaxlib")
import numpy as np

LINES = {
    "run": "run INPUT --random 0",
    "run inputs": "run INPUT --inputs x.npz",
    "verify": "verify INPUT --against INPUT --seeds 1",
    "verify inputs": "verify INPUT --against INPUT --inputs x.npz",
    "explain": "explain INPUT --target 1.0.0",
    "explain json": "explain INPUT --target 1.0.0 --format json",
    "minimum": "minimum INPUT",
    "pin": "pin INPUT --target 1.0.0 -o new.mlir.bc",
    "serialize": "serialize INPUT --target 1.0.0 -o new.mlir.bc",
    "deserialize": "deserialize INPUT",
    "check": "check INPUT --observe",
    "check for": "check INPUT --for jaxlib==0.10.2",
    "inspect": "inspect INPUT --ops",
    "gate": "gate INPUT --for jaxlib==0.10.2",
    "matrix": "matrix INPUT --for jaxlib==0.10.2",
    "matrix inputs": "matrix INPUT --for jaxlib==0.10.2 --inputs x.npz --stage execute",
}
DEEP = (950, 20_000)
LIMIT_S = 100
_PARTS = 4


def inputs() -> dict[str, bytes]:
    """Return every input by its file name."""
    found = {f"{name}.mlir": text.encode() for name, text in huge.TEXTS.items()}
    for depth in DEEP:
        for name, make in depths.TEXTS.items():
            found[f"{name} {depth}.mlir"] = make(depth).encode()
        for name, artifact in depths.ARTIFACTS.items():
            found[f"{name} {depth}.mlir.bc"] = artifact(depth)
    return {name.replace(" ", "_"): data for name, data in found.items()}


INPUTS = inputs()


@pytest.mark.parametrize(("line", "part"), pairs(LINES, range(_PARTS), each=_PARTS))
def test_whatever_is_too_large_is_one_line(
    line: str, part: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No traceback, no crash, no hang, and no more than one error."""
    monkeypatch.setenv("PORTABLE_OFFLINE", "1")
    monkeypatch.setenv("PORTABLE_CACHE", str(tmp_path / "cache"))
    np.savez(tmp_path / "x.npz", np.zeros(2, np.float32))
    chosen = [*INPUTS][part::_PARTS]
    for name in chosen:
        (tmp_path / name).write_bytes(INPUTS[name])
    commands = [LINES[line].replace("INPUT", name).split() for name in chosen]
    for command, said in zip(commands, run_all(commands, tmp_path, limit=LIMIT_S), strict=True):
        errors = [row for row in said.err.splitlines() if row.startswith(("error: ", '{"error"'))]
        told = command, said.code, said.err[-500:]
        assert said.code in {0, 1, 2}, told
        assert "Traceback" not in said.err, told
        assert "internal error" not in said.err, told
        assert len(errors) <= 1, told
        assert len(said.err) < 20_000, told
        assert said.code != 2 or errors or said.out, told
        if "json" in command and said.code != 2:
            json.loads(said.out)
