"""A hunt finds what is wrong and nothing else: planted defects, and Releases that are right."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Self, TypeVar

import pytest

import portable
from portable.artifact import Artifact, ArtifactLike
from portable.cli import main
from portable.fuzz.campaign import Campaign
from portable.fuzz.hunting import Hunt
from portable.matrix import Item, Run, Store
from portable.matrix.batch import Observation
from portable.releases import Release, find_release
from portable.runtime.environments import Environments
from portable.runtime.executors import Executor
from portable.runtime.executors.executor import Executable
from portable.runtime.executors.tensors import Array

pytestmark = pytest.mark.old_releases

NEWEST, OLDER = "jaxlib 0.12.0.1", "jaxlib 0.5.3"
# Ops that are exact, so that no rounding is in the way.
EXACT = ("maximum", "minimum", "select", "reverse", "transpose", "concatenate", "negate", "compare")
# What is computed instead of what: an op that is miscompiled.
PLANTED = {
    "maximum": ("stablehlo.maximum", "stablehlo.minimum"),
    "negate": ("stablehlo.negate", "stablehlo.optimization_barrier"),
    "compare": (" EQ, ", " NE, "),
    "reverse": ("dims = [0, 1]", "dims = [1]"),
}


class Miscompiling:
    """An Executor that executes another program than it was given.

    Args:
        executor: What executes it.
        defect: A text in programs, and what is there instead.
    """

    def __init__(self, executor: Executor, defect: tuple[str, str]) -> None:
        self._executor = executor
        self._defect = defect

    def compile(self, artifact: ArtifactLike) -> Executable:
        """Compile the other program."""
        artifact = Artifact.of(artifact)
        text = portable.pinning.program.text(artifact)
        changed = text.replace(*self._defect)
        if changed != text and artifact.version is not None:
            artifact = portable.serialize(changed, artifact.version, locations="strip")
        return self._executor.compile(artifact)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._executor.close()


class PlantedHunt(Hunt):
    """A hunt in which one Release has a defect."""

    defect = ("", "")

    def _executor(self, release: Release, name: str = "") -> Executor:
        executor = super()._executor(release, name)
        return executor if name else Miscompiling(executor, self.defect)  # type: ignore[return-value]  # as far as it is used

    def _run(self, on: str = "") -> Run:
        run = super()._run(on)
        return run if on else PlantedRun(run, self)  # type: ignore[return-value]  # as far as it is used


H = TypeVar("H", bound=Hunt)


class PlantedRun:
    """What runs the matrix of such a hunt.

    Args:
        run: What would run it.
        hunt: The hunt.
    """

    def __init__(self, run: Run, hunt: PlantedHunt) -> None:
        self._run = run
        self._hunt = hunt

    def computed(
        self, items: Sequence[Item], releases: Sequence[Release]
    ) -> Iterator[tuple[Item, Release, Observation, list[Array]]]:
        """Have the Release execute what it makes of the programs."""
        changed = {}
        for item in items:
            text = portable.pinning.program.text(item.artifact())
            other = text.replace(*self._hunt.defect)
            if other != text and item.claimed is not None:
                artifact = portable.serialize(other, item.claimed, locations="strip")
                path = Path(item.path).with_suffix(".other.bc")
                artifact.save(path)
                changed[item.name] = replace(item, path=str(path), digest=artifact.digest)
        made = [changed.get(item.name, item) for item in items]
        for item, (_, *rest) in zip(items, self._run.computed(made, releases), strict=True):
            yield item, *rest  # type: ignore[misc]  # the four that there were


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """Return what was observed: nothing."""
    with Store(tmp_path / "observations.sqlite") as opened:
        yield opened


def hunt(kind: type[H], store: Store, *names: str, only: Sequence[str] = EXACT) -> H:
    """Return a hunt on some Releases, in the directory of the store."""
    return kind(
        Campaign(Path(store.path).parent, 0),
        [find_release(name) for name in names],
        find_release(NEWEST),
        store,
        Environments(),
        only=only,
    )


@pytest.mark.parametrize("op", PLANTED)
def test_a_planted_defect_is_found_reduced_and_told_apart(op: str, store: Store) -> None:
    """Of each op that is miscompiled there is one cause, of a program of that op alone."""
    made = hunt(PlantedHunt, store, NEWEST, only=[op, "select", "concatenate"])
    made.defect = PLANTED[op]
    done = made.round(0)
    causes = list(made.campaign.causes())
    assert causes
    assert not done.unconfirmed
    for cause in causes:
        assert [one.partition("(")[0] for one in cause.ops] == [op]
        assert cause.releases == (NEWEST,)
        assert not cause.explained


def test_nothing_is_found_where_nothing_is_wrong(store: Store) -> None:
    """An old Release and the newest compute the same of exact ops."""
    made = hunt(Hunt, store, OLDER, NEWEST)
    done = made.round(0)
    assert (done.causes, done.unconfirmed) == ({}, {})
    assert done.judged > 20
    assert min(done.executed.values()) > 20


def test_a_hunt_that_was_killed_loses_nothing(tmp_path: Path, store: Store) -> None:
    """What was observed is in the store: the same round again executes nothing."""
    made = hunt(Hunt, store, NEWEST)
    first = made.round(0)
    made._environments = Environments(tmp_path / "none", offline=True)
    assert made.round(0).record() == first.record()


def test_what_the_interpreter_lacks_is_judged_by_the_newest(store: Store) -> None:
    """Ops as `dot` and `cholesky`: two Releases compute the same."""
    made = hunt(Hunt, store, "jaxlib 0.10.2", NEWEST, only=["dot", "cholesky", "transpose"])
    done = made.round(0)
    assert {"dot", "cholesky"} <= done.covers.keys()
    assert done.computed["jaxlib 0.10.2: dot"] > 0
    assert (done.causes, done.unconfirmed) == ({}, {})


def test_a_cluster_runs_the_programs(store: Store) -> None:
    """A Dask scheduler with a worker of its own, as for a matrix."""
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        made = hunt(Hunt, store, NEWEST, only=["add"])
        made._cluster = client.get_executor()
        assert made.round(0).executed[NEWEST] > 20


def test_the_page_is_written_after_each_round(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`portable fuzz hunt`, again and again into one directory."""
    words = ["fuzz", "hunt", "--for", "jaxlib==0.12.0.1", "--hours", "1e-9", "-q"]
    for _ in range(2):
        assert main([*words, "--only", "add", "-o", str(tmp_path / "hunted")]) == 0
    assert "0 causes of differences" in capsys.readouterr().out
    assert main(["fuzz", "hunt", "-o", str(tmp_path / "hunted")]) == 2
    assert main(["fuzz", "hunt", "--for", "tensorflow==2.16.2", "-o", str(tmp_path / "x")]) == 2
    nowhere = ["--cluster", "tcp://127.0.0.1:9", "-o", str(tmp_path / "never")]
    assert main([*words, *nowhere]) == 2
    assert not (tmp_path / "never").exists()
    said = capsys.readouterr().err.splitlines()
    assert "cannot reach a Dask scheduler" in said[2]
    assert "--for is what hunt requires" in said[0]
    assert "no jaxlib among the consumers" in said[1]
