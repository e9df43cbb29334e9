"""Fuzz a reader: `python -m compat_tests.adversarial.fuzz ENGINE KIND SECONDS [FOLDER]`.

ENGINE is `hypothesis`, which changes samples by the generator of `test_mutants` and shrinks what it
finds, or `atheris`, which is guided by coverage and changes artifacts by that generator too;
install it first. Both start from the samples of the tests. An input that raises anything but an
error of this project, or takes too much time or memory, ends the run: keep it in
`compat_tests/adversarial/regressions/KIND/`.
FOLDER takes inputs: of atheris those that reach something new, of hypothesis the first 20,000;
`atheris KIND 0 FOLDER` says how much they cover.
"""

from __future__ import annotations

import contextlib
import random
import sys
import tempfile
import time
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_SECONDS = 5  # of processor time, whatever else runs
_HUNG = 300  # of the clock: what hangs ends then
_FOLDERLESS = {"artifact", "exported", "runtime"}
_EXAMPLES, _KEPT = 2000, 20_000


def _reader(kind: str, folder: Path) -> Callable[[bytes], bool]:
    from compat_tests.adversarial import reading

    (folder / "functions").mkdir()
    if kind == "torch_xla":
        (folder / "functions" / "forward.bytecode").write_bytes(b"")
    reader = reading.READERS[kind]
    return reader if kind in _FOLDERLESS else partial(reader, folder=folder)


def _timed(call: Callable[[bytes], bool]) -> Callable[[bytes], bool]:
    """Return what also raises where reading takes too much processor time."""

    def read(data: bytes) -> bool:
        began = time.process_time()
        valid = call(data)
        if time.process_time() - began > _SECONDS:
            raise AssertionError(f"takes more than {_SECONDS} s")
        return valid

    return read


def _samples(kind: str) -> list[bytes]:
    from compat_tests.adversarial import test_mutants as mutants

    return {
        "artifact": mutants.ARTIFACTS,
        "exported": mutants.EXPORTED,
        "saved_model": mutants.SAVED_MODELS,
        "runtime": [mutants.LIBRARY, mutants.archive()],
        "npy": [path.read_bytes() for path in sorted((mutants.TORCH_XLA / "data").iterdir())],
        "torch_xla": [(mutants.TORCH_XLA / "functions" / "forward.meta").read_bytes()],
    }[kind]


def _atheris(kind: str, seconds: int, folder: Path, found: Path) -> None:
    import atheris  # type: ignore[import-untyped]  # no dependency of the tests

    with atheris.instrument_imports(include=["portable"]):
        call = _reader(kind, folder)
        from compat_tests.adversarial.generators.mutants import knowingly
        from portable.errors import PortableError
    if seconds:
        for data in _samples(kind):
            (found / sha256(data).hexdigest()).write_bytes(data)
    limits = [f"-timeout={_HUNG}", "-rss_limit_mb=1500", f"-artifact_prefix={found}/crash-"]
    rounds = [f"-max_total_time={seconds}"] if seconds else ["-runs=0"]
    read = _timed(call)

    def mutant(data: bytes, most: int, seed: int) -> bytes:
        """Change numbers so that lengths stay right, or whatever atheris thinks of."""
        if kind == "artifact" and seed % 2:
            with contextlib.suppress(PortableError, ValueError):  # no artifact, or without sections
                return knowingly(random.Random(seed), data)[:most]  # noqa: S311 - repeatable, not secret
        changed: bytes = atheris.Mutate(data, most)
        return changed

    arguments = [sys.argv[0], *limits, *rounds, str(found)]
    atheris.Setup(arguments, lambda data: read(data) and None, custom_mutator=mutant)
    atheris.Fuzz()


def _hypothesis(kind: str, seconds: int, folder: Path, found: Path) -> None:
    from hypothesis import HealthCheck, Phase, given, seed, settings, strategies

    from compat_tests.adversarial.generators.mutants import blindly, knowingly

    call, samples = _timed(_reader(kind, folder)), _samples(kind)
    count, deadline = 0, time.monotonic() + seconds

    def read(data: bytes) -> None:
        nonlocal count
        count += 1
        call(data)
        if count <= _KEPT:
            (found / sha256(data).hexdigest()).write_bytes(data)

    @strategies.composite
    def mutants(draw: strategies.DrawFn) -> bytes:
        luck: random.Random = draw(strategies.randoms(use_true_random=False))
        data = draw(strategies.sampled_from(samples))
        if kind == "artifact" and draw(strategies.booleans()):
            return knowingly(luck, data)
        return blindly(luck, data, samples, 4 * (kind == "artifact"))

    number = 0
    while time.monotonic() < deadline:
        number += 1
        run = settings(
            max_examples=_EXAMPLES,
            deadline=None,
            database=None,
            phases=[Phase.generate, Phase.shrink],
            suppress_health_check=[*HealthCheck],
        )(seed(number)(given(mutants())(read)))
        run()
    print(f"hypothesis {kind}: {count} inputs in {seconds} s, no error")


def main() -> None:
    """Fuzz one reader for some time."""
    engine, kind, seconds, *rest = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as kept:
        found = Path(rest[0] if rest else kept)
        found.mkdir(parents=True, exist_ok=True)
        {"atheris": _atheris, "hypothesis": _hypothesis}[engine](
            kind, int(seconds), Path(folder), found
        )


if __name__ == "__main__":
    main()
