"""A child that has answered hostile calls answers the next one as a new child would."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import portable
from compat_tests.adversarial.generators.nesting import FORMS
from portable.system import children
from portable.system.worker import Driver, Worker

if TYPE_CHECKING:
    from collections.abc import Callable

pytest.importorskip("jaxlib")
from portable.pinning import program as programs

PROGRAM = """func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.tanh %a : tensor<2xf32>
  return %0 : tensor<2xf32>
}
"""
ARTIFACT = portable.serialize(PROGRAM, "1.9.0").data
CALLS: dict[str, Callable[[Any], object]] = {
    "serialize": lambda given: portable.serialize(given, "1.9.0"),
    "pin": lambda given: portable.pin(given, "1.0.0").artifact,
    "minimum": portable.minimum,
    "explain": lambda given: portable.explain(given, "1.0.0"),
    "retarget": lambda given: portable.retarget(given, "1.0.0"),
    "deserialize": portable.deserialize,
    "text": programs.text,
}
INPUTS: dict[str, Any] = {
    "program": PROGRAM,
    "other program": PROGRAM.replace("2x", "3x").replace("tanh", "tan"),
    "artifact": ARTIFACT,
    "deep": FORMS["modules"](20_000),
    "no program": "func.func @main( {" * 3,
    "unknown op": PROGRAM.replace("tanh", "nosuch"),
    "too large": PROGRAM.replace("2x", "9" * 30 + "x"),
    "half a character": "\ud800",
    "cut": ARTIFACT[:-3],
    "longer": ARTIFACT + b"\0" * 9,
    "changed": ARTIFACT.replace(b"main", b"nain"),
}


def _outcome(call: str, given: str) -> object:
    try:
        found = CALLS[call](INPUTS[given])
    except portable.PortableError as error:
        return type(error).__name__, error.record()
    return getattr(found, "data", None) or str(getattr(found, "module", None) or found)


def test_a_kept_child_answers_as_a_new_one() -> None:
    """Good and hostile calls in any order, from one thread and from eight: no answer is mixed up.

    Nor does a child, a descriptor or a process that has ended stay.
    """
    chance = random.Random(14)  # noqa: S311 - a fixed seed
    asked = chance.sample([(call, given) for call in CALLS for given in INPUTS], 14)
    known = {}
    for one in asked:
        children._POOL.end()
        known[one] = _outcome(*one)
    wrong: list[tuple[str, str]] = []

    def work(seed: int) -> None:
        choose = random.Random(seed)  # noqa: S311 - a fixed seed
        for _ in range(15):
            one = choose.choice(asked)
            if _outcome(*one) != known[one]:
                wrong.append(one)

    work(0)
    files = len(_descriptors())
    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    children._POOL.end()
    assert not wrong
    assert len(_descriptors()) <= files


def _descriptors() -> list[Path]:
    return list(Path("/proc/self/fd").iterdir())


_INTERRUPTED = """
import json, os, random, signal, sys, time
import portable
program, count = sys.argv[1], int(sys.argv[2])
wanted = portable.serialize(program, "1.9.0")
signal.signal(signal.SIGALRM, signal.default_int_handler)
chance, files, interrupted = random.Random(14), len(os.listdir("/proc/self/fd")), 0
for _ in range(count):
    try:
        try:
            signal.setitimer(signal.ITIMER_REAL, chance.uniform(1e-6, 0.006))
            portable.serialize(program, "1.9.0")
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    except KeyboardInterrupt:
        interrupted += 1
time.sleep(0.5)  # what was begun by a thread is ended by it
right = all(portable.serialize(program, "1.9.0") == wanted for _ in range(3))
with open(f"/proc/self/task/{os.getpid()}/children") as stream:
    left = len(stream.read().split()) - 1
print(json.dumps([interrupted, right, left, len(os.listdir("/proc/self/fd")) - files]))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="counts in /proc")
def test_an_interrupt_leaves_nothing() -> None:
    """Ctrl-C at any point of a call, of the start of its child too.

    The next call answers rightly; no process, not even one that has ended, and no descriptor stays.
    """
    command = [sys.executable, "-c", _INTERRUPTED, PROGRAM, "60"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, timeout=300)
    interrupted, right, left, files = json.loads(done.stdout)
    assert interrupted > 20
    assert right
    assert left == 0
    assert files == 0


class _Enough(Exception):
    pass


@pytest.mark.parametrize("sent", [0.5, 1])
def test_a_job_that_was_given_up_does_not_spoil_the_next(
    sent: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever exception ends it, a test's time limit say: the process of the Release ends too."""
    with Worker(None, Driver("jaxlib"), limit=60, load_limit=60) as worker:
        first = worker.ask({"kind": "probe"})
        assert first.ok
        child = worker._child
        assert child is not None

        def give_up(data: bytes, *_: object) -> bytearray:
            os.write(child._in.fileno(), data[: int(len(data) * sent)])
            raise _Enough

        monkeypatch.setattr(child, "exchange", give_up)
        with pytest.raises(_Enough):
            worker.ask({"kind": "probe"})
        monkeypatch.undo()
        assert not child.running
        assert worker.ask({"kind": "probe"}).payload == first.payload
