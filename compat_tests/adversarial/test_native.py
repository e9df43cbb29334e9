"""Library calls that are given text, bytes or a path never end their caller."""

from __future__ import annotations

import contextlib
import gc
import inspect
import os
import subprocess
import sys
import threading
import types
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import portable
from compat_tests.adversarial.generators.nesting import FORMS
from compat_tests.helpers.thorough import some
from portable.system import children

if TYPE_CHECKING:
    from collections.abc import Callable

pytest.importorskip("jaxlib")
from portable import bindings
from portable.pinning import explanation, specialization
from portable.pinning import pipeline as pin
from portable.pinning import program as programs

DEEP = 20_000
PROGRAM = """func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.tanh %a : tensor<2xf32>
  return %0 : tensor<2xf32>
}
"""
ARTIFACT = portable.serialize(PROGRAM, "1.9.0")
EXPORTED = Path(__file__).parents[1] / "data" / "containers" / "gate-vjp2-jax-0.5.3.exported"
CALLS = sorted(
    name for name in portable.__all__ if isinstance(getattr(portable, name), types.FunctionType)
)
# Every public call that has native code read a program.
OF_PROGRAMS: dict[str, Callable[[Any], object]] = {
    "serialize": lambda program: portable.serialize(program, "1.9.0"),
    "pin": lambda program: pin.pin(program, "1.9.0"),
    "minimum": portable.minimum,
    "explain": lambda program: portable.explain(program, "1.0.0"),
    "load": programs.load,
    "specialize": lambda program: specialization.specialize(program, ["tensor<2xf32>"]),
}
OF_ARTIFACTS: dict[str, Callable[[Any], object]] = {
    "retarget": lambda artifact: portable.retarget(artifact, "1.0.0"),
    "deserialize": portable.deserialize,
    "text": programs.text,
}


def _forms(folder: Path, text: str) -> dict[str, Any]:
    """Return each form in which a program can be handed over, but an `ir.Module`."""
    path = folder / "program.mlir"
    path.write_text(text)
    data = text.encode()
    return {
        "text": text,
        "bytes": data,
        "bytearray": bytearray(data),
        "memoryview": memoryview(data),
        "path": path,
        "path as text": str(path),
    }


@pytest.mark.parametrize("form", FORMS)
def test_deep_programs_are_a_typed_error(form: str) -> None:
    """Twenty thousand levels: the call ends in an error of ours or a result, and we live on."""
    for call in (portable.minimum, programs.load):
        with contextlib.suppress(portable.PortableError):
            call(FORMS[form](DEEP))
    assert portable.serialize(PROGRAM, "1.9.0") == ARTIFACT


@pytest.mark.parametrize("name", OF_PROGRAMS)
def test_every_call_survives_every_form(name: str, tmp_path: Path) -> None:
    """The crash of the parser is the child's, in whatever form the program came."""
    for given in _forms(tmp_path, FORMS["modules"](DEEP)).values():
        with pytest.raises(portable.PortableError):
            OF_PROGRAMS[name](given)


def test_no_public_call_is_forgotten() -> None:
    """Every function that takes a program or an artifact is tried above, or reads by itself."""
    tried = {*OF_PROGRAMS, *OF_ARTIFACTS}
    # Our own reader, or a process of a Release; a container's artifacts go through `pin`.
    others = {"predict", "observe", "run", "repin"}
    for home in (portable, pin, programs, explanation, specialization):
        for name in home.__all__:
            value = getattr(home, name)
            if inspect.isfunction(value):
                first = next(iter(inspect.signature(value).parameters), "")
                if first in {"program", "artifact"}:
                    assert name in tried | others, name


@pytest.mark.parametrize("name", [*OF_PROGRAMS, *OF_ARTIFACTS])
def test_results_are_those_of_this_process(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a child or here: the same bytes, the same figures."""
    call = (OF_PROGRAMS | OF_ARTIFACTS)[name]
    by_child = call(ARTIFACT)
    monkeypatch.setattr(children, "expendable", lambda: True)
    here = call(ARTIFACT)
    assert _plain(here) == _plain(by_child)


def _plain(value: Any) -> object:
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    return str(value) if hasattr(value, "operation") else value


def test_an_artifact_that_aborts_is_an_error() -> None:
    """220 bytes that jaxlib writes itself, with an attribute of type i2, and cannot read again."""
    library = bindings.find()
    module = library.parse(
        "func.func @main() attributes {x = 1 : i2} { return }", library.context()
    )
    data = library.serialize(module, library.current.target)
    for call in (portable.minimum, portable.deserialize, programs.text):
        with pytest.raises(portable.PortableError):
            call(data)
    assert portable.serialize(PROGRAM, "1.9.0") == ARTIFACT


def test_what_is_refused_has_its_fields() -> None:
    """An error from the child is the one that this process would raise, hint and Features too."""
    with pytest.raises(portable.NotExpressible) as caught:
        portable.serialize(PROGRAM.replace("tanh", "tan"), "1.0.0", expand=False)
    assert [feature.name for feature in caught.value.features] == ["tan_v1"]
    assert caught.value.minimum is not None
    with pytest.raises(bindings.LibraryError) as refused:
        portable.serialize("func.func @main( {", "1.0.0")
    assert refused.value.diagnostics


def test_the_bindings_can_be_chosen() -> None:
    """`library` is opened in the child by its name."""
    library = bindings.find("jaxlib")
    assert portable.serialize(PROGRAM, "1.9.0", library=library) == ARTIFACT


def test_many_calls_take_one_start() -> None:
    """The child is kept for the next call, after a refusal too, and begun again after a crash."""
    first = children.call(os.getpid, timeout=60)
    for _ in range(20):
        portable.serialize(PROGRAM, "1.9.0")
        with pytest.raises(portable.PortableError):
            portable.serialize("no {", "1.9.0")
    assert children.call(os.getpid, timeout=60) == first
    with pytest.raises(children.ChildCrashed):
        children.call(os.abort, timeout=60)
    assert children.call(os.getpid, timeout=60) != first


def test_threads_share_the_children() -> None:
    """Eight threads at once get what one would, from no more children than there are cores."""
    found: list[object] = []

    def work() -> None:
        found.extend(portable.serialize(PROGRAM, "1.9.0").digest for _ in range(5))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [ARTIFACT.digest] * 40


def test_a_module_is_worked_on_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """It cannot leave the process: no child is asked."""
    library = bindings.find()
    module = library.parse(PROGRAM, library.context())
    monkeypatch.setattr(children, "call", None)
    assert portable.serialize(module, "1.9.0") == ARTIFACT
    assert portable.minimum(module).version is not None


_FLAT = """
import gc, os, sys, tempfile
import numpy as np
import portable
from portable import bindings
from portable.pinning import program as programs
from portable.system import children
name, program, written, container, count = sys.argv[1:]
artifact = bytes.fromhex(written)
ir = bindings.find()._ir
if name in {"observe", "run", "verify"}:
    executor = portable.runtime.executors.find_executor("pjrt")
else:
    children.expendable = lambda: True  # everything in this process
numbers = [np.zeros(2, np.float32)]
folder = tempfile.mkdtemp()
calls = {
    "serialize": lambda: portable.serialize(program, "1.9.0"),
    "module": lambda: portable.serialize(programs.load(program)[1], "1.9.0"),
    "pin": lambda: portable.pin(program, "1.9.0"),
    "minimum": lambda: portable.minimum(program),
    "explain": lambda: portable.explain(program, "1.0.0"),
    "retarget": lambda: portable.retarget(artifact, "1.0.0"),
    "deserialize": lambda: portable.deserialize(artifact),
    "repin": lambda: portable.repin(container, "1.0.0", to=folder + "/" + os.urandom(8).hex()),
    "inspect": lambda: portable.inspect(artifact, fingerprint=True),
    "predict": lambda: portable.predict(artifact, "jaxlib 0.5.3"),
    "resolve_target": lambda: portable.resolve_target("jaxlib>=0.5", "180d"),
    "window": lambda: portable.window(artifact),
    "observe": lambda: portable.observe(artifact),
    "run": lambda: portable.run(artifact, numbers, executor),
    "verify": lambda: portable.verify(artifact, artifact, inputs=numbers, executor=executor),
    "text": lambda: programs.text(artifact),
    "not MLIR": lambda: portable.serialize("no {", "1.9.0"),
    "not expressible": lambda: portable.serialize(
        program.replace("tanh", "tan"), "1.0.0", expand=False
    ),
}
def resident():
    return int(open("/proc/self/statm").read().split()[1]) * 4
def work(count):
    for _ in range(count):
        try:
            calls[name]()
        except portable.PortableError:
            pass
    gc.collect()
work(50)
before, files = resident(), len(os.listdir("/proc/self/fd"))
work(int(count))
print(ir.Context._get_live_count(), resident() - before, len(os.listdir("/proc/self/fd")) - files)
"""
# Beside every call of the library, the ways through them that end early.
IN_PROCESS = (*CALLS, "module", "text", "not MLIR", "not expressible")
_COUNT = 500
_FEWER = {"observe": 100}  # each starts a process


@pytest.mark.parametrize("name", some(IN_PROCESS, each=5))
def test_no_call_keeps_its_context(name: str) -> None:
    """After 500 calls no context lives, no file is open, memory is flat: within 20 kB a call."""
    count = _FEWER.get(name, _COUNT)
    words = [name, PROGRAM, ARTIFACT.data.hex(), str(EXPORTED), str(count)]
    command = [sys.executable, "-c", _FLAT, *words]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, timeout=600)
    contexts, kilobytes, files = map(int, done.stdout.split())
    assert contexts == 0
    assert files == 0
    assert kilobytes < 20 * count
    gc.collect()
