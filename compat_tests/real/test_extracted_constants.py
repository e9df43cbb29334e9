"""`--extract-constants`: large constants as files that Versions share; what is computed stays."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import jax
import ml_dtypes
import numpy as np
import pytest

import portable
from compat_tests.helpers.bundles import blobs, manifests
from portable.bundle import Unbundled, pack, pick
from portable.cli import main
from portable.containers import open_container
from portable.exporters import ExportedArtifact
from portable.pinning.extraction import LARGE, NothingLarge, extract_constants
from portable.releases import find_release
from portable.runtime.environments import Environments
from portable.runtime.executors import find_executor, signature

ERAS = ("jaxlib==0.4.30", "jaxlib==0.10.2")
NEXT = np.sin(np.arange(3_000, dtype=np.float32)).reshape(60, 50)
X = np.linspace(-1, 1, 180, dtype=np.float32).reshape(3, 60)
NUMPY = ("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "float16", "float32")
OTHERS = ("bfloat16", "float8_e4m3fn", "float8_e5m2")


def text_of(function: Any, *arguments: object) -> str:
    """Return a JAX function as MLIR text."""
    return str(jax.export.export(jax.jit(function))(*arguments).mlir_module())


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """Return a program whose constants are of main, of a function, and one of both."""
    half = jax.numpy.asarray(NEXT).astype(jax.numpy.bfloat16)

    inner: Any = jax.jit(lambda x: jax.numpy.tanh(x @ NEXT))

    def model(x: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
        def step(total: jax.Array, _: None) -> tuple[jax.Array, None]:
            return total + inner(x).sum(), None

        total, _ = jax.lax.scan(step, jax.numpy.float32(0), None, length=3)
        return total, x.astype(jax.numpy.bfloat16) @ half, x @ NEXT + np.float32(2)

    path = tmp_path / "model.mlir"
    path.write_text(text_of(model, X))
    return path


def equal(some: Iterable[Any], others: Iterable[Any]) -> None:
    """Compare results bit by bit."""
    assert [np.asarray(one).tobytes() for one in some] == [
        np.asarray(one).tobytes() for one in others
    ]


def test_a_bundle_keeps_constants_once(program: Path, tmp_path: Path) -> None:
    """Each value is one file that all Versions name, and no artifact has it inside."""
    bundle = tmp_path / "model.bundle"
    made = pack(program, *ERAS, to=bundle, extract_constants=True)
    assert len(made.versions) == 2
    values = {NEXT.tobytes(), NEXT.astype(ml_dtypes.bfloat16).tobytes()}
    ends = [data for data in blobs(bundle).values() if data.endswith(tuple(values))]
    assert len(ends) == len(values)
    named = [
        {
            layer["annotations"]["org.opencontainers.image.title"]: layer["digest"]
            for layer in one["layers"]
        }
        for one in manifests(bundle)
    ]
    for constant in ("constants/0", "constants/1"):
        assert len({files[constant] for files in named}) == 1
    assert len({files["functions/forward.bytecode"] for files in named}) == 2
    for entry in open_container(bundle).artifacts():
        assert not any(value in entry.data for value in values)


def test_constants_stay_inside_by_default(program: Path, tmp_path: Path) -> None:
    """A Version is one file then, with all that it computes with."""
    pack(program, *ERAS, to=tmp_path / "model.bundle")
    for one in manifests(tmp_path / "model.bundle"):
        assert len(one["layers"]) == 1
    for entry in open_container(tmp_path / "model.bundle").artifacts():
        assert NEXT.tobytes() in entry.data


def test_it_is_called_as_before(program: Path, tmp_path: Path) -> None:
    """What is picked takes the old inputs, and computes the same bits as the program."""
    expected = portable.run(portable.serialize(program), [X])
    bundle = tmp_path / "model.bundle"
    assert (
        main(["bundle", str(program), "--for", *ERAS, "--extract-constants", "-o", str(bundle)])
        == 0
    )
    for era in ERAS:
        assert main(["pick", str(bundle), "--for", era, "-o", str(tmp_path / era)]) == 0
        model = ExportedArtifact.load(tmp_path / era)
        assert [one.name for one in model.inputs] == ["input0"]
        equal(model(X), expected)
        equal(portable.run(model.baked().artifact, [X]), expected)
        np.savez(tmp_path / "x.npz", X)
        given = ["--inputs", str(tmp_path / "x.npz"), "-o", str(tmp_path / "y.npz")]
        assert main(["run", str(tmp_path / era), *given]) == 0
        found = np.load(tmp_path / "y.npz")
        equal([found[name] for name in sorted(found)], expected)


@pytest.mark.old_releases
def test_an_old_release_executes_it(program: Path, tmp_path: Path) -> None:
    """The Version of its era, with captured arguments in the body of a loop."""
    pack(program, *ERAS, to=tmp_path / "model.bundle", extract_constants=True)
    pick(tmp_path / "model.bundle", ERAS[0], to=tmp_path / "old")
    environment = Environments().get(find_release(*ERAS[0].split("==")), to_execute=True)
    with find_executor("pjrt", environment) as executor:
        found = ExportedArtifact.load(tmp_path / "old")(X, executor=executor)
        equal(found, portable.run(portable.pin(program, ERAS[0]).artifact, [X], executor))


@pytest.mark.parametrize("name", [*NUMPY, *OTHERS])
def test_every_type_keeps_its_bits(name: str) -> None:
    """Values of every kind of number that fills bytes, NaN and infinities among them."""
    dtype = np.dtype(getattr(ml_dtypes, name, None) or name)
    raw = np.random.default_rng(1).integers(0, 256, LARGE * dtype.itemsize, np.uint8)
    value = (raw & 1).astype(bool) if name == "bool" else raw.view(dtype)
    program = text_of(lambda x: jax.numpy.where(x, jax.numpy.asarray(value), 0), np.ones(1, bool))
    found = extract_constants(program)
    assert found.values == (value.tobytes(),)
    assert signature(found.artifact).arguments[-1].dtype == dtype


def test_what_cannot_be_an_argument_stays() -> None:
    """Complex and small elements, one value repeated, and bodies that a composite names."""
    body = """
  func.func private @twice(%a: tensor<3000xf32>) -> tensor<3000xf32> {{
    %w = stablehlo.constant dense<"0x{data}"> : tensor<3000xf32>
    %r = stablehlo.add %a, %w : tensor<3000xf32>
    return %r : tensor<3000xf32>
  }}
  func.func @main(%a: tensor<3000xf32>) -> (tensor<3000xf32>, tensor<3000xf32>, tensor<3000xi4>) {{
    %b = stablehlo.composite "own.twice" %a {{decomposition = @twice}} :
      (tensor<3000xf32>) -> tensor<3000xf32>
    %c = stablehlo.constant dense<1.5> : tensor<3000xf32>
    %d = stablehlo.constant dense<{small}> : tensor<3000xi4>
    return %b, %c, %d : tensor<3000xf32>, tensor<3000xf32>, tensor<3000xi4>
  }}
"""
    data = NEXT.tobytes().hex()
    with pytest.raises(NothingLarge, match="no constant of 4096 bytes or more"):
        extract_constants(body.format(data=data, small=[n % 7 for n in range(3000)]))


def test_an_error_says_what_to_do(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A program without large constants, a container, and --from; nothing is written."""
    exported = tmp_path / "model.exported"
    exported.write_bytes(jax.export.export(jax.jit(jax.numpy.sin))(X).serialize())
    (tmp_path / "sin.mlir").write_text(text_of(jax.numpy.sin, X))
    with pytest.raises(Unbundled, match=r"constants of a jax\.export\.Exported stay in it"):
        pack(exported, *ERAS, to=tmp_path / "new", extract_constants=True)
    for words in (
        [str(tmp_path / "sin.mlir"), "--for", ERAS[0]],
        [str(exported), "--for", ERAS[0]],
        ["--files", str(exported)],
    ):
        assert main(["bundle", *words, "--extract-constants", "-o", str(tmp_path / "new")]) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert "--extract-constants" in line
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model.exported", "sin.mlir"]


def test_the_same_program_makes_the_same_bundle(program: Path, tmp_path: Path) -> None:
    """As a file, as bytes, and again."""
    sources: list[Path | bytes] = [program, program.read_bytes(), program]
    digests = {
        pack(source, *ERAS, to=tmp_path / str(number), extract_constants=True).digest
        for number, source in enumerate(sources)
    }
    assert len(digests) == 1
    meta = json.loads(
        next(data for data in blobs(tmp_path / "0").values() if b'"input_locations"' in data)
    )
    assert [one["type_"] for one in meta["input_locations"]] == [
        "input_arg",
        "constant",
        "constant",
    ]
