"""Every public call that needs a libStablehlo takes its artifact or program in every form."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import portable
from compat_tests.helpers import client
from portable.containers import open_path
from portable.pinning.program import text

ROOT = Path(__file__).parents[2]
ARTIFACT = ROOT / "compat_tests" / "data" / "artifacts" / "tan+1.4.0.mlir.bc"
TEXT = """func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = stablehlo.tan %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
"""

AS_ARTIFACT: dict[str, Callable[[], object]] = {
    "str": lambda: str(ARTIFACT),
    "Path": lambda: ARTIFACT,
    "bytes": ARTIFACT.read_bytes,
    "bytearray": lambda: bytearray(ARTIFACT.read_bytes()),
    "memoryview": lambda: memoryview(ARTIFACT.read_bytes()),
    "Artifact": lambda: portable.Artifact.load(ARTIFACT),
    "Entry": lambda: open_path(ARTIFACT).artifacts()[0],
}
AS_PROGRAM: dict[str, Callable[[], object]] = {
    **AS_ARTIFACT,
    "text": lambda: TEXT,
    "bytes of text": TEXT.encode,
    "Module": lambda: portable.deserialize(ARTIFACT),
}
TAKE_ARTIFACTS: dict[str, Callable[[Any], object]] = {
    "observe": lambda what: portable.observe(what).outcome,
    "retarget": lambda what: portable.retarget(what, "1.4.0").version,
    "deserialize": lambda what: str(portable.deserialize(what)),
    "run": lambda what: portable.run(what, [np.zeros(4, np.float32)])[0].tolist(),
    "verify": lambda what: portable.verify(what, what, seeds=[0]).same,
    "text": text,
}
TAKE_PROGRAMS: dict[str, Callable[[Any], object]] = {
    "serialize": lambda what: portable.serialize(what, "1.4.0").version,
    "pin": lambda what: portable.pin(what, "1.4.0").target.version,
    "minimum": lambda what: portable.minimum(what).version,
    "explain": lambda what: portable.explain(what, "0.9.0").reachable,
}


@pytest.mark.parametrize("call", TAKE_ARTIFACTS)
def test_an_artifact_in_every_form(call: str) -> None:
    """What comes out does not depend on how it was handed over."""
    found = {form: TAKE_ARTIFACTS[call](make()) for form, make in AS_ARTIFACT.items()}
    assert len({str(value) for value in found.values()}) == 1, found


@pytest.mark.parametrize("call", TAKE_PROGRAMS)
def test_a_program_in_every_form(call: str) -> None:
    """Text, bytecode, an artifact, a path and a module: the same answer."""
    found = {form: TAKE_PROGRAMS[call](make()) for form, make in AS_PROGRAM.items()}
    assert len({str(value) for value in found.values()}) == 1, found


@pytest.mark.parametrize("call", [*TAKE_ARTIFACTS, *TAKE_PROGRAMS])
@pytest.mark.parametrize("what", [5, None, ["a"], object()], ids=type)
def test_anything_else_is_an_error_of_ours(call: str, what: object) -> None:
    """With its type in it, in one line."""
    with pytest.raises(portable.PortableError, match=type(what).__name__) as refused:
        {**TAKE_ARTIFACTS, **TAKE_PROGRAMS}[call](what)
    assert "\n" not in str(refused.value)


def test_the_clients_program_runs(tmp_path: Path) -> None:
    """What type checkers accept of the whole surface is what happens."""
    path = tmp_path / "model.mlir.bc"
    pinned = client.ship(TEXT, path)
    assert str(pinned.target) == str(portable.inspect(os.fspath(path)).claimed)
    assert set(client.judge(path).values()) == {True}
    assert client.describe(TEXT, path.read_bytes())[0].startswith("claims 1.")
    assert client.compare(TEXT, path).same
    assert client.gate(tmp_path)
    for value in (
        pinned,
        portable.explain(TEXT, "0.9.0"),
        portable.minimum(TEXT),
        client.compare(TEXT, path),
    ):
        assert len(repr(value)) <= 300
