"""A pytest plugin: the fixture `assert_portable` for the tests of exporters and their artifacts.

    def test_the_model_reaches_our_consumers(assert_portable):
        assert_portable("model.mlir.bc", ["jaxlib>=0.5", "@serving"])

It loads nothing of the package until a test uses it.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Protocol

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from portable.artifact import Artifact
    from portable.verdict import Verdict

__all__ = ["AssertPortable", "assert_portable"]

_SHOWN = 10


class AssertPortable(Protocol):
    """Assert that consumers read what a function exports, or an artifact."""

    def __call__(
        self,
        what: Callable[..., object] | Artifact | bytes | str | os.PathLike[str],
        consumers: str | Sequence[str] | None = None,
        *,
        arguments: Sequence[object] = (),
    ) -> tuple[Verdict, ...]:
        """Predict a Verdict for every consumer, and fail the test if one is not compatible.

        Args:
            what: An artifact, its bytes or its path, or that of a container with artifacts, which
                all have to be read; or a function. A function is called with
                `arguments` and returns one of these; one that jax has jitted is exported with
                them by `jax.export` instead, and its artifact is what counts.
            consumers: Specifiers, `installed`, or consumer sets of the policy, which is looked for
                from pytest's root upwards; None means those of the policy's rules.
            arguments: What to call or to export the function with.

        Returns:
            The Verdicts.
        """


@pytest.fixture
def assert_portable(request: pytest.FixtureRequest) -> AssertPortable:
    """Return a function that fails the test when a consumer cannot read an artifact."""
    root = request.config.rootpath

    def check(
        what: Callable[..., object] | Artifact | bytes | str | os.PathLike[str],
        consumers: str | Sequence[str] | None = None,
        *,
        arguments: Sequence[object] = (),
    ) -> tuple[Verdict, ...]:
        __tracebackhide__ = True
        verdicts = _verdicts(_artifacts(what, arguments), consumers, root)
        bad = [verdict for verdict in verdicts if not verdict.compatible]  # not known is no pass
        if bad:
            lines = [f"  {v.consumer}: {v.says}: {v.reason}" for v in bad[:_SHOWN]]
            if len(bad) > _SHOWN:
                lines.append(f"  and {len(bad) - _SHOWN} more")
            head = f"not portable to {len(bad)} of {len(verdicts)} consumers ({bad[0].basis}):"
            pytest.fail("\n".join([head, *lines]), pytrace=False)
        return verdicts

    return check


def _verdicts(
    artifacts: Sequence[Artifact], consumers: str | Sequence[str] | None, root: Path
) -> tuple[Verdict, ...]:
    from portable.policy import find_policy, load_policy
    from portable.prediction import predict_all
    from portable.releases import NoTarget, matching_releases

    wants = (consumers,) if isinstance(consumers, str) else consumers
    sets: Mapping[str, Sequence[str]] = {}
    if wants is None or any(want.startswith("@") for want in wants):
        policy = load_policy(find_policy(root))
        sets, wants = policy.consumers, policy.rules.consumers if wants is None else wants
    if not wants:
        raise NoTarget("no consumers in the call or the policy")
    releases = matching_releases(*wants, consumers=sets)
    return tuple(one for artifact in artifacts for one in predict_all(artifact, releases))


def _artifacts(what: Any, arguments: Sequence[object]) -> Sequence[Artifact]:
    from portable.artifact import Artifact, bytes_of
    from portable.containers import artifacts_in

    if callable(what):
        what = _exported(what, arguments) if hasattr(what, "lower") else what(*arguments)
    # What jax.export returns carries its artifact beside its own envelope.
    what = getattr(what, "mlir_module_serialized", what)
    if isinstance(what, Artifact):
        return [what]
    source = what if isinstance(what, (str, os.PathLike)) else bytes_of(what)
    return [artifact for _, artifact in artifacts_in(source)]


def _exported(function: Any, arguments: Sequence[object]) -> Any:
    from jax import export  # the function is jax's, so jax is there

    return export.export(function)(*arguments)
