"""A hunt finds what is wrong and nothing else: planted defects, and Releases that are right."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NoReturn, TypeVar

import numpy as np
import pytest

from compat_tests.helpers.planted import DEFECTS, PlantedHunt
from compat_tests.helpers.thorough import some
from portable.cli import main
from portable.fuzz import generate, hunting
from portable.fuzz.campaign import Campaign, Progress
from portable.fuzz.hunting import Hunt
from portable.matrix import Store
from portable.releases import find_release
from portable.runtime.environments import EnvironmentFailed, Environments, Recipe

pytestmark = pytest.mark.old_releases

NEWEST, OLDER = "jaxlib 0.12.0.1", "jaxlib 0.5.3"
# Ops that are exact, so that no rounding is in the way.
EXACT = ("maximum", "minimum", "select", "reverse", "transpose", "concatenate", "negate", "compare")

NEGATED_AND_REVERSED = """
func.func @main(%a: tensor<2x2xi32>) -> (tensor<2x2xi32>, tensor<2x2xi32>) {
  %negated = stablehlo.negate %a : tensor<2x2xi32>
  %reversed = stablehlo.reverse %a, dims = [0, 1] : tensor<2x2xi32>
  return %negated, %reversed : tensor<2x2xi32>, tensor<2x2xi32>
}
"""

H = TypeVar("H", bound=Hunt)


class _NoMore(Environments):
    """The environments that there are: it makes none, as of Releases that date what is found."""

    def _make(self, recipe: Recipe) -> NoReturn:
        raise EnvironmentFailed(f"{recipe.name} is not here")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """Return what was observed: nothing."""
    with Store(tmp_path / "observations.sqlite") as opened:
        yield opened


def hunt(kind: type[H], store: Store, *names: str, only: Sequence[str] = EXACT) -> H:
    """Return a hunt on some Releases, in the directory of the store."""
    releases = [find_release(name) for name in names]
    for release in releases:
        Environments().get(release, to_execute=True)
    return kind(
        Campaign(Path(store.path).parent, 0),
        releases,
        find_release(NEWEST),
        store,
        _NoMore(),
        only=only,
    )


@pytest.mark.parametrize("op", some(DEFECTS, each=4))
def test_a_planted_defect_is_found_reduced_and_told_apart(op: str, store: Store) -> None:
    """In the first round, and what is left of it is five ops at most, those of bodies too.

    A convolution has defects of its own; what was planted is in what no other explains.
    """
    made = hunt(PlantedHunt, store, NEWEST, only=[op, "select", "concatenate"])
    made.defects = [op]
    assert not made.round(0).unconfirmed
    causes = [cause for cause in made.campaign.causes() if not (cause.explained or cause.foreseen)]
    assert any(re.search(DEFECTS[op][0], cause.program) for cause in causes)
    for cause in causes:
        assert op in {one.partition("(")[0] for one in cause.ops}
        assert len(cause.ops) <= 5
        assert cause.releases == (NEWEST,)


def test_a_cause_does_not_hide_that_of_another_release(store: Store) -> None:
    """In one program two Releases compute something else, each by an op of its own."""
    made = hunt(PlantedHunt, store, OLDER, NEWEST)
    planted = {OLDER: "negate", NEWEST: "reverse"}
    made.others = {release: [op] for release, op in planted.items()}
    numbers = np.array([[1, 2], [3, 4]], np.int32)
    program = dataclasses.replace(generate(0, judged=True), text=NEGATED_AND_REVERSED)
    find = hunting._Find(program, (numbers,), "0/0", "another integer", made.releases)
    made._explain(find, Progress())
    causes = made.campaign.causes()
    assert {cause.releases: cause.ops for cause in causes} == {
        (release,): (f"{op}(i32)",) for release, op in planted.items()
    }


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
    assert "--for is required by hunt" in said[0]
    assert "no jaxlib among the consumers" in said[1]
