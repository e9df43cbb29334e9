"""What can be refused is refused before anything is made or fetched: every option of every command.

The options are read from the parsers, so that a new one cannot be forgotten. No network is needed:
an environment that is begun leaves its lock in the cache, an observation its store.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

pytest.importorskip("jaxlib", reason="programs are serialized")

from portable.cli import COMMANDS, load, main

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
ARTIFACT = str(next((ROOT / "compat_tests" / "data" / "artifacts").glob("*.mlir.bc")))
PROGRAM = str(ROOT / "docs" / "examples" / "encoder.mlir")
RELEASE = ["--on", "jaxlib 0.4.33"]
EXECUTED = ["--stage", "execute", "--for", "jaxlib==0.4.33"]

# Words that are accepted; what stands under an option there is replaced by what is bad.
GOOD = {
    "pin": [PROGRAM, "--target", "1.0.0", "--output", "new"],
    "check": [ARTIFACT, "--for", "jaxlib==0.4.33"],
    "inspect": [ARTIFACT],
    "minimum": [ARTIFACT],
    "explain": [PROGRAM, "--target", "1.0.0"],
    "gate": [ARTIFACT],
    "matrix": [ARTIFACT, *EXECUTED, "--random", "1"],
    "export": ["jax", f"{ROOT}/docs/examples/no_such_module.py:f", "--output", "new"],
    "verify-export": ["no_such_module:f", "--target", "1.0.0"],
    "run": [ARTIFACT, *RELEASE, "--random", "1"],
    "verify": [ARTIFACT, "--against", PROGRAM, *RELEASE],
    "target": ["--for", "jaxlib==0.4.33"],
    "serialize": [PROGRAM, "--target", "1.0.0", "--output", "new"],
    "deserialize": [ARTIFACT, "--output", "new"],
    "versions": [],
    "releases": ["list", "jaxlib"],
    "env": ["make", "jaxlib==0.4.33"],
    "corpus": ["show", "abs_f32"],
    "completion": ["bash"],
    "schema": ["check"],
    "bundle": [PROGRAM, "--for", "jaxlib>=0.5", "--output", "new"],
    "reduce": [PROGRAM, "--check", "true", "--output", "new"],
    "fuzz": ["generate", "--output", "new"],
    # What these read, and what they need installed, is not at hand: they refuse in any case.
    "pick": [ARTIFACT, "--for", "jaxlib>=0.5", "--output", "new"],
    "push": [ARTIFACT, "oci://127.0.0.1:9/name:tag"],
    "attest": ["verify", ARTIFACT, "--key", ARTIFACT],
    "audit": ["empty-folder", "--output", "new"],
    "plan": [ARTIFACT, "--from", "jaxlib==0.5.3", "--to", "jaxlib==0.9.1"],
    "repin-all": [ARTIFACT, "--for", "jaxlib==0.5.3", "--output", "new"],
}
# What is bad in each place. Numbers and choices are refused by the parser; they are tried too.
FILES = ("nowhere", "empty-folder", "garbage")
PLACES = ("nowhere/new", "empty-folder")
SPECS = ("jaxlob", "jaxlib==99", "jaxlib>>1")
RELEASES = ("jaxlib", "jaxlib 99", "jaxlob 1")
TARGETS = ("99.0.0", "soon")
ARRAYS = (*FILES, "pickled.npz", "many.npz")
BAD: dict[str, tuple[str, ...]] = {
    "files": FILES, "against": FILES, "program": FILES, "paths": FILES,
    "earlier": FILES, "policy": FILES, "inputs": ARRAYS, "expected": ARRAYS,
    "output": PLACES, "weights": PLACES, "cache": PLACES[1:],
    "consumers": SPECS, "specs": SPECS,
    "names": SPECS, "target": TARGETS, "allow": ("no-such-rewrite",),
    "platform": ("nowhere.so",), "platforms": ("nowhere",), "cluster": ("nowhere", "tcp://127.0.0.1:9"),
    "bundle": FILES, "path": FILES, "fleet": FILES, "places": ("nowhere", "garbage", "ftp://host/models"),
    "from": SPECS, "to": SPECS, "query": ("no-such-query",), "sql": ("SELEC",),
    "reference": ("nowhere",), "subject": FILES, "key": FILES, "attestation": FILES,
    "matrix": FILES, "max_age": ("soon",), "check": ("no-such-command {}",),
    "only": ("no_such_op",), "suffix": ("no/name", ""),
    "corpus": ("nowhere",), "case": ("no_such_case",), "args": ("f33[",),
}  # fmt: skip
# Any text is a dialect's name, and a day is refused by the command; both make nothing. Names that
# one action takes (releases add, corpus new) are tried where that is tested.
ANY = {"allow_dialects", "action", "framework", "name", "family"}
SPECIAL: dict[tuple[str, str], tuple[str, ...]] = {
    ("run", "on"): RELEASES,
    ("verify", "on"): RELEASES,
    ("verify", "reference_on"): RELEASES,
    ("corpus", "on"): RELEASES,
    ("gate", "as_of"): ("soon",),
    ("run", "executor"): ("no-such-executor", "iree"),
    ("verify", "executor"): ("no-such-executor", "iree"),
    # An empty folder is where they may write; a file is not.
    ("bundle", "output"): ("nowhere/new", "garbage"),
    ("fuzz", "output"): ("nowhere/new", "garbage"),
    # It looks at whatever there is and writes nothing; a target beyond all is "not reached".
    ("inspect", "files"): FILES[:1],
    ("explain", "target"): TARGETS[1:],
}


def _bad() -> Iterator[tuple[str, str, str]]:
    for command in COMMANDS:
        for action in _actions(command):
            if action.nargs == 0 or action.dest == "help" or action.dest in ANY:
                continue
            values = SPECIAL.get((command, action.dest))
            if values is None and (action.choices or action.type not in {None, Path}):
                values = ("-1.5x",)
            # An option without a row is a KeyError here: say what is bad for it.
            for value in values or BAD[action.dest]:
                yield command, action.dest, value


def _actions(command: str) -> list[argparse.Action]:
    parser = argparse.ArgumentParser()
    load(command).options(parser)
    return parser._actions


def _words(command: str, dest: str, value: str) -> list[str]:
    """Put a bad value where the good one stands, or behind what is good."""
    (action,) = (one for one in _actions(command) if one.dest == dest)
    good = GOOD[command].copy()
    if action.option_strings:
        named = [option for option in action.option_strings if option in good]
        if named:
            good[good.index(named[0]) + 1] = value
            return good
        if command == "matrix" and dest == "inputs":
            good = [word for word in good if word not in {"--random", "1"}]
        if command == "matrix" and dest == "earlier":
            good = []
        return [*good, f"{action.option_strings[-1]}", value]
    places = [one.dest for one in _actions(command) if not one.option_strings]
    good[places.index(dest)] = value
    return good


@pytest.fixture
def nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Run in a folder with bad files, and see that nothing was added anywhere."""
    here, temporary, cache = (tmp_path / name for name in ("here", "temporary", "cache"))
    (here / "empty-folder").mkdir(parents=True)
    temporary.mkdir()
    (here / "garbage").write_bytes(b"\x00garbage")
    np.savez(here / "pickled.npz", np.array([{}], dtype=object))
    np.savez(here / "many.npz", *(np.zeros((3, 5), "f4") for _ in range(9)))
    monkeypatch.chdir(here)
    monkeypatch.setenv("PORTABLE_CACHE", str(cache))
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setattr(tempfile, "tempdir", None)
    before = set(tmp_path.rglob("*"))
    yield
    assert set(tmp_path.rglob("*")) - before == set()


@pytest.mark.parametrize(("command", "dest", "value"), [*_bad()])
@pytest.mark.usefixtures("nothing")
def test_a_bad_argument_makes_nothing(
    command: str, dest: str, value: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 2 and one line, and nothing is made, fetched or left behind.

    Where Dask is installed, an address that does not answer is named while it is waited for.
    """
    code = main([command, *_words(command, dest, value)])
    told = capsys.readouterr()
    assert code == 2, told.out
    lines = [line for line in told.err.splitlines() if ": no answer for " not in line]
    assert len(lines) == 1, told.err
