"""What `portable export` is asked for, without any framework: names, inputs, what is missing."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from portable.cli import main
from portable.exporters import ExporterMissing, export_jax, export_torch, save_as_saved_model
from portable.exporters.requests import (
    BadInput,
    NoSuchProgram,
    example,
    find_program,
    parse_inputs,
)


def test_inputs_are_described() -> None:
    """Types by StableHLO's or numpy's names, sizes, dynamic dimensions, and names of arguments."""
    specs = parse_inputs(
        ["f32[2, 3]", "i64", "bfloat16[batch,9]", "mask=i1[]", "c=complex<f32>[1]"]
    )
    assert [(s.name, s.dtype.name, s.shape) for s in specs] == [
        ("", "float32", (2, 3)),
        ("", "int64", ()),
        ("", "bfloat16", ("batch", 9)),
        ("mask", "bool", ()),
        ("c", "complex64", (1,)),
    ]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("f32[2", "does not describe an input"),
        ("f32[2]]", "does not describe an input"),
        ("", "does not describe an input"),
        ("q7[2]", "unknown type 'q7'"),
        ("f32[2,-1]", "'-1' is not a size"),
        ("f32[2,,1]", "'' is not a size"),
    ],
)
def test_bad_descriptions(text: str, says: str) -> None:
    """Each error shows how it is written."""
    with pytest.raises(BadInput) as caught:
        parse_inputs([text])
    assert says in str(caught.value)
    assert "f32[2,3]" in str(caught.value)


def test_order_and_names() -> None:
    """Inputs without a name come first, and a name comes once."""
    with pytest.raises(BadInput, match="put it first"):
        parse_inputs(["x=f32", "f32"])
    with pytest.raises(BadInput, match="'x' is given twice"):
        parse_inputs(["x=f32", "x=f32"])


def test_examples() -> None:
    """A dynamic dimension is the same wherever its name stands, and no two names share one."""
    sizes: dict[str, int] = {}
    first, second = (example(spec, sizes) for spec in parse_inputs(["f32[a,b]", "i64[b,2]"]))
    assert first.shape == (sizes["a"], sizes["b"])
    assert second.shape == (sizes["b"], 2)
    assert sizes["a"] != sizes["b"]
    assert not second.any()
    assert np.isfinite(first).all()


PROGRAM = "class Nets:\n    small = 3\n"


def test_programs_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the folder that is named, down to an attribute of an attribute."""
    monkeypatch.setattr("sys.path", ["/nowhere"])
    (tmp_path / "zoo_of_nets.py").write_text(PROGRAM)
    (tmp_path / "broken_nets.py").write_text("raise RuntimeError('ouch')\n")
    folder = str(tmp_path)
    assert find_program("zoo_of_nets:Nets.small", folder) == 3
    for reference, says in {
        "zoo_of_nets:Net": "did you mean 'Nets'",
        "zoo_of_nets": "not MODULE:ATTR",
        "nothing_here:x": "no module 'nothing_here'",
        "broken_nets:x": "RuntimeError: ouch",
    }.items():
        with pytest.raises(NoSuchProgram) as caught:
            find_program(reference, folder)
        assert says in str(caught.value)


def _missing(package: str) -> bool:
    return importlib.util.find_spec(package) is None


@pytest.mark.skipif(not _missing("torch"), reason="PyTorch is installed here")
def test_without_pytorch() -> None:
    """The error says how to install it, before anything else is done."""
    with pytest.raises(ExporterMissing, match=r"torch, torchax.*stablehlo-portable\[torch\]"):
        export_torch(object(), target="1.0.0")


@pytest.mark.skipif(not _missing("jax"), reason="JAX is installed here")
def test_without_jax() -> None:
    """The error says how to install it."""
    with pytest.raises(ExporterMissing, match="pip install jax"):
        export_jax(abs, target="1.0.0")


@pytest.mark.skipif(not _missing("tensorflow"), reason="TensorFlow is installed here")
def test_without_tensorflow(tmp_path: Path) -> None:
    """The error says how to install it; nothing is written."""
    with pytest.raises(ExporterMissing, match=r"stablehlo-portable\[tensorflow\]"):
        save_as_saved_model(tmp_path, tmp_path / "1")
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(not _missing("torch"), reason="PyTorch is installed here")
@pytest.mark.parametrize(
    "command", ["export torch M -o O --target 1.0.0", "verify-export M --target 1.0.0"]
)
def test_the_command_without_pytorch(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It says how to install it, as the library does, though it looks in a child process."""
    words = {"M": "models:net", "O": str(tmp_path / "net")}
    assert main([words.get(word, word) for word in command.split()]) == 2
    assert "pip install 'stablehlo-portable[torch]'" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_options_of_one_framework_are_refused_for_the_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What would change nothing is told, not ignored."""
    out = str(tmp_path / "f.mlir.bc")
    assert main(["export", "jax", "steps:f", "--target", "1.0.0", "--eval", "-o", out]) == 2
    assert "--eval and --backend are for torch" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("output", "consumer", "says"),
    [
        ("f.mlir.bc", "jaxlob", "no Release of 'jaxlob' is known"),
        ("f", "jaxlob", "no Release of 'jaxlob' is known"),
        ("full", "jaxlib", "destination exists"),
        ("full.mlir.bc", "jaxlib", "is a directory"),
        ("nowhere/f", "jaxlib", "nowhere"),
        ("nowhere/f.mlir.bc", "jaxlib", "nowhere"),
    ],
)
def test_what_is_wrong_beside_the_program_is_said_before_it_is_looked_for(
    output: str, consumer: str, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Consumers and output come first: neither the program nor, perhaps, its framework is there."""
    for name in ("full", "full.mlir.bc"):
        (tmp_path / name / "anything").mkdir(parents=True)
    out = str(tmp_path / output)
    assert main(["export", "jax", "no_such_module:f", "--for", consumer, "-o", out]) == 2
    error = capsys.readouterr().err
    assert says in error
    assert "no_such_module" not in error
    assert "pip install" not in error
