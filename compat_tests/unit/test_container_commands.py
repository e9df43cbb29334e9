"""Commands that need no compiler take containers as they take files."""

import json
import shutil
from pathlib import Path

import pytest

from portable.cli import main
from portable.containers import open_container
from portable.containers.container import readers_of
from portable.inspection import inspect
from portable.policy import gate, load_policy
from portable.policy.report import as_github, as_junit, as_record, as_text
from portable.version import Version

ROOT = Path(__file__).parents[2]
CONTAINERS = ROOT / "compat_tests" / "data" / "containers"
EXPORTED = CONTAINERS / "gate-vjp2-jax-0.10.2.exported"
GRAPH = CONTAINERS / "graph-tensorflow-2.20.0"
PLAIN = CONTAINERS / "plain-tensorflow-2.20.0"
TORCH_XLA = ROOT / "corpus" / "torch_xla" / "torch_xla_2_9_0" / "container"


def run(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    """Run a command; return its exit code and what it printed."""
    code = main([str(word) for word in words])
    said = capsys.readouterr()
    return code, said.out, said.err


@pytest.mark.parametrize("path", [EXPORTED, GRAPH, TORCH_XLA], ids=lambda path: path.name)
def test_inspect_tells_both_kinds_of_versions(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The container's numbers and the artifacts' own, which are what the bytes alone tell."""
    container = open_container(path)
    code, out, _ = run(capsys, "inspect", path, "--format", "json")
    (found,) = json.loads(out)["files"]
    assert (code, found["kind"]) == (0, str(container.kind))
    assert found["versions"] == container.versions
    assert found["readers"] == list(readers_of(container))
    assert found["required"] is None
    for record, entry in zip(found["artifacts"], container.artifacts(), strict=True):
        alone = inspect(bytes(entry)).record()
        assert record == alone | {"name": entry.name, "versions": dict(entry.versions)}
        assert record["kind"] == "portable artifact"
    code, out, _ = run(capsys, "inspect", path)
    assert code == 0
    for entry in container.artifacts():
        assert f"artifact:           {entry.name}\n" in out
        (name, version), *_ = entry.versions.items()
        assert f"container:          {name} {version}" in out


def test_inspect_ends_with_2_when_there_is_nothing_inside(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """A SavedModel of other ops, or one that is damaged: what it is, and why not."""
    code, out, _ = run(capsys, "inspect", PLAIN)
    assert code == 2
    assert "kind:               TensorFlow SavedModel" in out
    assert "no portable artifact in this SavedModel" in out
    (tmp_path / "saved_model.pb").write_bytes(b"\xff")
    code, out, _ = run(capsys, "inspect", tmp_path, "--format", "json")
    assert code == 2
    assert "saved_model.pb: byte 0: unterminated varint" in json.loads(out)["files"][0]["damage"]


def test_minimum_is_that_of_the_most_demanding(capsys: pytest.CaptureFixture[str]) -> None:
    """A container can go as low as all of its programs; each is told with its own."""
    parts = inspect(EXPORTED).artifacts
    lows = {name: part.minimum.version for name, part in parts.items() if part.minimum}
    code, out, _ = run(capsys, "minimum", EXPORTED, "--format", "json")
    (found,) = json.loads(out)["files"]
    assert code == 0
    assert {a["name"]: Version.parse(a["minimum"]) for a in found["artifacts"]} == lows
    assert Version.parse(found["minimum"]) == max(low for low in lows.values() if low)
    code, out, _ = run(capsys, "minimum", EXPORTED)
    assert code == 0
    assert out.splitlines()[-1] == f"{EXPORTED}: minimum target: {found['minimum']}"


def test_check_judges_every_artifact(capsys: pytest.CaptureFixture[str]) -> None:
    """And shows the container's numbers: an old jax cannot even open it."""
    code, out, _ = run(capsys, "check", EXPORTED, "--for", "jaxlib>=0.5,<0.6", "--format", "json")
    (found,) = json.loads(out)["files"]
    assert code == 1
    assert found["container"] == {
        "kind": "jax.export.Exported",
        "versions": {"serialization": "3", "layout": "10"},
        "readers": ["jax>=0.8.2"],
    }
    assert [a["name"] for a in found["artifacts"]] == ["primal", "vjp", "vjp.vjp"]
    for artifact in found["artifacts"]:
        ends = {v["consumer"]: (v["stage"], v["says"]) for v in artifact["verdicts"]}
        assert ends == dict.fromkeys(
            ("jaxlib 0.5.0", "jaxlib 0.5.1", "jaxlib 0.5.3"),
            ("open", "incompatible: does not open it"),
        )
    code, out, _ = run(capsys, "check", TORCH_XLA, "--for", "jaxlib>=0.8")
    assert code == 0
    assert out.splitlines()[0] == f"{TORCH_XLA}: torch_xla directory"


def test_the_gate_finds_containers_in_a_tree(tmp_path: Path) -> None:
    """Directories by themselves, files by the policy's names; others hold nothing for it."""
    (tmp_path / "portable.toml").write_text(
        '[rules]\nconsumers = ["jaxlib==0.5.0"]\ninclude = ["*.exported"]\n'
    )
    shutil.copytree(GRAPH, tmp_path / "a" / "model")
    shutil.copytree(PLAIN, tmp_path / "a" / "plain")
    shutil.copytree(TORCH_XLA, tmp_path / "b")
    shutil.copy(EXPORTED, tmp_path / "c.exported")
    (tmp_path / "functions").mkdir()
    policy = load_policy(tmp_path / "portable.toml")
    result = gate([tmp_path], policy)
    found = {(file.path.name, file.inside) for file in result.files}
    expected = {("model", "first"), ("model", "second"), ("b", "forward")}
    expected |= {("c.exported", name) for name in ("primal", "vjp", "vjp.vjp")}
    assert found == expected
    assert not result.passed
    assert {f.inside for f in result.findings if f.path.name == "c.exported"} == {
        "primal",
        "vjp",
        "vjp.vjp",
    }
    assert f"{tmp_path / 'c.exported'}: vjp.vjp: consumer: jaxlib 0.5.0" in as_text(result)
    assert f'name="{tmp_path / "a" / "model"}: first"' in as_junit(result)
    assert "vjp.vjp: jaxlib 0.5.0" in as_github(result)
    findings = as_record(result)["findings"]
    assert isinstance(findings, list)
    assert {record["artifact"] for record in findings} >= {"primal", "vjp"}


def test_the_gate_cannot_check_a_damaged_container(tmp_path: Path) -> None:
    """That is no pass: the finding says where the damage is."""
    (tmp_path / "portable.toml").write_text('[rules]\nconsumers = ["jaxlib==0.9.0"]\n')
    shutil.copytree(TORCH_XLA, tmp_path / "model")
    (tmp_path / "model" / "data" / "f.bias").unlink()
    result = gate([tmp_path], load_policy(tmp_path / "portable.toml"))
    assert result.unreadable
    assert "data/f.bias: missing" in result.findings[0].message
    shutil.rmtree(tmp_path / "model")
    shutil.copytree(PLAIN, tmp_path / "model")
    named = gate([tmp_path / "model"], load_policy(tmp_path / "portable.toml"))
    assert named.unreadable, "a container that was named has to hold something"


def test_headers_of_containers_are_enough_when_the_policy_says_so(tmp_path: Path) -> None:
    """Depth `header` trusts what the artifacts in them claim."""
    (tmp_path / "portable.toml").write_text(
        '[rules]\nconsumers = ["jaxlib==0.6.0"]\ndepth = "header"\n'
    )
    result = gate([EXPORTED], load_policy(tmp_path / "portable.toml"))
    assert {finding.inside for finding in result.findings} == {"primal", "vjp", "vjp.vjp"}


@pytest.mark.parametrize(
    "line",
    ["run F --random 0", "verify F --against F", "deserialize F", "serialize F --target 1.9.0"],
)
def test_what_takes_one_program_says_so(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A container is no program: the error says what it is and what can be done with it."""
    path = str(CONTAINERS / "gate-vjp0-jax-0.10.2.exported")
    assert main([path if word == "F" else word for word in line.split()]) == 2
    told = capsys.readouterr().err
    assert told.startswith(f"error: {path}: is a container (jax.export.Exported)")
    assert "open_container" in told


def test_a_damaged_artifact_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever reads it, the error begins with the file: there may be many."""
    whole = (CONTAINERS.parent / "artifacts" / "add_i1+0.9.0.mlir.bc").read_bytes()
    path = tmp_path / "cut.mlir.bc"
    path.write_bytes(whole[:-40])
    for line in ("minimum", "run --random 0", "check --for jaxlib==0.10.2"):
        command, *options = line.split()
        assert main([command, str(path), *options]) == 2
        assert capsys.readouterr().err.startswith(f"error: {path}: ")
