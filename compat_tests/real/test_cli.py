"""The command line as a release engineer meets it: results, exit codes, one-line errors."""

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from compat_tests.helpers.thorough import pairs
from portable.bytecode import MAGIC
from portable.cli import COMMANDS, main

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
ENCODER = str(EXAMPLES / "encoder.mlir")
QUANTIZED = """
func.func @main(%x: tensor<4xf32>) -> tensor<4x!quant.uniform<i8:f32, 1.0>> {
  %0 = stablehlo.uniform_quantize %x : (tensor<4xf32>) -> tensor<4x!quant.uniform<i8:f32, 1.0>>
  return %0 : tensor<4x!quant.uniform<i8:f32, 1.0>>
}
"""


def run(*words: str, stdin: bytes = b"", **options: str) -> subprocess.CompletedProcess[bytes]:
    """Run `portable` as a process."""
    return subprocess.run(
        [sys.executable, "-m", "portable", *words],
        input=stdin,
        capture_output=True,
        check=False,
        env={**os.environ, **options},
    )


@pytest.fixture
def artifact(tmp_path: Path) -> Path:
    """Return the encoder, pinned for jaxlib 0.5 and later."""
    path = tmp_path / "encoder.mlir.bc"
    done = run("pin", ENCODER, "--for", "jaxlib>=0.5", "-o", str(path))
    assert done.returncode == 0, done.stderr
    return path


def test_pin_says_which_version_and_why(tmp_path: Path) -> None:
    """The line names the file, the Version, and the Release that binds."""
    path = tmp_path / "a.mlir.bc"
    done = run("pin", ENCODER, "--for", "jaxlib>=0.5", "tensorflow~=2.20", "-o", str(path))
    assert done.returncode == 0
    assert b"StableHLO 1.8.0" in done.stdout
    assert b"jaxlib 0.5.0" in done.stdout
    assert path.read_bytes().startswith(b"ML\xefR\rStableHLO_v1.8.0\0")


@pytest.mark.parametrize("command", ["pin", "bundle"])
def test_what_no_table_covers_is_said(command: str, tmp_path: Path) -> None:
    """Older Releases than the first that is known, as `check` and `target` say it."""
    for specifier, covered in (("jaxlib<0.4.20", False), ("jaxlib==0.4.18", True)):
        done = run(command, ENCODER, "--for", specifier, "-o", str(tmp_path / specifier))
        assert done.returncode == 0
        missing = b"not known: jaxlib before 0.4.13 is not in the table"
        assert (missing in done.stdout) is not covered


def test_what_keeps_consumers_from_running_it_is_said(tmp_path: Path) -> None:
    """They read it, and XLA compiles no quantized types: neither does the one that is installed."""
    program, path = tmp_path / "q.mlir", tmp_path / "q.mlir.bc"
    program.write_text(QUANTIZED)
    words = ("pin", str(program), "--for", "jaxlib>=0.9")
    obstacle = b": incompatible: does not compile it (predicted): quantized-not-compiled"
    done = run(*words, "-o", str(path))
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"jaxlib 0.9.0 to " in done.stdout
    assert obstacle in done.stdout
    assert run("run", str(path), "--random", "0").returncode == 1
    assert obstacle in run(*words, "-o", "-").stderr
    told = json.loads(run(*words, "-o", str(path), "--format", "json").stdout)
    assert {one["stage"] for one in told["obstacles"]} == {"compile"}
    for goal in (("--target", "1.9.0"), ("--for", "stablehlo==1.9.0")):
        done = run("pin", str(program), *goal, "-o", str(path), "--format", "json")
        assert json.loads(done.stdout)["obstacles"] == []


def test_pin_takes_an_artifact_and_json(artifact: Path, tmp_path: Path) -> None:
    """Re-pinning is pinning; machines get one JSON document."""
    again = tmp_path / "again.mlir.bc"
    done = run("pin", str(artifact), "--target", "0.19.0", "-o", str(again), "--format", "json")
    record = json.loads(done.stdout)
    assert (record["version"], record["size"]) == ("0.19.0", again.stat().st_size)


def test_check_predicts(artifact: Path) -> None:
    """Exit 0 where every admitted Release reads it, 1 where one does not."""
    good = run("check", str(artifact), "--for", "jaxlib>=0.5")
    assert (good.returncode, b"predicted" in good.stdout) == (0, True)
    bad = run("check", str(artifact), "--for", "jaxlib>=0.4.30", "--format", "json")
    assert bad.returncode == 1
    verdicts = {v["consumer"]: v for v in json.loads(bad.stdout)["files"][0]["verdicts"]}
    assert verdicts["jaxlib 0.4.30"]["outcome"] == "incompatible"
    # It claims 1.8.0 and needs 1.6.0: readers do not look at the claim.
    assert verdicts["jaxlib 0.4.33"]["outcome"] == "compatible"
    assert {v["basis"] for v in verdicts.values()} == {"predicted"}


def test_check_observes(artifact: Path) -> None:
    """The installed library reads it, in a child process."""
    done = run("check", str(artifact), "--observe", "--format", "json")
    assert done.returncode == 0
    (verdict,) = json.loads(done.stdout)["files"][0]["verdicts"]
    assert (verdict["basis"], verdict["stage"]) == ("observed", "decode")


def test_deserialize_prints_the_program(artifact: Path) -> None:
    """What upstream's stablehlo-translate prints; standard input works."""
    done = run("deserialize", "-", stdin=artifact.read_bytes())
    assert done.returncode == 0
    assert b"func.func public @main" in done.stdout
    assert b"stablehlo.dot_general" in done.stdout


def test_serialize_writes_to_a_pipe(artifact: Path) -> None:
    """The same bytes as pin for the same target."""
    done = run("serialize", "-", "--target", "1.8.0", stdin=Path(ENCODER).read_bytes())
    assert done.returncode == 0
    assert done.stdout == artifact.read_bytes()


@pytest.mark.parametrize("command", ["versions", "releases"])
def test_tables(command: str) -> None:
    """What has shipped, for people and for machines."""
    text, machine = run(command), run(command, "--format", "json")
    assert text.returncode == machine.returncode == 0
    rows = json.loads(machine.stdout)[command]
    assert len(rows) == len(text.stdout.splitlines()) - 1
    assert len(rows) > 30


def _truncated(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:200])


BAD = {
    "missing": (["pin", "no/such.mlir", "--target", "1.9.0"], "no such file"),
    "directory": (["pin", ".", "--target", "1.9.0"], "is a directory"),
    "empty": (["pin", "{tmp}/empty", "--target", "1.9.0"], "empty"),
    "text, not an artifact": (["inspect", "{tmp}/missing"], "no such file"),
    "text where bytes are expected": (["check", ENCODER, "--for", "jaxlib"], "text"),
    "deserialize text": (["deserialize", ENCODER], "text"),
    "truncated": (["deserialize", "{tmp}/cut.mlir.bc"], "byte"),
    "unknown target": (["pin", ENCODER, "--target", "soon"], "soon"),
    "future target": (["pin", ENCODER, "--target", "99.0.0"], "99.0.0"),
    "empty specifier": (["pin", ENCODER, "--for", ""], ""),
    "no such distribution": (["pin", ENCODER, "--for", "jaxlibb>=1"], "jaxlib"),
    "no such release": (["pin", ENCODER, "--for", "jaxlib==0.99"], "0.99"),
    "impossible": (["pin", ENCODER, "--for", "jaxlib>=0.6,<0.5"], ">=0.6,<0.5"),
    "nothing to check": (["check", "{tmp}/good.mlir.bc"], "--for"),
    "no program": (["pin", "{tmp}/prose", "--target", "1.9.0"], "prose:1:"),
}


@pytest.mark.parametrize(("case", "as_json"), pairs(BAD, [False, True], each=2))
def test_bad_input_is_one_line(case: str, as_json: bool, artifact: Path, tmp_path: Path) -> None:
    """Exit 2, one line on standard error that names the trouble, no traceback, no file."""
    words, says = BAD[case]
    words = [word.replace("{tmp}", str(tmp_path)) for word in words]
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "prose").write_text("It was a dark and stormy night.\n")
    (tmp_path / "good.mlir.bc").write_bytes(artifact.read_bytes())
    (tmp_path / "cut.mlir.bc").write_bytes(artifact.read_bytes()[:200])
    before = sorted(tmp_path.iterdir())
    if words[0] == "pin":
        words += ["-o", str(tmp_path / "out.mlir.bc")]
    if as_json and words[0] != "deserialize":
        words += ["--format", "json"]
    done = run(*words)
    said = done.stderr.decode()
    assert done.returncode == 2, said
    assert says in said
    assert len(said.splitlines()) == 1
    assert "Traceback" not in said
    assert done.stdout == b""
    assert sorted(tmp_path.iterdir()) == before
    if as_json and words[0] != "deserialize":
        assert json.loads(said)["what"]


def test_unwritable_output_leaves_nothing(artifact: Path, tmp_path: Path) -> None:
    """A missing directory and a directory as the output file; the input stays as it is."""
    before = artifact.read_bytes()
    for output in (tmp_path / "no" / "out.bc", tmp_path):
        done = run("pin", str(artifact), "--target", "1.0.0", "-o", str(output))
        assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert artifact.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == [artifact.name]


def test_an_output_is_replaced_atomically_and_keeps_its_mode(artifact: Path) -> None:
    """An old file is replaced; the input itself never is."""
    old = artifact.with_name("old")
    old.write_bytes(b"old")
    old.chmod(0o600)
    assert run("pin", str(artifact), "--target", "1.0.0", "-o", str(old)).returncode == 0
    assert stat.S_IMODE(old.stat().st_mode) == 0o600
    assert old.read_bytes().startswith(MAGIC)
    before = artifact.read_bytes()
    assert run("pin", str(artifact), "--target", "1.0.0", "-o", str(artifact)).returncode == 2
    assert artifact.read_bytes() == before


def test_what_cannot_be_expressed_is_not_written(tmp_path: Path) -> None:
    """The error names the Feature, where it is, the Version that would do, and what to try."""
    source, output = tmp_path / "tan.mlir", tmp_path / "out.bc"
    source.write_text(
        "func.func @main(%x: tensor<f32>) -> tensor<f32> {\n"
        '  %0 = stablehlo.tan %x : tensor<f32> loc("model.py":7:3)\n'
        "  return %0 : tensor<f32>\n}\n"
    )
    words = ("pin", str(source), "--target", "1.0.0", "--no-expand", "-o", str(output))
    done = run(*words)
    said = done.stderr.decode()
    assert done.returncode == 2
    for part in ("tan_v1", "model.py:7:3", "1.4.0", "--target 1.4.0"):
        assert part in said
    assert not output.exists()
    features = json.loads(run(*words, "--format", "json").stderr)["features"]
    assert features[0]["version"] == "1.4.0"


def test_a_crash_of_native_code_is_a_verdict() -> None:
    """Mutated artifacts that kill the reader: `check --observe` says so and exits with 1.

    Some single-byte changes pass every check of MLIR's reader and crash the verifier behind it.
    """
    from portable.runtime.observation import observe
    from portable.verdict import Outcome, Stage

    crashers = Path(__file__).parents[1] / "data" / "crashers"
    verdicts = {path: observe(path.read_bytes(), timeout=5) for path in crashers.iterdir()}
    assert {verdict.stage for verdict in verdicts.values()} == {Stage.DECODE}
    found = {verdict.outcome for verdict in verdicts.values()}
    assert {Outcome.CRASHED, Outcome.HUNG} <= found, verdicts
    for killer in (path for path in verdicts if verdicts[path].outcome is Outcome.CRASHED):
        done = run("check", str(killer), "--observe")
        assert (done.returncode, done.stderr) == (1, b"")
        assert b"crashed" in done.stdout


def test_help_teaches(capsys: pytest.CaptureFixture[str]) -> None:
    """The overview lists every command; each command says what it is for, with an example."""
    assert main([]) == 0
    overview = capsys.readouterr().out
    for command in COMMANDS:
        assert command in overview
        with pytest.raises(SystemExit) as done:
            main([command, "--help"])
        assert done.value.code == 0
        assert f"portable {command}" in capsys.readouterr().out


def test_a_mistyped_command_is_corrected(capsys: pytest.CaptureFixture[str]) -> None:
    """With the nearest name, and exit 2."""
    assert main(["inspcet", "x"]) == 2
    assert "did you mean 'inspect'" in capsys.readouterr().err


def test_a_closed_pipe_is_no_traceback() -> None:
    """`portable releases | head -1` ends quietly."""
    command = f"{sys.executable} -m portable releases | head -1"
    done = subprocess.run(command, shell=True, capture_output=True, check=False)  # noqa: S602 - a pipe
    assert b"rror" not in done.stderr


def test_minimum_and_explain(tmp_path: Path, artifact: Path) -> None:
    """For a program and for an artifact; explain exits with 1 where pin does not get there."""
    program = tmp_path / "f8.mlir"
    program.write_text(
        "func.func @main(%x: tensor<f8E4M3>) -> tensor<f8E4M3> {\n"
        "  %0 = stablehlo.tan %x : tensor<f8E4M3>\n  return %0 : tensor<f8E4M3>\n}\n"
    )
    least = run("minimum", str(program), "--format", "json")
    assert json.loads(least.stdout)["files"][0]["minimum"] == "1.7.0"
    assert b"minimum target: 0.9.0" in run("minimum", str(artifact)).stdout
    far = run("explain", str(program), "--target", "1.0.0")
    assert far.returncode == 1
    assert b"f8E4M3_v1" in far.stdout
    near = run("explain", ENCODER, "--target", "1.0.0", "--format", "json")
    assert near.returncode == 0
    assert json.loads(near.stdout)["files"][0]["reachable"] is True


def test_inspect_counts_ops(artifact: Path) -> None:
    """People get a list, machines the whole record; damage is exit 1."""
    assert b"vhlo.dot_general_v2 (8x)" in run("inspect", str(artifact), "--ops").stdout
    (record,) = json.loads(run("inspect", str(artifact), "--format", "json").stdout)["files"]
    assert record["operations"]["vhlo.dot_general_v2"] == 8
    _truncated(artifact)
    done = run("inspect", str(artifact))
    assert (done.returncode, b"damaged" in done.stdout) == (1, True)


def test_target_says_why() -> None:
    """The Version, the Release that binds, and what it would be without it."""
    done = run("target", "--for", "jaxlib>=0.5", "tensorflow~=2.20")
    assert done.returncode == 0
    assert done.stdout.startswith(b"target 1.8.0: jaxlib 0.5.0")
    assert b"next lowest 1.9.0" in done.stdout
