"""Small files stay small: time, memory and output are linear in the bytes, whatever they hold.

The limits on time are generous, since other things run beside the tests; what is quadratic passes
them by far.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from compat_tests.adversarial.generators.amplification import ARTIFACTS, COUNTED
from compat_tests.adversarial.generators.injection import artifacts
from compat_tests.adversarial.generators.sharing import sharing
from compat_tests.adversarial.measuring import ON_LINUX, measured
from compat_tests.helpers.counting import calls
from compat_tests.helpers.thorough import some
from portable.artifact import Artifact
from portable.bytecode.vhlo import ops
from portable.escaping import json_text
from portable.inspection import inspect
from portable.prediction import blamed, examine, predict_all
from portable.releases import matching_releases

if TYPE_CHECKING:
    from collections.abc import Callable

SIZE = 8000
SMALL, LARGE = 1100, 3300  # nesting is not looked into where less than 1,000 entries nest
CALLS, GROWTH = 20, 1.5
# In the first every form that looks at operations of a name is looked for (427 calls before), and
# NaN is followed through all of them; the others are read a second time, with functions in place.
MORE_CALLS = {
    "operations_of_all_forms": 62,
    "function_called_often": 38,
    "functions_doubled": 30,
    "functions_in_a_chain": 30,
    "function_wide_called_often": 38,
}
SHARING = (30, 90)
# Operations of eight bytes of which each has another form: more is looked up for a byte of them.
CALLS_OF_FORMS, GROWTH_OF_FORMS = 50, 1.3
CALLING = Path(__file__).parents[1] / "data" / "artifacts" / "custom_calls+1.0.0.mlir.bc"
SOME = matching_releases("jaxlib==0.4.13", "jaxlib==0.10.2", "iree-base-compiler==3.4.0")
FLOOR_SECONDS, FLOOR_BYTES = 2.0, 40 << 20
SECONDS, RESIDENT, PRINTED = 15e-6, 100, 100  # for each byte of input


@ON_LINUX
@pytest.mark.parametrize("job", ["inspect json", "predict"])
@pytest.mark.parametrize("name", some(ARTIFACTS, each=5, first=1))
def test_what_reads_an_artifact_is_linear(name: str, job: str, tmp_path: Path) -> None:
    """One child reads the artifact; it ends by itself, within bounds that its size gives."""
    path = tmp_path / "artifact.bc"
    path.write_bytes(ARTIFACTS[name](SIZE))
    size = path.stat().st_size
    taken = measured(job, path)
    assert taken.status in {0, 1}, taken.said
    assert "Traceback" not in taken.said
    assert taken.seconds < FLOOR_SECONDS + SECONDS * size
    assert taken.resident < FLOOR_BYTES + RESIDENT * size
    assert taken.printed < 10_000 + PRINTED * size


WORK: dict[str, Callable[[bytes], object]] = {
    "inspect": lambda data: inspect(data).record(),
    "examine": lambda data: examine.__wrapped__(Artifact.from_bytes(data)),  # past its cache
}


@pytest.mark.parametrize("work", WORK)
@pytest.mark.parametrize("name", some(ARTIFACTS, each=5))
def test_the_work_for_each_byte_is_bounded(name: str, work: str) -> None:
    """So many calls for each byte, and not more of them in an artifact four times as large."""
    do, found = WORK[work], []
    for size in (LARGE, LARGE, SMALL, LARGE):  # the first two read tables and compile patterns
        data = ARTIFACTS[name](size)
        found.append(calls(partial(do, data)) / len(data))
    assert found[-1] < MORE_CALLS.get(name, CALLS)
    assert found[-1] < GROWTH * found[-2]


@pytest.mark.parametrize("name", ops())
def test_what_operations_share_is_not_walked_through_for_each(name: str) -> None:
    """Of every op of VHLO, four times as many on tensors and attributes four times as wide."""
    found = []
    for data in (sharing(name, n) for n in SHARING):
        # A first time may read tables, and compile patterns that `re` has forgotten.
        counts = [calls(partial(WORK["examine"], data)) for _ in range(2)]
        found.append(min(counts) / len(data))
    assert found[1] < CALLS_OF_FORMS
    assert found[1] < GROWTH_OF_FORMS * found[0]


@pytest.mark.parametrize("rank", [256, 257])
def test_what_is_too_wide_to_be_looked_into_is_not_known(rank: int) -> None:
    """Nothing is said of a product of such tensors, neither that it is read nor that it is not."""
    subject = examine(Artifact.from_bytes(sharing("dot_general_v2", rank)))
    too_wide = "tensor of more than 256 dimensions"
    assert (too_wide in subject.unknown) == (rank > 256)


@pytest.mark.parametrize("name", COUNTED)
def test_more_names_than_any_release_knows_are_counted_and_not_read(name: str) -> None:
    """Up to a number they are read; one more is refused, and twice as many as quickly."""
    make, most = COUNTED[name]
    assert not inspect(make(most)).damage
    for count in (most + 1, 2 * most):
        data = make(count)
        assert f"{count + 1:,} " in inspect(data).damage
        assert f"at most {most + 1:,} are read" in inspect(data).damage
        assert calls(partial(inspect, data)) < most


TOLD = {name: partial(made, 900) for name, (made, _) in COUNTED.items()} | {
    f"long name {number}": partial(bytes, data)
    for number, data in enumerate(artifacts("n" * 100_000, CALLING))
    if number  # a producer with such a name is refused
}
"""Artifacts about which very much could be said, many things or long ones."""


@pytest.mark.parametrize("name", TOLD)
def test_a_verdict_has_a_limited_length(name: str) -> None:
    """There is one for each consumer, of which a set may have hundreds."""
    artifact = Artifact.from_bytes(TOLD[name]())
    for verdict in predict_all(artifact, SOME, stage="execute"):
        assert len(json_text(verdict.record())) < 40_000
        assert len(verdict.diagnostics) + len(verdict.not_known) < 250


@pytest.mark.parametrize("name", COUNTED)
def test_what_is_blamed_is_found_in_linear_time(name: str) -> None:
    """Names of ops are not looked for one by one in each line of each Verdict."""
    found = []
    for count in (300, 900):
        artifact = Artifact.from_bytes(COUNTED[name][0](count))
        verdicts = predict_all(artifact, SOME, stage="execute")
        found.append(calls(partial(blamed, artifact, verdicts)) / len(artifact.data))
    assert found[1] < 20
    assert found[1] < GROWTH * found[0]


@pytest.mark.parametrize("name", sorted(ARTIFACTS.keys() - {"integer_wide"}))
def test_every_class_is_read_to_its_end(name: str) -> None:
    """What is refused at once would show nothing."""
    assert not inspect(ARTIFACTS[name](100)).damage
