"""A word that cannot be meant, at each place of each command: one line, never an internal error."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from compat_tests.adversarial.test_injection import WORDS
from portable.cli import main
from portable.fleet.places import PlaceError, open_place

if TYPE_CHECKING:
    from collections.abc import Iterator

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
    # It is asked of the installed distribution, and what is tested may be a checkout.
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


@pytest.mark.parametrize("place", ["", "file://"])
def test_an_empty_place_is_not_the_whole_disk(place: str) -> None:
    """As `portable audit "$MODELS"` has it where the variable is not set."""
    with pytest.raises(PlaceError, match="no such folder"):
        open_place(place)
