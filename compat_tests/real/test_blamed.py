"""What `check` says of where the ops are that an Advisory is about."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest

from portable import pin, predict
from portable.cli import main
from portable.prediction import blamed
from portable.prediction.forms import FORMS
from portable.releases import advisories
from portable.verdict import Stage
from tools.hunt import PAGE, reproducers

_T = "tensor<8xf32>"
_ONE = f"%last = stablehlo.abs %d : {_T}"
_GREATEST = f"""
module {{
  func.func public @main(%a: {_T}, %b: {_T}) -> {_T} {{
    %c = stablehlo.add %a, %b : {_T} loc("model.py":10:3)
    %d = stablehlo.maximum %c, %a : {_T} loc("model.py":12:5)
    MORE
    return %last : {_T}
  }}
}}
"""
_CHECK = ("--for", "tensorflow==2.21.0", "--stage", "execute")
OPS = {
    one.id
    for one in advisories()
    if one.feature in FORMS
    and any(name.startswith("op:") for group in FORMS[one.feature].needs for name in group)
}
# Texts of older days.
_OLDER = {"gather-by-unsigned", "quantized-stored-in-floats"}
SHOWN = {
    name: [release for release, shows in shown.items() if shows]
    for name, shown in reproducers().items()
    if name not in _OLDER and (PAGE.parent / name / "program.mlir").exists()
}


def _written(tmp_path: Path, more: str) -> Path:
    path = tmp_path / "model.mlir.bc"
    path.write_bytes(pin(_GREATEST.replace("MORE", more), "1.0.0").artifact.data)
    return path


def test_an_advisory_has_the_places_of_its_ops(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The file and line that the program names, and of no op that it is not about."""
    path = _written(tmp_path, _ONE)
    assert main(["check", str(path), *_CHECK]) == 2
    shown = capsys.readouterr().out
    assert f"{path}: nan-lost-tensorflow is about maximum at model.py:12:5\n" in shown
    assert "model.py:10:3" not in shown


def test_of_many_ops_the_first_are_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """And how many there are, in text and in JSON."""
    names = ["%d", *(f"%m{at}" for at in range(1199)), "%last"]
    more = "\n".join(
        f'{name} = stablehlo.minimum {before}, %b : {_T} loc("model.py":{20 + at}:1)'
        for at, (before, name) in enumerate(pairwise(names))
    )
    path = _written(tmp_path, more)
    assert main(["check", str(path), *_CHECK]) == 2
    first = "model.py:12:5, model.py:20:1, model.py:21:1"
    told = f"nan-lost-tensorflow is about maximum or minimum at {first} and 1,198 more\n"
    assert told in capsys.readouterr().out
    assert main(["check", str(path), *_CHECK, "--format", "json"]) == 2
    (file,) = json.loads(capsys.readouterr().out)["files"]
    assert file["blamed"]["nan-lost-tensorflow"] == {
        "ops": ["maximum", "minimum"],
        "total": 1201,
        "places": first.split(", "),
    }


@pytest.mark.parametrize("name", SHOWN)
def test_whatever_is_found_has_a_place(name: str) -> None:
    """Of every finding, on every Release that shows it, the Advisories that are about ops."""
    artifact = pin((PAGE.parent / name / "program.mlir").read_text("utf-8"), "current").artifact
    for release in SHOWN[name]:
        verdict = predict(artifact, release, stage=Stage.EXECUTE)
        said = [verdict.reason, *(one.what for one in verdict.not_known)]
        about = {
            one for one in OPS if any(text.startswith((f"{one}:", f"{one} (")) for text in said)
        }
        assert about <= blamed(artifact, [verdict]).keys()
