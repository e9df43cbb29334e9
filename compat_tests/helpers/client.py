"""A program of a user, over the whole of `import portable`: checked by mypy --strict, and run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import portable

if TYPE_CHECKING:
    from pathlib import Path

    from portable import ArtifactLike, Program, Verdict, Version

CONSUMERS = ("jaxlib>=0.5", "tensorflow>=2.18")


def ship(program: Program, path: Path) -> portable.Pinned:
    """Write an artifact for the consumers, or say what is in the way and go no lower."""
    try:
        pinned = portable.pin(program, *CONSUMERS, allow=["exact"] if not path.parent else ())
    except portable.NotExpressible as error:
        needed: Version | None = error.minimum
        raise SystemExit(
            f"needs {needed}: {[feature.name for feature in error.features]}"
        ) from error
    pinned.artifact.save(path)
    return pinned


def judge(artifact: ArtifactLike) -> dict[str, bool | None]:
    """Return what becomes of an artifact on every consumer: predicted, and observed here."""
    releases = portable.releases.matching_releases(*CONSUMERS)
    verdicts: list[Verdict] = [portable.predict(artifact, release) for release in releases]
    verdicts.append(portable.observe(artifact, timeout=120))
    return {verdict.consumer: verdict.holds(portable.Stage.DECODE) for verdict in verdicts}


def describe(program: Program, artifact: ArtifactLike) -> list[str]:
    """Return what there is to know of a program and its artifact."""
    found: portable.Inspection = portable.inspect(artifact)
    lowest: portable.Minimum = portable.minimum(program)
    way: portable.Explanation = portable.explain(program, "0.9.0")
    target: portable.Target = portable.resolve_target(*CONSUMERS, "180d")
    promise: portable.Window = portable.window(artifact, "jaxlib 0.10.2")
    module: portable.Module = portable.deserialize(artifact)
    needs = found.required
    return [
        f"claims {found.claimed}, needs {needs.version if needs else None}",
        f"lowest {lowest.version}: {', '.join(feature.name for feature in lowest.features)}",
        f"to {way.target}: {way.reachable}, {[feature.workaround for feature in way.blockers]}",
        f"target {target.version} ({target.confidence})",
        f"readable until {promise.readable_until.year}: {promise.readable}",
        str(module),
    ]


def compare(program: Program, artifact: ArtifactLike) -> portable.Verification:
    """Run both, and compare what they compute."""
    newest = portable.serialize(program, "current")
    older = portable.retarget(newest, "1.0.0", locations=portable.Locations.STRIP)
    outputs = portable.run(older, portable.runtime.executors.random_inputs(
        portable.runtime.executors.signature(older), seed=0
    ))  # fmt: skip
    assert all(output.size for output in outputs)
    return portable.verify(artifact, newest, tolerance=portable.Tolerance(ulps=2))


def gate(folder: Path) -> bool:
    """Hold a folder against a policy."""
    policy = portable.policy.parse_policy({"consumers": {"ours": list(CONSUMERS)}})
    result: portable.policy.GateResult = portable.policy.gate(folder, policy)
    items = portable.matrix.collect(folder)
    return result.passed and len(items) == len(result.files)
