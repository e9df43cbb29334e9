"""Coverage-guided fuzzing of a reader: `python -m compat_tests.adversarial.fuzz KIND CORPUS ...`.

Needs atheris, which is no dependency of the tests. What follows KIND goes to libFuzzer: folders of
inputs, `-max_total_time=600`. An input that raises anything but an error of this project, or takes
too much time or memory, ends the run and is written down as `crash-*`: keep it in
`compat_tests/adversarial/regressions/KIND/`.
"""

from __future__ import annotations

import sys
import tempfile
from functools import partial
from pathlib import Path

import atheris  # type: ignore[import-untyped]  # no dependency of the tests

with atheris.instrument_imports(include=["portable"]):
    from compat_tests.adversarial import reading

_SECONDS = 5


def main() -> None:
    """Fuzz one reader until libFuzzer ends."""
    kind, *rest = sys.argv[1:]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "functions").mkdir()
        reader = reading.READERS[kind]
        call = (
            reader
            if kind in {"artifact", "exported", "runtime"}
            else partial(reader, folder=folder)
        )
        if kind == "torch_xla":
            (folder / "functions" / "forward.bytecode").write_bytes(b"")
        arguments = [sys.argv[0], f"-timeout={_SECONDS}", "-rss_limit_mb=1500", *rest]
        atheris.Setup(arguments, lambda data: call(data) and None)
        atheris.Fuzz()


main()
