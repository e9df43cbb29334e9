"""Every model of the zoo, by the default backend, at the lowest target, against PyTorch eager."""

import pytest
import torch

from portable.bytecode import read
from portable.exporters import ExportedArtifact, export_torch
from portable.features import analyze
from portable.prediction import predict
from portable.releases.assumption import assumptions
from portable.runtime.executors import Executor
from portable.verdict import Stage
from portable.version import Version
from tools.zoo import DYNAMIC, STATIC, Model

# PyTorch warns of its own use of what it deprecates.
pytestmark = pytest.mark.filterwarnings(
    "ignore::FutureWarning",
    "ignore::DeprecationWarning",
    "ignore:The tensor attributes:UserWarning",
)

LOWEST = Version(0, 9, 0)
NEAR = 2e-6
ASSUMED = [one.name for one in assumptions()]
RELEASES = (
    *("jaxlib 0.5.3", "jaxlib 0.10.2", "jaxlib 0.12.0.1", "tensorflow 2.21.0"),
    *("torch_xla 2.9.0", "iree-base-compiler 3.13.0"),
)


def _export(model: Model) -> ExportedArtifact:
    return export_torch(
        model.module(),
        model.inputs(),
        target=str(LOWEST),
        dynamic_shapes=model.dynamic_shapes(),
        allow=["exact"],
    )


def _check(model: Model, exported: ExportedArtifact, executor: Executor, batch: int) -> None:
    inputs = model.inputs(batch)
    with torch.no_grad():
        eager = model.module()(*inputs)
    got = exported(*inputs, executor=executor)
    assert isinstance(got, tuple) is isinstance(eager, tuple)
    wanted = eager if isinstance(eager, tuple) else (eager,)
    for mine, theirs in zip(got if isinstance(got, tuple) else (got,), wanted, strict=True):
        assert (mine.dtype, mine.shape) == (theirs.dtype, theirs.shape)
        if theirs.dtype.is_floating_point:
            assert (mine - theirs).abs().max() <= NEAR
        else:
            assert torch.equal(mine, theirs)


@pytest.mark.parametrize("model", STATIC, ids=lambda model: model.name)
def test_static(model: Model, executor: Executor) -> None:
    """At 0.9.0, every byte of it; what it computes is eager's, dtypes included.

    What each kind of consumer makes of it is known, but for what its values decide.
    """
    exported = _export(model)
    for release in RELEASES:
        verdict = predict(exported.artifact, release, stage=Stage.EXECUTE, assume=ASSUMED)
        assert verdict.holds(Stage.EXECUTE) is not None, verdict.not_known
    assert exported.artifact.version == LOWEST
    assert analyze(read(exported.artifact.data)).required.version == LOWEST
    _check(model, exported, executor, model.batch)


@pytest.mark.parametrize("model", DYNAMIC, ids=lambda model: model.name)
def test_dynamic(model: Model, executor: Executor) -> None:
    """One artifact at 0.9.0 for every size of the batch, also those it was not traced with."""
    exported = _export(model)
    assert exported.artifact.version == LOWEST
    assert None in exported.signature.results[0].shape
    for batch in (model.batch, 7):
        _check(model, exported, executor, batch)
