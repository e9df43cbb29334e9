"""`export_torch`: what it keeps, what it refuses, and what it leaves alone."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.utils import _pytree as pytree

from compat_tests.helpers.lossy import Everything
from portable.errors import PortableError
from portable.exporters import (
    ArgumentKind,
    ExportedArtifact,
    ExporterMissing,
    ExportFailed,
    export_torch,
)
from portable.exporters.traced import inspect_program
from portable.pinning.pipeline import NotExpressible
from portable.runtime.executors import InputMismatch

# PyTorch warns of its own use of what it deprecates.
pytestmark = pytest.mark.filterwarnings(
    "ignore::FutureWarning",
    "ignore::DeprecationWarning",
    "ignore:The tensor attributes:UserWarning",
)

TARGET = "1.0.0"


class Keeper(nn.Module):
    """Has one of everything: weights, unused ones, buffers, constants, kwargs, nested results."""

    def __init__(self) -> None:
        super().__init__()
        self.linear, self.unused = nn.Linear(4, 5), nn.Linear(2, 2)
        self.register_buffer("scale", torch.arange(5, dtype=torch.float32), persistent=False)

    def forward(self, x: Tensor, *, count: Tensor, loud: bool = True) -> dict[str, Any]:
        """Compute something of all of them."""
        y = self.linear(x) * self.scale + torch.tensor([1.0, 2.0, 3.0, 4.0, 5.0])
        return {"y": -y if loud else y, "both": (count * 2**40, None)}


def _keeper() -> tuple[Keeper, Tensor, Tensor]:
    torch.manual_seed(0)
    return Keeper(), torch.randn(3, 4), torch.arange(3)


def test_everything_has_its_name() -> None:
    """Arguments and results by the model's names; unused weights and constants are left out."""
    module, x, count = _keeper()
    made = export_torch(module, (x,), {"count": count, "loud": False}, target=TARGET)
    told = [(a.name, a.kind, a.shape, a.dtype) for a in made.arguments]
    assert told == [
        ("linear.weight", ArgumentKind.PARAMETER, (5, 4), "float32"),
        ("linear.bias", ArgumentKind.PARAMETER, (5,), "float32"),
        ("scale", ArgumentKind.PARAMETER, (5,), "float32"),
        ("lifted_tensor_0", ArgumentKind.CONSTANT, (5,), "float32"),
        ("x", ArgumentKind.INPUT, (3, 4), "float32"),
        ("count", ArgumentKind.INPUT, (3,), "int64"),
    ]
    assert [(r.name, r.shape, r.dtype) for r in made.results] == [
        ("y", (3, 5), "float32"),
        ("both.0", (3,), "int64"),
    ]
    assert list(made.weights) == ["linear.weight", "linear.bias", "scale", "lifted_tensor_0"]
    wanted = module(x, count=count, loud=False)
    got = made(x, loud=False, count=count)
    assert list(got) == ["y", "both"]
    assert torch.allclose(got["y"], wanted["y"], atol=2e-6)
    assert torch.equal(got["both"][0], wanted["both"][0])
    assert got["both"][1] is None
    one_by_one = made(x, count)
    assert torch.equal(one_by_one["y"], got["y"])
    with pytest.raises(InputMismatch, match=r"True is given where False was.*takes x, count"):
        made(x, count=count, loud=True)
    with pytest.raises(InputMismatch, match=r"nested unlike.*takes x, count"):
        made(x, number=count, loud=False)


def test_nothing_is_swapped() -> None:
    """Weights and inputs of one shape each go to their own place."""
    module = Everything().eval()
    made = export_torch(module, module.inputs(), target=TARGET)
    (values, indices), wide = made(*module.inputs())
    wanted = module.wanted()
    assert np.allclose(values, wanted[0], atol=2e-6)
    assert np.array_equal(indices, wanted[1])
    assert np.array_equal(wide, wanted[2])


DTYPES = (
    torch.float64,
    torch.float16,
    torch.bfloat16,
    torch.float8_e4m3fn,
    torch.int8,
    torch.int16,
    torch.int64,
    torch.uint8,
    torch.bool,
    torch.complex64,
)


class Chooser(nn.Module):
    """Returns its weight or its input, whatever they are."""

    def __init__(self, weight: Tensor) -> None:
        super().__init__()
        self.register_buffer("weight", weight)

    def forward(self, x: Tensor, first: Tensor) -> Tensor:
        """Choose."""
        return torch.where(first, self.weight, x)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_dtypes_are_kept(dtype: torch.dtype) -> None:
    """Of weights, inputs and results; the bits come back as they were."""
    torch.manual_seed(0)
    weight, x = (torch.randint(0, 2, (2, 3)).to(dtype) for _ in range(2))
    first = torch.tensor([[True], [False]])
    made = export_torch(Chooser(weight), (x, first), target="1.9.0")
    name = str(dtype).removeprefix("torch.")
    assert {a.dtype for a in made.arguments if a.name != "first"} == {name}
    got = made(x, first)
    assert got.dtype == dtype
    wanted = torch.where(first, weight.to(torch.complex64), x.to(torch.complex64))
    assert torch.equal(got.to(torch.complex64), wanted)


def test_the_module_stays_as_it_was() -> None:
    """Its weights, its mode and its later training are its own."""
    module, x, count = _keeper()
    before = {name: value.clone() for name, value in module.state_dict().items()}
    made = export_torch(module.train(), (x,), {"count": count}, target=TARGET)
    assert module.training
    assert all(torch.equal(before[name], value) for name, value in module.state_dict().items())
    with torch.no_grad():
        module.linear.weight.zero_()
    assert np.array_equal(made.weights["linear.weight"], before["linear.weight"].numpy())
    with pytest.raises(ValueError, match="read-only"):
        made.weights["linear.weight"][0] = 1


def test_the_same_model_gives_the_same_bytes() -> None:
    """Twice, and from an ExportedProgram."""
    module, x, count = _keeper()
    options: dict[str, Any] = {"target": TARGET, "locations": "strip"}
    first, again = (export_torch(module, (x,), {"count": count}, **options) for _ in range(2))
    traced = torch.export.export(module, (x,), {"count": count})
    assert first.artifact.data == again.artifact.data
    assert first.artifact.data == export_torch(traced, **options).artifact.data


class Sized(nn.Module):
    """Returns a size."""

    def forward(self, x: Tensor) -> tuple[Tensor, int]:
        """Return how many rows there are."""
        return x + 1, x.shape[0]


class Loud(nn.Module):
    """Fails."""

    def forward(self, x: Tensor) -> Tensor:
        """Fail."""
        del x
        raise RuntimeError("no luck\nat all")


REFUSED: dict[str, tuple[nn.Module, str]] = {
    "failing": (Loud(), "RuntimeError: no luck"),
}


def test_what_is_no_tensor_comes_back_as_it_was_exported() -> None:
    """Where it stood among the results, as inputs that are no tensors are fixed."""

    class Mixed(nn.Module):
        def forward(self, x: Tensor) -> dict[str, Any]:
            return {"kind": "sum", "made": [x.sum(), None, (2.5, x)], "on": True}

    x = torch.randn(3, 4)
    made = export_torch(Sized(), (x,), target=TARGET)(x)
    assert torch.equal(made[0], x + 1)
    assert made[1:] == (3,)
    exported = export_torch(Mixed(), (x,), target=TARGET)
    assert [result.name for result in exported.results] == ["made.0", "made.2.1"]
    mixed = exported(x)
    assert (mixed["kind"], mixed["made"][1], mixed["made"][2][0], mixed["on"]) == (
        "sum",
        None,
        2.5,
        True,
    )
    assert torch.equal(mixed["made"][2][1], x)


def test_an_open_size_is_no_result() -> None:
    """It is another number for each call, and no tensor."""
    shapes = ({0: torch.export.Dim("rows", max=9)},)
    with pytest.raises(ExportFailed, match="'1', a number that depends on a dynamic dimension"):
        export_torch(Sized(), (torch.randn(3, 4),), target=TARGET, dynamic_shapes=shapes)


@pytest.mark.parametrize("case", REFUSED)
def test_what_would_be_lost_is_refused(case: str) -> None:
    """By its name, in one line."""
    module, says = REFUSED[case]
    with pytest.raises(ExportFailed) as caught:
        export_torch(module, (torch.randn(3, 4),), target=TARGET)
    assert says in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


def test_an_op_without_lowering_is_named() -> None:
    """With the line of the model."""

    class Odd(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            lengths = torch.tensor([3])
            made: Tensor = torch.ops.aten._segment_reduce_backward(x, x, x, "sum", lengths=lengths)
            return made

    with pytest.raises(ExportFailed, match=r"aten\._segment_reduce_backward.*decompose") as caught:
        export_torch(Odd(), (torch.randn(3),), target=TARGET)
    assert __file__ in str(caught.value.where)


@pytest.mark.parametrize(
    ("options", "kind", "says"),
    [
        ({"target": "soon"}, PortableError, "soon"),
        ({"target": "99.0.0"}, PortableError, "99.0.0"),
        ({"target": TARGET, "backend": "torchscript"}, ExporterMissing, "torchax"),
        ({"target": TARGET, "platform": "abacus"}, ExportFailed, "abacus"),
        ({"target": TARGET, "args": (torch.randn(3, 3),)}, ExportFailed, "torch.export"),
        ({"target": TARGET, "args": ()}, ExportFailed, "torch.export"),
    ],
)
def test_bad_requests(options: dict[str, Any], kind: type[PortableError], says: str) -> None:
    """Each is one line that says what is wrong."""
    options = {"args": (torch.randn(3, 4),)} | options
    with pytest.raises(kind) as caught:
        export_torch(nn.Linear(4, 2), **options)
    assert says in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


def test_what_is_no_module_is_refused() -> None:
    """A function and a ScriptModule's name."""
    with pytest.raises(ExportFailed, match="cannot export function"):
        export_torch(lambda x: x, (torch.randn(3),), target=TARGET)


def test_composites_stay_or_go() -> None:
    """Preserved where the target knows them, refused below, and lowered on request."""

    class Erf(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return torch.erf(x)

    module, x = Erf(), torch.randn(3, 4)
    kept = export_torch(module, (x,), target="0.19.0")
    assert "stablehlo.composite" in kept.get_stablehlo_text()
    with pytest.raises(NotExpressible, match="composite"):
        export_torch(module, (x,), target="0.9.0")
    gone = export_torch(module, (x,), target="0.9.0", allow=["exact"])
    assert "stablehlo.composite" not in gone.get_stablehlo_text()
    # XLA knows this composite by its name and computes it its own way.
    assert torch.allclose(kept(x), gone(x), rtol=0, atol=1e-6)


def test_sizes_that_must_agree() -> None:
    """Open dimensions of one name have one size; the model says which input breaks it."""
    batch = torch.export.Dim("batch")

    class Sum(nn.Module):
        def forward(self, x: Tensor, y: Tensor) -> Tensor:
            return x + y

    shapes = {"x": {0: batch}, "y": {0: batch}}
    inputs = (torch.randn(4, 2), torch.randn(4, 2))
    made = export_torch(Sum(), inputs, target=TARGET, dynamic_shapes=shapes)
    with pytest.raises(InputMismatch, match=r"is 3 in another input and 5 in 'y'"):
        made(torch.randn(3, 2), torch.randn(5, 2))
    with pytest.raises(InputMismatch, match="1 inputs given, but the model takes x, y"):
        made(torch.randn(3, 2))
    assert torch.equal(made(torch.ones(5, 2), torch.ones(5, 2)), torch.full((5, 2), 2.0))


def test_text_and_bytecode() -> None:
    """By the name that torch_xla's page uses, and by no other."""
    made = export_torch(nn.Linear(4, 2), (torch.randn(3, 4),), target=TARGET)
    assert "stablehlo.dot_general" in made.get_stablehlo_text("forward")
    assert made.get_stablehlo_bytecode("forward") == made.artifact.data
    with pytest.raises(PortableError, match="'forward'"):
        made.get_stablehlo_text("backward")


def test_quantized_and_sparse_weights_are_refused() -> None:
    """No plain array holds them."""
    sparse = torch.eye(3).to_sparse()
    traced = torch.export.export(nn.Linear(3, 2), (torch.randn(1, 3),))
    traced.state_dict["weight"] = nn.Parameter(sparse)
    with pytest.raises(ExportFailed, match=r"weight is torch\.sparse_coo"):
        inspect_program(traced).weights()


class Nested(nn.Module):
    """Returns what PyTorch returns under names, alone and inside of other values."""

    def __init__(self, *, alone: bool) -> None:
        super().__init__()
        self.alone = alone

    def forward(self, x: Tensor) -> Any:
        """Return the largest of each row, and where they are."""
        largest = torch.max(x, 1)
        return largest if self.alone else {"best": largest, "all": [torch.topk(x, 2), x]}


def test_results_that_pytorch_names() -> None:
    """`torch.max` and its like: by their names, int64 kept, one tensor each."""
    x = torch.tensor([[1.0, 3.0, 2.0], [6.0, 5.0, 4.0]])
    alone = export_torch(Nested(alone=True), (x,), target=TARGET)
    assert [(r.name, r.dtype) for r in alone.results] == [
        ("values", "float32"),
        ("indices", "int64"),
    ]
    got = alone(x)
    assert (got.values.tolist(), got.indices.tolist()) == ([3, 6], [1, 0])
    within = export_torch(Nested(alone=False), (x,), target=TARGET, allow=["exact"])
    names = ["best.values", "best.indices", "all.0.values", "all.0.indices", "all.1"]
    assert [r.name for r in within.results] == names
    best, whole = within(x)["all"]
    assert [best.values.tolist(), best.indices.tolist()] == [[[3, 2], [6, 5]], [[1, 2], [0, 1]]]
    assert torch.equal(whole, x)
    # What is loaded elsewhere has plain tuples in their place.
    assert pytree.treespec_loads(alone.pytree_specs.results) == pytree.tree_structure((0, 1))
    nested = pytree.tree_structure({"best": (0, 1), "all": [(2, 3), 4]})
    assert pytree.treespec_loads(within.pytree_specs.results) == nested


class Pair:
    """A class of the user's own, which PyTorch was told how to take apart, and nothing else."""

    def __init__(self, first: Any, second: Any) -> None:
        self.parts = [first, second]


pytree.register_pytree_node(Pair, lambda p: (p.parts, None), lambda parts, _: Pair(*parts))


def test_results_in_classes_without_names() -> None:
    """By their numbers; how they are nested is written nowhere, because PyTorch cannot."""

    class Paired(nn.Module):
        def forward(self, x: Tensor) -> Pair:
            return Pair(x + 1, (x * 2).to(torch.int64))

    made = export_torch(Paired(), (torch.ones(2),), target=TARGET)
    assert [(r.name, r.dtype) for r in made.results] == [("0", "float32"), ("1", "int64")]
    assert made.pytree_specs.arguments is not None
    assert made.pytree_specs.results is None
    got = made(torch.ones(2))
    assert isinstance(got, Pair)
    assert [part.tolist() for part in got.parts] == [[2, 2], [2, 2]]


class Cache:
    """What is made of tensors alone, and makes one of its own, as the caches of transformers."""

    def __init__(self, parts: list[Tensor]) -> None:
        self.parts, self.device = parts, parts[0].device
        self.window = torch.tensor([4])  # as that of transformers, where it slides


pytree.register_pytree_node(
    Cache,
    lambda cache: (cache.parts, None),
    lambda parts, _: Cache(list(parts)),
    serialized_type_name=f"{__name__}.Cache",
    flatten_with_keys_fn=lambda cache: (
        [(pytree.SequenceKey(n), part) for n, part in enumerate(cache.parts)],
        None,
    ),
)


def test_classes_that_are_made_of_tensors_alone(tmp_path: Path) -> None:
    """They are taken and returned; once loaded, the tensors come one by one."""

    class Cached(nn.Module):
        def forward(self, x: Tensor, past: Cache) -> dict[str, Any]:
            return {"cache": Cache([past.parts[0] + x, x]), "output": x * 2}

    x = torch.ones(2)
    made = export_torch(Cached(), (x, Cache([x, x])), target=TARGET)
    assert [r.name for r in made.results] == ["cache.0", "cache.1", "output"]
    got = made(x, Cache([x * 3, x]))
    assert isinstance(got["cache"], Cache)
    assert torch.equal(got["cache"].parts[0], x * 4)
    made.save(tmp_path / "net")
    loaded = ExportedArtifact.load(tmp_path / "net")
    assert [t.tolist() for t in loaded(x, x * 3, x)] == [[4, 4], [1, 1], [2, 2]]


def test_one_tensor_given_as_two_inputs() -> None:
    """Or as an input that is a weight too: a call may give two values."""

    class Apart(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.scale = nn.Parameter(torch.ones(2))

        def forward(self, x: Tensor, y: Tensor, parts: list[Tensor]) -> Tensor:
            return x - y + self.scale * parts[0]

    model, x = Apart(), torch.ones(2)
    made = export_torch(model, (x, x, [model.scale]), target=TARGET)
    given = x * 3, x * 5, [x * 7]
    assert torch.equal(made(*given), model(*given))


class Fed(nn.Module):
    """Takes tensors in any nesting."""

    def forward(self, batch: dict[str, Any], scale: float) -> tuple[Tensor, None, list[Tensor]]:
        """Return them in another."""
        first, (second,) = batch["pair"], batch["more"]
        return first * scale, None, [second + 1]


def test_it_is_called_as_the_model_is() -> None:
    """Tensors nested as the model takes and returns them; `torch.allclose` as for the model."""
    x, y = torch.randn(2, 3), torch.arange(4)
    made = export_torch(Fed(), ({"pair": x, "more": [y]}, 2.0), target=TARGET)
    first, nothing, (second,) = made({"pair": x, "more": [y]}, 2.0)
    assert torch.equal(first, x * 2)
    assert nothing is None
    assert torch.equal(second, y + 1)
    with pytest.raises(InputMismatch, match=r"3\.0 is given where 2\.0 was"):
        made({"pair": x, "more": [y]}, 3.0)
    # Arrays are for who has no PyTorch: one by one, and so are the results.
    arrays = made(*(value.numpy() for value in (x, y)))
    assert [type(array) for array in arrays] == [np.ndarray, np.ndarray]
    model = nn.Linear(4, 2)
    exported = export_torch(model, (torch.randn(3, 4),), target=TARGET)
    x = torch.randn(3, 4)
    assert torch.allclose(exported(x), model(x), atol=1e-5)


def test_repr_is_three_lines() -> None:
    """What it is, takes and returns; many inputs are counted, not listed."""
    module, x, count = _keeper()
    made = export_torch(module, (x,), {"count": count}, target=TARGET)
    assert repr(made).splitlines() == [
        f"forward: StableHLO 1.0.0, {len(made.artifact):,} bytes, 4 weights of 140 bytes",
        "  takes   x: float32[3,4], count: int64[3]",
        "  returns y: float32[3,5], both.0: int64[3]",
    ]

    class Many(nn.Module):
        def forward(self, parts: list[Tensor]) -> Tensor:
            return torch.stack(parts)

    many = export_torch(Many(), ([torch.ones(1)] * 11,), target=TARGET)
    assert repr(many).splitlines()[1].endswith("parts_7: float32[1], and 3 more")


class Named(nn.Module):
    """Has a weight of any name, takes and returns it under that name."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name
        self.register_parameter(name, nn.Parameter(torch.ones(3)))

    def forward(self, given: dict[str, Tensor]) -> dict[str, Tensor]:
        """Multiply."""
        return {self.name: given[self.name] * getattr(self, self.name)}


NAMES = ("a\x1b[31mb", "a\tb", "a\u202eb", "重み", "a/b", "a\\b", "<b>", "%s{0}", "w" * 10_000)


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_names_with_any_character(name: str, tmp_path: Path) -> None:
    """Weights keep theirs in a file of safetensors; what is shown is three printable lines."""
    x = torch.arange(3.0)
    made = export_torch(Named(name), ({name: x},), target=TARGET)
    assert all(line.isprintable() for line in repr(made).splitlines())
    assert len(repr(made).splitlines()) == 3
    made.save(tmp_path / "m", safetensors=True)
    loaded = ExportedArtifact.load(tmp_path / "m")
    for one in (made, loaded):
        assert list(one.weights) == [name]
        assert torch.equal(one({name: x})[name], x)


@pytest.mark.parametrize("name", ["a/b", "a\\b"])
def test_names_that_are_no_files(name: str, tmp_path: Path) -> None:
    """Say how the weights can be saved, and nothing is left behind."""
    made = export_torch(Named(name), ({name: torch.ones(3)},), target=TARGET)
    with pytest.raises(ExportFailed, match="save the weights as safetensors"):
        made.save(tmp_path / "m")
    assert list(tmp_path.iterdir()) == []


def test_the_one_name_that_safetensors_keep(tmp_path: Path) -> None:
    """Readers would take it for text about the file."""
    made = export_torch(Named("__metadata__"), ({"__metadata__": torch.ones(3)},), target=TARGET)
    with pytest.raises(ExportFailed, match=r"'__metadata__'; save the weights as \.npy"):
        made.save(tmp_path / "m", safetensors=True)
    made.save(tmp_path / "m")
    assert list(ExportedArtifact.load(tmp_path / "m").weights) == ["__metadata__"]


@pytest.mark.parametrize("name", ["a\nb", "a\"b'c", "class", "a\0b", "a\udcffb"], ids=ascii)
def test_names_that_pytorch_cannot_write(name: str) -> None:
    """It writes them into code: one line says so."""
    with pytest.raises(ExportFailed, match=r"names of weights and keys.*rename") as caught:
        export_torch(Named(name), ({name: torch.ones(3)},), target=TARGET)
    assert str(caught.value).isprintable()


def test_linear_algebra_needs_no_dialect_of_jax() -> None:
    """JAX marks such calls with how to shard them; here nothing is sharded."""

    class Factors(nn.Module):
        def forward(self, x: Tensor) -> Any:
            return torch.linalg.qr(x)

    made = export_torch(Factors(), (torch.randn(3, 4),), target=TARGET)
    assert [r.name for r in made.results] == ["Q", "R"]
    assert b"sdy" not in made.artifact.data
