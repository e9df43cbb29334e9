"""Every command works in a current folder that is deleted or unreadable as in any other."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from compat_tests.adversarial.generators.faults import ADD, CORPUS, LIMIT_S
from compat_tests.helpers.matrices import cell, matrix, observed
from compat_tests.helpers.thorough import pairs
from portable.bundle import pack_files
from portable.cli import COMMANDS
from portable.matrix.document import dump

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

PROGRAM = """func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.add %a, %a : tensor<2xf32>
  return %0 : tensor<2xf32>
}
"""
READS, READ = "jaxlib==0.10.2", "jaxlib 0.10.2"
MOVE = f"--from jaxlib==0.9.1 --to {READS}"


@dataclass(frozen=True, slots=True)
class Line:
    """A command line.

    Args:
        words: ADD is an artifact, F a folder with what `_prepare` puts there; all are absolute.
        needs: Modules without which it is not tried.
        code: How it ends.
    """

    words: str
    needs: tuple[str, ...] = ()
    code: int = 0


COMPILES = ("jaxlib",)
FLEET = ("pyarrow", "duckdb")
LINES: Mapping[str, Line] = {
    "pin": Line("pin F/m.mlir --target 1.9.0 -o F/out.bc", COMPILES),
    "bundle": Line(f"bundle F/m.mlir --for {READS} -o F/out", COMPILES),
    "pick": Line(f"pick F/bundle --for {READS} -o F/out.bc"),
    "push": Line("push F/bundle oci://127.0.0.1:1/a:b", ("oras",), 2),
    "attest": Line("attest verify ADD --key F/none", (), 2),
    "check": Line(f"check ADD --for {READS}"),
    "inspect": Line("inspect ADD"),
    "minimum": Line("minimum ADD F/m.mlir", COMPILES),
    "explain": Line("explain F/m.mlir --target 1.9.0", COMPILES),
    "gate": Line("gate F/tree --policy F/portable.toml"),
    "audit": Line("audit F/tree -o F/out.parquet", FLEET),
    "plan": Line(f"plan F/fleet.parquet {MOVE}", FLEET),
    "repin-all": Line(f"repin-all F/fleet.parquet --for {READS} -o F/out", (*COMPILES, *FLEET)),
    "matrix": Line("matrix --merge F/m.json"),
    "export": Line("export saved-model F/m.mlir --target 1.9.0 -o F/out", ("jaxlib", "tensorflow")),
    "verify-export": Line("verify-export F/none.pt2 --target 1.9.0", (), 2),
    "run": Line("run ADD --random 0", COMPILES),
    "verify": Line("verify ADD --against ADD --seeds 1", COMPILES),
    "target": Line(f"target --for {READS}"),
    "serialize": Line("serialize F/m.mlir --target 1.9.0 -o F/out.bc", COMPILES),
    "deserialize": Line("deserialize ADD", COMPILES),
    "versions": Line("versions"),
    "releases": Line("releases list"),
    "env": Line("env list"),
    # The command that it runs stands here, too.
    "reduce": Line("reduce F/m.mlir --check CHECK -o F/out.mlir", COMPILES, 2),
    "fuzz": Line("fuzz generate --count 2 -o F/out"),
    "corpus": Line(f"corpus list --corpus {CORPUS}"),
    "schema": Line("schema check"),
    "completion": Line("completion bash", ("shtab",)),
}


def test_every_command_has_a_line() -> None:
    """One that is new too."""
    assert LINES.keys() == COMMANDS.keys()


def _prepare(folder: Path, needs: tuple[str, ...]) -> None:
    (folder / "m.mlir").write_text(PROGRAM)
    (folder / "portable.toml").write_text(f'consumers.a = ["{READS}"]\n')
    (folder / "m.json").write_text(dump(matrix(cell("add_f32+0.9.0", READ, observed(READ)))))
    (folder / "tree").mkdir()
    shutil.copy(ADD, folder / "tree" / "a.mlir.bc")
    pack_files([ADD], to=folder / "bundle")
    if needs[-2:] == FLEET:
        from portable.fleet import audit

        audit([str(folder / "tree")], folder / "fleet.parquet", depth="content")


def _gone(here: Path) -> None:
    here.rmdir()


def _closed(here: Path) -> None:
    here.chmod(0)


STATES: Mapping[str, Callable[[Path], None]] = {"gone": _gone, "closed": _closed}


@pytest.mark.parametrize(("command", "state"), pairs(LINES, STATES, each=2))
def test_a_command_does_as_anywhere(command: str, state: str, tmp_path: Path) -> None:
    """Where every name is absolute, the folder does not matter."""
    line = LINES[command]
    for module in line.needs:
        pytest.importorskip(module)
    folder = tmp_path / "f"
    folder.mkdir()
    _prepare(folder, line.needs)
    words = [
        word.replace("ADD", str(ADD)).replace("F/", f"{folder}/").replace("CHECK", "grep -q add {}")
        for word in line.words.split()
    ]
    done = _run(words, tmp_path / "here", STATES[state])
    assert done.returncode == line.code, done.stderr
    _demand_one_line(done)


# What names files without saying where, with what the command says of it.
RELATIVE = {
    "inspect": "inspect m.mlir.bc",
    "check": f"check m.mlir.bc --for {READS}",
    "gate": "gate m.mlir.bc",
    "gate -o": "gate F/tree --policy F/portable.toml -o report.json",
    "pin": "pin F/m.mlir --target 1.9.0 -o out.bc",
    "bundle": f"bundle F/m.mlir --for {READS} -o out",
    "pick": f"pick F/bundle --for {READS} -o out.bc",
    "corpus": "corpus list",
    "corpus new": "corpus new x --program F/m.mlir --corpus ours",
    "fuzz": "fuzz generate --count 1 -o out",
    "audit": "audit F/tree -o out.parquet",
    "audit .": "audit . -o F/out.parquet",
    "export": "export jax module:f --target 1.9.0 -o F/out",
    "matrix": f"matrix m.mlir.bc --for {READS}",
    "releases": "releases add libx.so --name ours==1.0",
    "policy": "gate F/tree",
}


@pytest.mark.parametrize(("command", "state"), pairs(RELATIVE, STATES, each=2))
def test_what_is_looked_for_here_is_not_found(command: str, state: str, tmp_path: Path) -> None:
    """In one line, and nothing is left anywhere."""
    folder = tmp_path / "f"
    folder.mkdir()
    _prepare(folder, ())
    before = sorted(folder.rglob("*"))
    words = [word.replace("F/", f"{folder}/") for word in RELATIVE[command].split()]
    done = _run(words, tmp_path / "here", STATES[state])
    assert done.returncode == 2, done
    _demand_one_line(done)
    assert done.stderr.startswith("error: ")
    assert sorted(folder.rglob("*")) == before


def _demand_one_line(done: subprocess.CompletedProcess[str]) -> None:
    assert "Traceback" not in done.stderr
    assert "internal error" not in done.stderr
    assert done.stderr.count("error: ") == (done.returncode == 2), done.stderr


def _run(words: list[str], here: Path, spoil: Callable[[Path], None]) -> (
    subprocess.CompletedProcess[str]
):  # fmt: skip
    """Run the command line in a folder that is spoilt once it stands there."""
    here.mkdir()
    # The superuser reads everything, unless it is without that privilege.
    drop = [] if os.geteuid() else ["setpriv", "--inh-caps=-all", "--bounding-set=-all"]
    if drop and shutil.which("setpriv") is None:
        pytest.skip("setpriv of util-linux is not installed")
    start = "import sys; from portable.__main__ import main; sys.exit(main())"
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(filter(os.path.isabs, sys.path)),
        "PYTHONSAFEPATH": "1",
        "PORTABLE_OFFLINE": "1",
    }
    try:
        return subprocess.run(
            [*drop, sys.executable, "-c", start, *words],
            capture_output=True, text=True, check=False, cwd=here, env=environment,
            timeout=LIMIT_S,
            preexec_fn=lambda: spoil(here),
        )  # fmt: skip
    finally:
        if here.exists():
            here.chmod(0o700)
