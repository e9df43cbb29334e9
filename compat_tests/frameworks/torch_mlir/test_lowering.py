"""Models of the zoo by the backend torch_mlir: weights stay beside the artifact, not in it."""

from collections.abc import Iterator

import numpy as np
import pytest
import torch

from portable.executors import Executor, find_executor
from portable.exporters import ExportFailed, export_torch
from portable.version import Version
from tools.zoo import DYNAMIC, STATIC, Model

pytestmark = pytest.mark.filterwarnings("ignore")

LOWEST = Version(0, 9, 0)
NEAR = 2e-6
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
    got = made(*inputs, executor=executor)
    assert [array.dtype for array in got] == [array.dtype for array in wanted]
    for mine, theirs in zip(got, wanted, strict=True):
        assert np.abs(mine.astype(np.float64) - theirs).max() <= NEAR


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
