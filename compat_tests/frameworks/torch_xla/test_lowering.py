"""The backend torch_xla: what it keeps, what it refuses, and what it leaves alone."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch_xla.stablehlo import StableHLOGraphModule

from compat_tests.helpers.lossy import LOSSES, Everything
from portable.exporters import ArgumentKind, ExportedArtifact, ExportFailed, export_torch
from portable.runtime.executors import Executor, find_executor
from portable.version import Version
from tools.zoo import DYNAMIC, STATIC, Model

pytestmark = pytest.mark.filterwarnings("ignore")

LOWEST = Version(0, 9, 0)
NEAR = 2e-6
OPTIONS: dict[str, Any] = {"target": str(LOWEST), "backend": "torch_xla", "allow": ["exact"]}
# The others are in docs/model_zoo.md.
CHOSEN = {"mlp", "lenet", "lstm", "causal", "text", "beam", "indexing", "fake_quantized"}
MODELS = [model for model in STATIC if model.name in CHOSEN]


@pytest.fixture(scope="module")
def executor() -> Iterator[Executor]:
    """One XLA for all models; not that of torch_xla."""
    with find_executor("pjrt") as opened:
        yield opened


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_static(model: Model, executor: Executor) -> None:
    """At 0.9.0; what the artifact computes is eager's, dtypes included."""
    inputs = model.inputs()
    made = export_torch(model.module(), inputs, **OPTIONS)
    assert made.artifact.version == LOWEST
    with torch.no_grad():
        eager = model.module()(*inputs)
    wanted = [tensor.numpy() for tensor in (eager if isinstance(eager, tuple) else (eager,))]
    got = made(*(i.numpy() for i in inputs), executor=executor)
    assert [array.dtype for array in got] == [array.dtype for array in wanted]
    for mine, theirs in zip(got, wanted, strict=True):
        assert np.abs(mine.astype(np.float64) - theirs).max() <= NEAR


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.float64], ids=str)
def test_rows_that_are_masked_as_a_whole(dtype: torch.dtype, executor: Executor) -> None:
    """Attention to nothing is zero, as in PyTorch; torch_xla by itself makes NaN of it."""

    class Masked(nn.Module):
        def forward(self, x: Tensor, mask: Tensor) -> Tensor:
            return nn.functional.scaled_dot_product_attention(x, x, x, attn_mask=mask)

    torch.manual_seed(0)
    x, mask = torch.randn(1, 1, 3, 4).to(dtype), torch.ones(3, 3, dtype=torch.bool)
    mask[1] = False
    wanted = Masked()(x, mask).numpy()
    assert not wanted[0, 0, 1].any()
    (got,) = export_torch(Masked(), (x, mask), **OPTIONS)(x, mask, executor=executor)
    assert got.dtype == wanted.dtype
    assert not got[0, 0, 1].any()
    assert np.abs(got.astype(np.float64) - wanted).max() <= (2e-3 if dtype.itemsize < 4 else NEAR)


def test_names_dtypes_and_places(tmp_path: Path, executor: Executor) -> None:
    """Of weights, inputs and results; torch_xla loads the directory and computes the same."""
    module = Everything().eval()
    made = export_torch(module, module.inputs(), **OPTIONS)
    told = {a.name: (a.kind, a.shape, a.dtype) for a in made.arguments}
    assert told == {
        "lifted_tensor_0": (
            ArgumentKind.PARAMETER,
            (4,),
            "float32",
        ),  # torch_xla makes no difference
        "first": (ArgumentKind.PARAMETER, (4, 4), "float32"),
        "second": (ArgumentKind.PARAMETER, (4, 4), "float32"),
        "gain": (ArgumentKind.PARAMETER, (4,), "int64"),
        "x": (ArgumentKind.INPUT, (2, 4), "float32"),
        "y": (ArgumentKind.INPUT, (2, 4), "float32"),
        "count": (ArgumentKind.INPUT, (4,), "int64"),
    }
    assert [(r.name, r.dtype) for r in made.results] == [
        ("0.values", "float32"),
        ("0.indices", "int64"),
        ("1", "int64"),
    ]
    made.save(tmp_path / "model")
    loaded = ExportedArtifact.load(tmp_path / "model")
    theirs = StableHLOGraphModule.load(str(tmp_path / "model"))
    (first, second), third = theirs(*(tensor.to("xla") for tensor in module.inputs()))
    wanted = module.wanted()
    for got in (
        made(*(i.numpy() for i in module.used()), executor=executor),
        loaded(*(i.numpy() for i in module.used()), executor=executor),
        [tensor.cpu().numpy() for tensor in (first, second, third)],
    ):
        assert np.allclose(got[0], wanted[0], atol=NEAR)
        assert [array.dtype for array in got] == [array.dtype for array in wanted]
        assert np.array_equal(got[1], wanted[1])
        assert np.array_equal(got[2], wanted[2])


@pytest.mark.parametrize("case", LOSSES)
def test_what_would_be_lost_is_refused(case: str) -> None:
    """By its name, in one line; torch_xla itself drops the changes of buffers."""
    module, says = LOSSES[case]
    with pytest.raises(ExportFailed) as caught:
        export_torch(module, (torch.randn(3, 4),), **OPTIONS)
    assert says in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


def test_what_it_cannot_lower_is_one_line() -> None:
    """Open dimensions, ops that it leaves to PyTorch, inputs by name."""

    class ByName(nn.Module):
        def forward(self, x: Tensor, *, y: Tensor) -> Tensor:
            return x + y

    class Factors(nn.Module):
        def forward(self, x: Tensor) -> Any:
            return torch.linalg.qr(x)

    model, x = DYNAMIC[0], torch.ones(2, 2)
    tries: tuple[tuple[Any, ...], ...] = (
        (model.module(), model.inputs(), None, model.dynamic_shapes()),
        (Factors(), (x,), None, None),
        (ByName(), (x,), {"y": x}, None),
    )
    for module, args, kwargs, shapes in tries:
        with pytest.raises(ExportFailed, match="torch_xla cannot lower") as caught:
            export_torch(module, args, kwargs, dynamic_shapes=shapes, **OPTIONS)
        assert len(str(caught.value).splitlines()) == 1


def test_the_module_and_the_program_stay_as_they_were() -> None:
    """The caller's ExportedProgram too: what it returns, and how that is nested."""
    module = Everything().eval()
    inputs = module.inputs()
    before = {name: value.clone() for name, value in module.state_dict().items()}
    program = torch.export.export(module, inputs)
    tree, code = program.call_spec.out_spec, program.graph_module.code
    first = export_torch(program, locations="strip", **OPTIONS)
    assert program.call_spec.out_spec == tree
    assert program.graph_module.code == code
    assert all(torch.equal(before[name], value) for name, value in module.state_dict().items())
    assert isinstance(program.module()(*inputs)[0], torch.return_types.max)
    again = export_torch(program, locations="strip", **OPTIONS)
    assert first.artifact.data == again.artifact.data


# In a process that has not imported torch_xla, as this one has.
FRESH = """
import warnings
warnings.simplefilter("ignore")
import torch
from portable.exporters import export_torch
from tools.zoo import STATIC

pytorchs = torch.nn.GRU
options = {"target": "0.9.0", "backend": "torch_xla", "allow": ["exact"]}
export_torch(torch.nn.Linear(3, 4), (torch.ones(2, 3),), **options)
assert torch.nn.GRU is pytorchs, torch.nn.GRU
(gru,) = (model for model in STATIC if model.name == "gru")
module, inputs = gru.module(), gru.inputs()
made = export_torch(module, inputs, **options)
with torch.no_grad():
    assert torch.allclose(made(*inputs), module(*inputs), atol=2e-6)
"""


def test_grus_after_other_models() -> None:
    """torch_xla puts a GRU of its own in the place of PyTorch's; the backend takes that back."""
    root = Path(__file__).parents[3]
    command = [sys.executable, "-c", FRESH]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_gru_of_torch_xla_is_named() -> None:
    """Where the caller imported torch_xla first: torch.export cannot trace it."""
    model = nn.Sequential(nn.GRU(3, 4))
    assert type(model[0]).__module__ == "torch_xla.experimental.gru"
    with pytest.raises(ExportFailed, match=r"'0' is the GRU that torch_xla.*_orig"):
        export_torch(model, (torch.randn(5, 2, 3),), **OPTIONS)
