"""Models of the zoo by the backend torch_mlir: weights stay beside the artifact, not in it."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch

from compat_tests.helpers.lossy import LOSSES, Everything
from portable.exporters import ArgumentKind, ExportFailed, export_torch
from portable.runtime.executors import Executor, find_executor
from portable.version import Version
from tools.zoo import DYNAMIC, STATIC, Model

pytestmark = pytest.mark.filterwarnings("ignore")

LOWEST = Version(0, 9, 0)
NEAR = 2e-6
OPTIONS: dict[str, Any] = {"target": str(LOWEST), "backend": "torch_mlir", "allow": ["exact"]}
# The others are in docs/model_zoo.md.
CHOSEN = {"mlp", "lenet", "lstm", "causal", "text", "beam", "fake_quantized"}
MODELS = [model for model in STATIC if model.name in CHOSEN]


@pytest.fixture(scope="module")
def executor() -> Iterator[Executor]:
    """One XLA for all models."""
    with find_executor("pjrt") as opened:
        yield opened


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_static(model: Model, executor: Executor) -> None:
    """At 0.9.0; what the artifact computes is eager's, dtypes included."""
    inputs = model.inputs()
    made = export_torch(
        model.module(), inputs, target=str(LOWEST), backend="torch_mlir", allow=["exact"]
    )
    assert made.artifact.version == LOWEST
    with torch.no_grad():
        eager = model.module()(*inputs)
    wanted = [tensor.numpy() for tensor in (eager if isinstance(eager, tuple) else (eager,))]
    got = made(*(i.numpy() for i in inputs), executor=executor)
    assert [array.dtype for array in got] == [array.dtype for array in wanted]
    for mine, theirs in zip(got, wanted, strict=True):
        assert np.abs(mine.astype(np.float64) - theirs).max() <= NEAR


def test_names_dtypes_and_places(executor: Executor) -> None:
    """Of weights, inputs and results; unused inputs stay, and the module is as it was."""
    module = Everything().eval()
    before = {name: value.clone() for name, value in module.state_dict().items()}
    made = export_torch(module, module.inputs(), **OPTIONS)
    told = [(a.name, a.kind, a.shape, a.dtype) for a in made.arguments if a.name in _READ]
    assert told == [
        ("first", ArgumentKind.PARAMETER, (4, 4), "float32"),
        ("second", ArgumentKind.PARAMETER, (4, 4), "float32"),
        ("gain", ArgumentKind.PARAMETER, (4,), "int64"),
        ("lifted_tensor_0", ArgumentKind.CONSTANT, (4,), "float32"),
        ("x", ArgumentKind.INPUT, (2, 4), "float32"),
        ("y", ArgumentKind.INPUT, (2, 4), "float32"),
        ("count", ArgumentKind.INPUT, (4,), "int64"),
    ]
    assert [(r.name, r.dtype) for r in made.results] == [
        ("0.values", "float32"),
        ("0.indices", "int64"),
        ("1", "int64"),
    ]
    got, wanted = made(*(i.numpy() for i in module.inputs()), executor=executor), module.wanted()
    assert [array.dtype for array in got] == [array.dtype for array in wanted]
    assert np.allclose(got[0], wanted[0], atol=NEAR)
    assert np.array_equal(got[1], wanted[1])
    assert np.array_equal(got[2], wanted[2])
    assert all(torch.equal(before[name], value) for name, value in module.state_dict().items())


_READ = {"first", "second", "gain", "lifted_tensor_0", "x", "y", "count"}


@pytest.mark.parametrize("case", LOSSES)
def test_what_would_be_lost_is_refused(case: str) -> None:
    """By its name, in one line."""
    module, says = LOSSES[case]
    with pytest.raises(ExportFailed) as caught:
        export_torch(module, (torch.randn(3, 4),), **OPTIONS)
    assert says in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


def test_open_dimensions_are_refused() -> None:
    """With the backend that can."""
    model = DYNAMIC[0]
    with pytest.raises(ExportFailed, match="torchax"):
        export_torch(
            model.module(),
            model.inputs(),
            target="1.0.0",
            backend="torch_mlir",
            dynamic_shapes=model.dynamic_shapes(),
        )


def test_what_it_cannot_lower_is_one_line() -> None:
    """Whatever the compiler printed."""
    model = next(model for model in STATIC if model.name == "unet")
    with pytest.raises(ExportFailed, match="torch_mlir cannot lower") as caught:
        export_torch(model.module(), model.inputs(), target="1.0.0", backend="torch_mlir")
    assert len(str(caught.value).splitlines()) == 1
