"""Text reports end after 1 MB unless --all is given; what machines read is complete."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from compat_tests.adversarial.generators.amplification import dialects_many, location_files_many
from portable.cli import main, output

if TYPE_CHECKING:
    from pathlib import Path

FOR = ("--for", "jaxlib")
COMMANDS = {
    "inspect": ("--ops",),
    "minimum": (),
    "check": FOR,
    "gate": FOR,
}


def test_a_text_report_has_at_most_1_mb(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The last line says how much was left out, and how to see it; with --all it is there."""
    path = tmp_path / "long.mlir.bc"
    path.write_bytes(location_files_many(1_100, length=1_000))
    main(["inspect", str(path)])
    cut = capsys.readouterr().out
    main(["inspect", str(path), "--all"])
    whole = capsys.readouterr().out
    assert 900_000 < len(cut) <= 1_000_000 < len(whole)
    *lines, last = cut.splitlines(keepends=True)
    assert whole.startswith("".join(lines))
    assert last == f"{len(whole) - len(''.join(lines)):,} more bytes; --all prints them\n"


@pytest.mark.parametrize("command", COMMANDS)
def test_every_report_that_grows_with_its_input_ends(
    command: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Its exit code is that of the whole report; JSON has no limit, nor has the next command."""
    path = tmp_path / "long.mlir.bc"
    path.write_bytes(dialects_many(50))
    words = [command, str(path), *COMMANDS[command]]
    code = main([*words, "--all"])
    whole = capsys.readouterr().out
    monkeypatch.setattr(output, "MOST_TEXT", 400)
    assert main(words) == code
    cut = capsys.readouterr().out
    assert len(cut) <= 400 < len(whole)
    assert cut.endswith("; --all prints them\n")
    assert main([*words, "--format", "json"]) == code
    assert json.loads(capsys.readouterr().out)
    assert main(["versions"]) == 0
    assert len(capsys.readouterr().out) > 400
