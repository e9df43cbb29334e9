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
    from portable.policy import Rules
    from portable.releases import Release
    from portable.verdict import Stage, Verdict

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
        stage: Stage | str | None = None,
    ) -> tuple[Verdict, ...]:
        """Predict a Verdict for every consumer, and fail the test if one is not compatible.

        Args:
            what: An artifact, its bytes or its path, or that of a container with artifacts, which
                all have to be read; or a function. A function is called with
                `arguments` and returns one of these; one that jax has jitted is exported with
                them by `jax.export` instead, and its artifact is what counts.
            consumers: Specifiers, `installed`, or consumer sets of the policy, which is looked for
                from pytest's root upwards; None means those of the policy's rules, which hold then.
            arguments: What to call or to export the function with.
            pin: Pin each artifact for the consumers before it is judged, as the exporter does that
                ends in `portable.pin`; a failure says which Version that was.
            stage: How far every consumer has to get: an obstacle at a later Stage counts too, what
                is not known up to this one is no pass. None is that of the policy's rules, where
                consumers are None too, else `decode`.

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
        stage: Stage | str | None = None,
    ) -> tuple[Verdict, ...]:
        __tracebackhide__ = True
        from portable.escaping import line
        from portable.verdict import Stage

        rules, releases = _wanted(consumers, root)
        upto = rules.stage if stage is None else Stage.parse(str(stage))
        artifacts = _artifacts(what, arguments)
        if pin:
            artifacts = _pinned(artifacts, releases)
        verdicts = _verdicts(artifacts, releases, rules, upto)
        bad = [one for one in verdicts if one.holds(upto) is not True]  # not known is no pass
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


def _wanted(consumers: str | Sequence[str] | None, root: Path) -> tuple[Rules, tuple[Release, ...]]:
    from portable.policy import Rules, find_policy, load_policy
    from portable.releases import NoTarget, matching_releases

    requests = (consumers,) if isinstance(consumers, str) else consumers
    sets: Mapping[str, Sequence[str]] = {}
    rules = Rules()
    if requests is None or any(request.startswith("@") for request in requests):
        policy = load_policy(find_policy(root))
        sets = policy.consumers
        if requests is None:
            rules, requests = policy.rules, policy.rules.consumers
    if not requests:
        raise NoTarget("no consumers in the call or the policy")
    return rules, tuple(matching_releases(*requests, consumers=sets))


def _verdicts(
    artifacts: Sequence[Artifact], releases: tuple[Release, ...], rules: Rules, stage: Stage
) -> tuple[Verdict, ...]:
    from portable.prediction import examine, predict_all

    given = rules.provided_custom_calls, rules.devices
    subjects = [examine(one).providing(*given) for one in artifacts]
    return tuple(
        one
        for each in subjects
        for one in predict_all(each, releases, stage=stage, assume=rules.assume)
    )


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
