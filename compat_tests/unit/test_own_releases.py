"""Releases that a user measured himself: one table with the shipped one, and told apart from it."""

from __future__ import annotations

import io
import json
import threading
import zipfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from compat_tests.helpers.binaries import library, names_of
from compat_tests.helpers.tables import forget
from compat_tests.helpers.wheels import write_wheel
from portable.cli import main
from portable.policy import gate, parse_policy
from portable.releases import UnknownDistribution, advisory, distributions, find_release, releases
from portable.releases.release import as_release, use_table
from portable.releases.table import TableError
from portable.system import children
from portable.system.places import named_table
from portable.system.shares import in_shares

if TYPE_CHECKING:
    from collections.abc import Iterator

ARTIFACTS = Path(__file__).parents[1] / "data" / "artifacts"
ROW = """
[[release]]
distribution = "{}"
version = "{}"
date = "2026-11-20"
current = "{}"
minimum = "{}"
python = "3.11"
confidence = "measured"
evidence = "it was asked"
"""


def test_what_was_not_found_is_not_in_the_row() -> None:
    """A Release that takes any numpy says nothing of it, like those of the table."""
    row = {
        "distribution": "iree-base-compiler",
        "version": "99.0",
        "date": "2026-11-20",
        "current_low": "1.8.0",
        "current_below": None,
        "python": "3.11",
        "numpy": "",
        "confidence": "bracketed",
        "method": "ladder",
        "evidence": "18 rungs",
    }
    made = as_release(row)
    assert (str(made), made.numpy) == ("iree-base-compiler 99.0", "")


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return the path of the user's table, which is not there yet."""
    monkeypatch.setenv("PORTABLE_CACHE", str(tmp_path / "cache"))
    (tmp_path / "cache").mkdir()
    yield tmp_path / "cache" / "releases.toml"
    monkeypatch.undo()
    _forget()


def _forget() -> None:
    named_table.set(None)
    forget()


class _Done(NamedTuple):
    """What came of a command."""

    returncode: int
    stdout: str
    stderr: str


def _run(*words: str) -> _Done:
    """Run a command as in a process that has read no table yet."""
    _forget()
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = main([*words])
    return _Done(code, out.getvalue(), err.getvalue())


@pytest.mark.parametrize(
    "inside", ["jaxlib-0.4.33", "our_plugin-1.1", "../our_plugin-1.0", "\x1b[31m-1.0"]
)
def test_a_wheel_is_called_what_it_calls_itself(inside: str, own: Path, tmp_path: Path) -> None:
    """Package clients refuse one of another name or version; its row would be believed."""
    path = tmp_path / "our_plugin-1.0-py3-none-any.whl"
    for name, code in ((inside, 2), ("Our.Plugin-1.0", 0)):
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("a.so", library(*names_of("1.4.0")))
            archive.writestr(f"{name}.dist-info/METADATA", "")
        done = _run("releases", "add", str(path))
        assert (done.returncode, "calls itself" in done.stderr) == (code, code == 2)
        assert own.exists() == (code == 0)


def _json(*words: str) -> Any:
    done = _run(*words, "--format", "json")
    assert done.stderr == ""
    return json.loads(done.stdout)


@pytest.mark.parametrize("distribution", ["jaxlib", "our-runtime"])
def test_whatever_reads_the_table_sees_it(own: Path, distribution: str) -> None:
    """Listing, target and check know the Release, also one of no distribution that is shipped."""
    own.write_text(ROW.format(distribution, "98.0", "1.4.1", "0.9.0"), "utf-8")
    spec = f"{distribution}==98.0"
    (record,) = _json("releases", "list", spec)["releases"]
    assert record["own"] is True
    assert "1.4.1 (own table)" in _run("releases", "list", spec).stdout
    assert "has StableHLO 1.4.1 (own table)" in _run("target", "--for", spec).stdout
    artifact = str(ARTIFACTS / "tan+1.4.0.mlir.bc")
    (verdict,) = _json("check", artifact, "--for", spec)["files"][0]["verdicts"]
    assert verdict["outcome"] == "compatible"
    assert "own table: it was asked" in json.dumps(verdict["diagnostics"])


def test_what_lies_between_it_and_a_shipped_one_is_marked(own: Path) -> None:
    """Its neighbours bracket a Release, so what his row says is in the bracket too."""
    own.write_text(ROW.format("jaxlib", "98.0", "1.99.0", "0.9.0"), "utf-8")
    assert "(own table)" in _run("target", "--for", "jaxlib==97.0").stdout
    assert "(own table)" not in _run("target", "--for", "jaxlib==0.4.32").stdout


@pytest.mark.parametrize(("current", "minimum"), [("1.8.1", "0.9.0"), ("1.7.5", "0.10.0")])
def test_a_row_that_contradicts_the_shipped_one_is_refused(
    own: Path, current: str, minimum: str
) -> None:
    """Both are named, and where the row stands."""
    (shipped,) = _json("releases", "list", "jaxlib==0.4.33")["releases"]
    own.write_text(ROW.format("jaxlib", "0.4.33", current, minimum), "utf-8")
    done = _run("releases")
    assert done.returncode == 2
    for word in (current, minimum, shipped["current"], shipped["minimum"], f"{own} release 1"):
        assert word in done.stderr


def test_a_row_that_contradicts_a_binary_is_refused(own: Path) -> None:
    """What was read statically counts as what was measured; the row to remove is the user's."""
    own.write_text(ROW.format("jax-metal", "0.1.1", "1.4.0", "0.9.0"), "utf-8")
    done = _run("releases")
    assert done.returncode == 2
    assert f"{own} release 1: jax-metal 0.1.1 has StableHLO 1.4.0" in done.stderr
    assert "at least 0.19.0, below 0.19.9" in done.stderr
    assert "None" not in done.stderr


def test_a_row_that_agrees_with_a_binary_says_more(own: Path) -> None:
    """It is between the bounds that the names show, and replaces them."""
    own.write_text(ROW.format("jax-metal", "0.1.1", "0.19.4", "0.9.0"), "utf-8")
    assert "has StableHLO 0.19.4 (own table)" in _run("target", "--for", "jax-metal==0.1.1").stdout


def test_a_row_that_agrees_changes_nothing(own: Path) -> None:
    """The shipped row counts: it is not marked."""
    before = _run("releases").stdout
    (shipped,) = _json("releases", "list", "jaxlib==0.4.33")["releases"]
    own.write_text(ROW.format("jaxlib", "0.4.33", shipped["current"], shipped["minimum"]), "utf-8")
    assert _run("releases").stdout == before


@pytest.mark.parametrize(
    "text", ["[[release]]", "release = 1", "[[release", ROW.format("a", "b", "1.0.0", "0.9.0")]
)
def test_a_damaged_table_is_one_line(own: Path, text: str) -> None:
    """It names the file."""
    own.write_text(text, "utf-8")
    done = _run("releases")
    assert done.returncode == 2
    assert str(own) in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_file_is_read_statically_and_kept(own: Path, tmp_path: Path) -> None:
    """A wheel says its name, a library is given one; the second time its row is replaced."""
    data = library(*names_of("1.4.0"))
    write_wheel(tmp_path, "our_runtime", {"our_runtime/lib.so": data}, "1.4")
    (wheel,) = tmp_path.glob("*.whl")
    added = _run("releases", "add", str(wheel))
    assert added.returncode == 0, added.stderr
    assert "our-runtime 1.4: StableHLO at least 1.4.0" in added.stdout
    path = tmp_path / "lib.so"
    path.write_bytes(data)
    refused = _run("releases", "add", str(path))
    assert refused.returncode == 2
    assert "--name" in refused.stderr
    for _ in range(2):
        assert _run("releases", "add", str(path), "--name", "other==2").returncode == 0
    assert own.read_text("utf-8").count("[[release]]") == 2
    assert "at least 1.4.0, below 1.5.0 (own table)" in _run("releases", "list", "other==2").stdout
    assert _run("target", "--for", "our-runtime").returncode == 0


def test_what_contradicts_is_not_written(own: Path, tmp_path: Path) -> None:
    """`add` refuses it, and the table is as it was."""
    data = library(*names_of("1.4.0"))
    path = tmp_path / "lib.so"
    path.write_bytes(data)
    done = _run("releases", "add", str(path), "--name", "jaxlib==0.4.13")
    assert done.returncode == 2
    assert "0.13.4" in done.stderr
    assert not own.exists()


@pytest.mark.parametrize("words", [[], ["jaxlib"], ["jaxlib>=0.5"], ["none.so"], ["a==1", "b==1"]])
def test_what_cannot_be_measured_is_one_line(own: Path, words: list[str]) -> None:
    """Neither a file nor a Release, or a name for two."""
    name = ["--name", "x==1"] if len(words) == 2 else []
    done = _run("releases", "add", *words, *name)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert not own.exists()


def test_a_policy_names_a_table_of_its_project(own: Path, tmp_path: Path) -> None:
    """Its Releases are consumers like all others; what contradicts the shipped table is refused."""
    table, policy = tmp_path / "releases.toml", tmp_path / "portable.toml"
    table.write_text(
        '[[release]]\ndistribution = "ours"\nversion = "1.0"\ndate = "2026-11-22"\n'
        'current = "1.4.0"\nminimum = "0.9.0"\nconfidence = "measured"\n'
    )
    policy.write_text('releases = "releases.toml"\n[consumers]\nall = ["ours>=1"]\n')
    artifacts = Path(__file__).parents[1] / "data" / "artifacts"
    gate = ("gate", "--policy", str(policy))
    assert _run(*gate, str(artifacts / "tan+1.4.0.mlir.bc")).returncode == 0
    refused = _run(*gate, str(artifacts / "mesh_inline+1.16.0.mlir.bc"))
    assert refused.returncode == 1
    assert "ours 1.0" in refused.stdout
    assert _run("target", "--for", "ours").returncode == 2
    table.write_text(table.read_text().replace('"ours"', '"jaxlib"').replace('"1.0"', '"0.10.2"'))
    contradicted = _run(*gate, str(artifacts / "tan+1.4.0.mlir.bc"))
    assert contradicted.returncode == 2
    assert "1.17.0" in contradicted.stderr
    table.unlink()
    assert _run(*gate, str(artifacts / "tan+1.4.0.mlir.bc")).returncode == 2
    assert not own.exists()


def test_a_policy_is_judged_by_its_own_table_alone(
    own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whichever was read before it in the same process, and wherever that stands or stood."""
    artifact = ARTIFACTS / "tan+1.4.0.mlir.bc"
    policies = {}
    for name, current in (("old", "1.3.0"), ("new", "1.4.0")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "releases.toml").write_text(ROW.format("ours", "1.0", current, "0.9.0"))
        fields = {"releases": "releases.toml", "consumers": {"all": ["ours==1.0"]}}
        monkeypatch.chdir(tmp_path)
        policies[name] = parse_policy(fields, root=name)
        monkeypatch.chdir("/")
    for name in ("old", "new", "old"):
        assert gate(artifact, policies[name]).passed == (name == "new")
    (tmp_path / "new" / "releases.toml").unlink()
    assert not gate(artifact, policies["old"]).passed
    parse_policy({"consumers": {"all": ["jaxlib==0.4.30"]}})
    with pytest.raises(UnknownDistribution):
        releases("ours")
    assert not own.exists()


def test_threads_are_judged_each_by_its_own_table(own: Path, tmp_path: Path) -> None:
    """Also where they read their policies at once, and in the threads and children they start."""
    del own
    artifact = ARTIFACTS / "tan+1.4.0.mlir.bc"
    for name, current in (("old", "1.3.0"), ("new", "1.4.0")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "releases.toml").write_text(ROW.format("ours", "1.0", current, "0.9.0"))
    together = threading.Barrier(4)

    def judged(name: str) -> set[tuple[bool, bool, bool]]:
        fields = {"releases": "releases.toml", "consumers": {"all": ["ours==1.0"]}}
        found = set()
        for _ in range(8):
            together.wait(60)
            policy = parse_policy(fields, root=tmp_path / name)
            together.wait(60)
            inner = in_shares([None] * 2, 2, lambda share: [_in_thread() for _ in share])
            found.add((gate(artifact, policy).passed, all(map(all, inner)), _in_child()))
        return found

    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(judged, ["old", "new"] * 2))
    assert answers == [{(False, False, False)}, {(True, True, True)}] * 2
    with pytest.raises(UnknownDistribution):
        releases("ours")


def _in_thread() -> bool:
    """Say whether the one Release of the table reads what needs 1.4.0."""
    return str(find_release("ours", "1.0").current) == "1.4.0"


def _in_child() -> bool:
    found = children.call(find_release, "ours", "1.0", timeout=60)
    return str(found.current) == "1.4.0"


def test_a_child_sees_a_table_that_was_changed(own: Path, tmp_path: Path) -> None:
    """It stands where the child read it before."""
    del own
    table = tmp_path / "releases.toml"
    for current in ("1.3.0", "1.4.0", "1.3.0"):
        table.write_text(ROW.format("ours", "1.0", current, "0.9.0"))
        use_table(table)
        assert _in_child() == (current == "1.4.0")


def test_a_table_says_nothing_of_what_readers_fail_on(own: Path) -> None:
    """A jaxlib of it was not tried with anything: others of its Version are not doubted for it."""
    # Ranges of locations are refused by the jaxlibs before 0.4.36, of StableHLO before 1.8.5.
    features = {"location:file_line_col_range"}
    own.write_text(ROW.format("jaxlib", "0.4.35.1", "1.20.0", "0.9.0"))
    _forget()
    advisory._versions.cache_clear()
    doubted = {
        version: bool(advisory.unread_for(find_release("jax-cuda12-pjrt", version), features))
        for version in ("0.4.35", "0.9.0")
    }
    assert doubted == {"0.4.35": True, "0.9.0": False}


def test_a_refused_table_leaves_nothing_behind(own: Path, tmp_path: Path) -> None:
    """Whatever was read of it before its wrong row is forgotten, in the same process too."""
    table = tmp_path / "releases.toml"
    table.write_text(
        ROW.format("ours", "1.0", "1.4.0", "0.9.0") + ROW.format("theirs", "1.0", "1.4.0", "1.5.0")
    )
    with pytest.raises(TableError, match=r"theirs 1\.0"):
        use_table(table)
    assert not own.exists()
    assert not {"ours", "theirs"} & {*distributions()}
    for distribution in ("ours", "theirs"):
        with pytest.raises(UnknownDistribution):
            releases(distribution)


def _known() -> set[str]:
    """Return what a child that answers several calls knows beside the shipped table."""
    return {"ours", "theirs", "mine"} & {*children.call(distributions, timeout=60)}


def test_a_child_knows_the_tables_of_its_caller(
    own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that a policy named after the child was started, and those of another cache folder."""
    assert _known() == set()
    (tmp_path / "releases.toml").write_text(ROW.format("ours", "1.0", "1.4.0", "0.9.0"))
    use_table(tmp_path / "releases.toml")
    assert _known() == {"ours"}
    _forget()
    assert _known() == set()
    another = tmp_path / "another"
    another.mkdir()
    (another / "releases.toml").write_text(ROW.format("mine", "1.0", "1.4.0", "0.9.0"))
    own.write_text(ROW.format("theirs", "1.0", "1.4.0", "0.9.0"))
    monkeypatch.setenv("PORTABLE_CACHE", str(another))
    assert _known() == {"mine"}
