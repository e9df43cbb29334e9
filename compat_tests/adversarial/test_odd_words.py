"""A word that cannot be meant, at each place of each command: one line, never an internal error."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from compat_tests.adversarial.test_injection import WORDS
from portable import (
    Artifact,
    PortableError,
    inspect,
    predict,
    repin,
    resolve_target,
)
from portable.bundle import pick
from portable.cli import main
from portable.fleet.places import PlaceError, open_place
from portable.policy import load_policy
from portable.runtime.executors import find_executor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ARTIFACT = Path(__file__).parents[1] / "data" / "artifacts" / "custom_calls+1.0.0.mlir.bc"
ODD = {
    "a clause of four signs": "jaxlib====0.4.33",
    "a clause of two kinds": "jaxlib>===0.4.33",
    "NUL": "a\0b",
    "NUL in a path": "./a\0b.mlir.bc",
    "NUL in a plugin": "plugin:a\0",
    "a plugin of a long name": "plugin:" + "a" * 300,
    "a long name": "a" * 300,
    "a path longer than PATH_MAX": "a/" * 3000,
    "a long number": "9" * 5000,
    "a long set": "@" + "a" * 100_000,
    "half a character": "\ud800",
    "an address without an end": "https://[::1",
    "a host that is none": "http://\u2100.com/x",
    "a descriptor that is not open": "/dev/fd/99",
}
# What stands at the other places.
GOOD = {
    "--for": "jaxlib==0.4.33", "--from": "jaxlib==0.4.33", "--to": "jaxlib==0.9.1",
    "--target": "1.0.0", "--keep": "1MB", "-o": "out",
}  # fmt: skip


CALLS: dict[str, Callable[[str], object]] = {
    "an artifact": Artifact.load,
    "an inspection": inspect,
    "a prediction": lambda name: predict(name, "jaxlib==0.9.1"),
    "a container": lambda name: repin(name, "jaxlib==0.9.1", to="copy"),
    "a copy": lambda name: repin(ARTIFACT, "jaxlib==0.9.1", to=name),
    "a policy": load_policy,
    "a plugin to ask": lambda name: resolve_target(f"plugin:{name}"),
    "a wheel": lambda name: resolve_target(f"./{name}.whl"),
    "a plugin that executes": lambda name: find_executor("pjrt", platform=f"./{name}.so"),
    "a bundle": lambda name: pick(name, "jaxlib==0.9.1", to="picked"),
    "a fleet": open_place,
}


def lines(command: str, odd: str) -> Iterator[list[str]]:
    """Yield the command with the word at each of its places in turn."""
    words = WORDS[command]
    for place, word in enumerate(words):
        if "{}" not in word or (command, place) == ("fuzz hunt", 5):  # that would hunt
            continue
        others = [GOOD.get(before, str(ARTIFACT)) for before in ("", *words)]
        yield [
            *command.split(),
            *(
                each.format(odd if at == place else other)
                for at, (each, other) in enumerate(zip(words, others, strict=False))
            ),
        ]


@pytest.mark.parametrize("command", WORDS)
def test_a_word_that_cannot_be_meant_is_one_line(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Whatever library stumbles over it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PORTABLE_OFFLINE", "1")
    monkeypatch.setenv("PORTABLE_CACHE", str(tmp_path / "cache"))
    # A checkout is not installed, so that it has no version to sign.
    monkeypatch.setattr("portable.attestation._version", lambda: "0")
    # An export starts a process for each, which takes seconds.
    for odd in list(ODD.values())[:: len(ODD) if "export" in command else 1]:
        for words in lines(command, odd):
            code = main(words)
            said = capfd.readouterr()
            assert code in {0, 1, 2}, words
            assert "internal error" not in said.err, words
            if code == 2 and not said.out:
                assert said.err.count("\n") == 1, words


@pytest.mark.parametrize("odd", ["a long name", "a path longer than PATH_MAX", "NUL"])
@pytest.mark.parametrize("name", CALLS)
def test_a_name_that_no_file_can_have_is_an_error_of_ours(name: str, odd: str) -> None:
    """Of the library, too, which a program calls."""
    with pytest.raises(PortableError):
        CALLS[name](ODD[odd])


@pytest.mark.parametrize("place", ["", "file://"])
def test_an_empty_place_is_not_the_whole_disk(place: str) -> None:
    """As `portable audit "$MODELS"` has it where the variable is not set."""
    with pytest.raises(PlaceError, match="no such folder"):
        open_place(place)
