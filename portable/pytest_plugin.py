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
    from portable.releases import Release
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
        pin: bool = False,
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
            pin: Pin each artifact for the consumers before it is judged, as the exporter does that
                ends in `portable.pin`; a failure says which Version that was.

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
        pin: bool = False,
    ) -> tuple[Verdict, ...]:
        __tracebackhide__ = True
        releases, artifacts = _releases(consumers, root), _artifacts(what, arguments)
        if pin:
            artifacts = _pinned(artifacts, releases)
        verdicts = _verdicts(artifacts, releases)
        from portable.escaping import line
        from portable.verdict import Stage

        bad = [verdict for verdict in verdicts if not verdict.compatible]  # not known is no pass
        if bad:
            lines = [f"  {v.consumer}: {v.says}: {v.reason}" for v in bad[:_SHOWN]]
            if len(bad) > _SHOWN:
                lines.append(f"  and {len(bad) - _SHOWN} more")
            after = f", pinned for {artifacts[0].version}," if pin else ""
            head = f"not portable{after} to {len(bad)} of {len(verdicts)} consumers"
            head += f" ({bad[0].basis}):"
            if not pin and any(verdict.stage is Stage.WINDOW for verdict in bad):
                lines.append("  judged as it is; pin=True pins it for them first")
            # Of artifacts and policies, whose text is foreign: CI shows what pytest prints.
            pytest.fail("\n".join(map(line, [head, *lines])), pytrace=False)
        return verdicts

    return check


def _releases(consumers: str | Sequence[str] | None, root: Path) -> tuple[Release, ...]:
    from portable.policy import find_policy, load_policy
    from portable.releases import NoTarget, matching_releases

    requests = (consumers,) if isinstance(consumers, str) else consumers
    sets: Mapping[str, Sequence[str]] = {}
    if requests is None or any(request.startswith("@") for request in requests):
        policy = load_policy(find_policy(root))
        sets, requests = policy.consumers, policy.rules.consumers if requests is None else requests
    if not requests:
        raise NoTarget("no consumers in the call or the policy")
    return tuple(matching_releases(*requests, consumers=sets))


def _verdicts(artifacts: Sequence[Artifact], releases: tuple[Release, ...]) -> tuple[Verdict, ...]:
    from portable.prediction import predict_all

    return tuple(one for artifact in artifacts for one in predict_all(artifact, releases))


def _pinned(artifacts: Sequence[Artifact], releases: tuple[Release, ...]) -> list[Artifact]:
    from portable.errors import PortableError
    from portable.pinning.pipeline import pin
    from portable.system.children import call, patience

    try:
        return [
            call(pin, one.data, *releases, timeout=patience(len(one))).artifact for one in artifacts
        ]
    except PortableError as error:
        pytest.fail(f"cannot be pinned for these consumers: {error}", pytrace=False)


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
