"""Real Releases, asked through the worker: these tests install them from the package index."""

from __future__ import annotations

import base64
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from portable.artifact import Artifact
from portable.releases import find_release
from portable.system.worker import Driver, Status, Worker
from portable.verdict import Outcome, Stage
from portable.version import Version

if TYPE_CHECKING:
    from collections.abc import Callable

    from portable.runtime.environments import Environment

    Release = Callable[[str], Environment]

pytestmark = pytest.mark.old_releases

ROOT = Path(__file__).parents[2]
TABLE = ROOT / "portable" / "releases" / "data" / "releases.toml"
ADD = """
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %sum = stablehlo.add %x, %x : tensor<4xf32>
  return %sum : tensor<4xf32>
}
"""
TAN = ADD.replace("stablehlo.add %x, %x", "stablehlo.tan %x")

# One jaxlib of each era of the serialize API; both Pythons.
ERAS = {"S1": "jaxlib 0.4.30", "S2": "jaxlib 0.4.33", "S3": "jaxlib 0.5.3", "S4": "jaxlib 0.12.0.1"}
CONSUMERS = [*ERAS.values(), "tensorflow 2.16.2", "tensorflow 2.19.1", "torch-mlir 20261001"]


@pytest.fixture(scope="session")
def artifacts(release: Release) -> dict[str, str]:
    """Return artifacts that the newest jaxlib wrote, as base64: what each asks of a reader."""
    wanted = {"0.9.0": ADD, "1.4.0": TAN}
    with release("jaxlib 0.12.0.1").worker() as worker:
        written = {
            target: worker.ask(
                {
                    "kind": "write",
                    "text": text,
                    "target": target,
                    "strip": True,
                    "want": ["artifact"],
                }
            )
            for target, text in wanted.items()
        }
    return {target: answer.payload["artifact"] for target, answer in written.items()}


@pytest.mark.parametrize("name", CONSUMERS)
def test_a_release_is_what_the_table_says(release: Release, name: str) -> None:
    """Each era tells the Versions that its row has."""
    with release(name).worker() as worker:
        said = worker.ask({"kind": "probe"}).payload
    row = find_release(name)
    assert (said["current"], said["minimum"]) == (str(row.current), str(row.minimum))
    if row.week_4 is not None:
        assert (said["week_4"], said["week_12"]) == (str(row.week_4), str(row.week_12))


@pytest.mark.parametrize("era", ERAS)
def test_the_eras_are_told_apart(release: Release, era: str) -> None:
    """The probe names the era by what the bindings offer."""
    with release(ERAS[era]).worker() as worker:
        assert worker.ask({"kind": "probe"}).payload["serialize_api"] == era


@pytest.mark.parametrize("name", CONSUMERS)
def test_every_era_reads_writes_and_refuses(
    release: Release, artifacts: dict[str, str], name: str
) -> None:
    """What a Release can read it reads, round-trips and writes again; what it cannot it refuses.

    `tan` came with StableHLO 1.4.0: an older Release has to refuse it.
    """
    row = find_release(name)
    with release(name).worker() as worker:
        for target, artifact in artifacts.items():
            answer = worker.ask({"kind": "read", "data": artifact})
            verdict = answer.verdict(name, Stage.DECODE)
            known = row.current >= Version.parse(target)
            expected = Outcome.COMPATIBLE if known else Outcome.INCOMPATIBLE
            assert verdict.outcome is expected, verdict
        again = worker.ask({"kind": "roundtrip", "data": artifacts["0.9.0"], "want": ["artifact"]})
        assert again.payload["stable"]
        lowered = worker.ask(
            {"kind": "rewrite", "data": artifacts["0.9.0"], "target": "0.9.0", "want": ["artifact"]}
        )
    for answer, version in ((again, row.current.target), (lowered, "0.9.0")):
        written = Artifact.from_bytes(base64.b64decode(answer.payload["artifact"]))
        assert str(written.version) == str(version)


def test_diagnostics_of_a_module_era_are_heard(release: Release, artifacts: dict[str, str]) -> None:
    """A refusal of a Release with a working handler carries MLIR's own words."""
    cut = base64.b64encode(base64.b64decode(artifacts["1.4.0"])[:-20]).decode()
    with release("jaxlib 0.4.33").worker() as worker:
        answer = worker.ask({"kind": "read", "data": cut})
    assert answer.status is Status.REFUSED
    assert answer.diagnostics
    assert answer.reason == answer.diagnostics[0].message


@pytest.mark.more_releases
def test_iree_reads_what_it_cannot_lower(release: Release, artifacts: dict[str, str]) -> None:
    """Compiling is how IREE reads: an op without a lowering was read all the same."""
    with release("iree-base-compiler 3.0.0").worker() as worker:
        plain = worker.ask({"kind": "read", "data": artifacts["0.9.0"]})
        tan = worker.ask({"kind": "read", "data": artifacts["1.4.0"]})
        junk = worker.ask({"kind": "read", "data": base64.b64encode(b"ML\xefRjunk").decode()})
    assert plain.payload == {"lowered": True}
    assert (tan.status, tan.payload["lowered"]) == (Status.OK, False)
    assert junk.status is Status.REFUSED


def test_a_plugin_tells_its_version(release: Release) -> None:
    """A PJRT plugin is asked without a device; a library that is none is unavailable."""
    environment = release("xla-cpu-pjrt 0.0.1")
    with environment.worker() as worker:
        said = worker.ask({"kind": "probe"})
    assert said.payload["current"] == "1.13.3"
    extension = release("tensorflow 2.16.2").library
    assert extension is not None
    with Worker(None, Driver("plugin"), library=extension) as worker:
        assert worker.ask({"kind": "probe"}).status is Status.UNAVAILABLE


@pytest.mark.parametrize("known", [True, False])
def test_one_command_measures_a_release(tmp_path: Path, known: bool) -> None:
    """The tool adds the row that a table lacks, and renews the one it has, and nothing else."""
    table = tmp_path / "releases.toml"
    shutil.copy(TABLE, table)
    before = TABLE.read_text(encoding="utf-8").split("[[release]]")
    (row,) = (r for r in before if 'version = "0.4.33"' in r and '"jaxlib"' in r)
    if not known:
        table.write_text("[[release]]".join(r for r in before if r != row), encoding="utf-8")
    tool = [sys.executable, "-m", "tools", "measure_release", "--table", str(table)]
    subprocess.run([*tool, "jaxlib==0.4.33"], check=True, cwd=ROOT)
    after = table.read_text(encoding="utf-8").split("[[release]]")
    (again,) = (r for r in after if 'version = "0.4.33"' in r and '"jaxlib"' in r)

    def undated(text: str) -> list[str]:
        return [line for line in text.splitlines() if not line.startswith("measured = ")]

    assert undated(again) == undated(row)
    assert [r for r in after if r != again] == [r for r in before if r != row]
    absent = subprocess.run(
        [*tool, "jaxlib==9.9.9"], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert absent.returncode == 2
    assert "9.9.9" in absent.stderr
