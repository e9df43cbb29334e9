"""Nothing gets past the gate without a word, and a policy executes nothing."""

import io
import json
import os
import random
import shutil
import subprocess
import sys
import tarfile
import time
from pathlib import Path

import pytest

from compat_tests.adversarial.generators.bypass import (
    BAD,
    DISGUISES,
    GOOD,
    MODEL,
    SECONDS,
    TORCH_XLA,
    Planted,
    hidden_tree,
    plant,
)
from compat_tests.adversarial.generators.containers import call, field
from compat_tests.helpers.counting import calls
from portable.bundle import pack_files
from portable.cli import main
from portable.containers.finding import EXCLUDED_FOLDERS, find
from portable.errors import PortableError
from portable.policy import GateResult, PolicyError, gate, load_policy, parse_policy
from portable.policy.report import as_github, as_junit, as_record, as_text
from portable.releases import matching_releases

POLICY = {"consumers": {"all": ["jaxlib==0.4.30"]}}


def _seen(result: GateResult) -> set[str]:
    """Return every path that the gate did not let pass."""
    failed = {str(file.path) for file in result.files if file.failed}
    return failed | {str(left.path) for left in result.not_judged}


def _is_seen(planted: Planted, seen: set[str]) -> bool:
    """Say whether the path, what it leads to, or something in it was told."""
    paths = {str(planted.path), os.path.realpath(planted.path)}
    return any(one == path or one.startswith(f"{path}/") for path in paths for one in seen)


@pytest.mark.parametrize("depth", ["content", "header"])
@pytest.mark.parametrize("disguise", DISGUISES)
def test_every_disguise_is_seen_through(disguise: str, depth: str, tmp_path: Path) -> None:
    """A bad artifact beside a good one: it is judged or said not to be, and nothing passes."""
    if depth == "header" and disguise in {"trailing-byte", "truncated"}:
        pytest.skip("the header is sound, and all that counts")
    planted = plant(disguise, tmp_path / "tree")
    result = gate([tmp_path / "tree"], parse_policy(POLICY | {"rules": {"depth": depth}}))
    assert _is_seen(planted, _seen(result)), as_text(result)
    assert not result.passed
    assert any(file.path.name == "good.mlir.bc" and not file.failed for file in result.files)


@pytest.mark.parametrize("depth", ["content", "header"])
@pytest.mark.parametrize("second", SECONDS)
def test_what_is_two_things_is_not_judged(second: str, depth: str, tmp_path: Path) -> None:
    """A sound artifact or container that is an archive with a bad one too."""
    (tmp_path / "weights.bin").write_bytes(SECONDS[second]())
    policy = {"consumers": {"all": ["jaxlib==0.12.0.1"]}, "rules": {"depth": depth}}
    result = gate([tmp_path], parse_policy(policy))
    assert not result.passed
    (left,) = result.not_judged
    assert left.why.startswith("can be read in two ways")


@pytest.mark.parametrize("disguise", DISGUISES)
def test_every_disguise_in_a_bundle_is_seen_through(disguise: str, tmp_path: Path) -> None:
    """As another file of a Version, which lies under its digest: refused, or not judged."""
    planted = plant(disguise, tmp_path / "plain").path
    # A layer is bytes: those that are links, folders and containers of folders are no disguises.
    if planted.is_symlink() or not planted.is_file():
        pytest.skip("a link or a folder, which no layer of a bundle is")
    shutil.copytree(TORCH_XLA, tmp_path / "model")
    shutil.copy(planted, tmp_path / "model" / "data")
    try:
        pack_files([tmp_path / "model"], to=tmp_path / "bundle")
    except PortableError:
        return  # nothing that could be gated
    result = gate([tmp_path / "bundle"], parse_policy({"consumers": {"all": ["jaxlib==0.12.0.1"]}}))
    assert any(file.path.name == "bundle" and not file.failed for file in result.files)
    assert not result.passed, as_text(result)


def test_a_long_name_in_an_archive_is_told_in_short(tmp_path: Path) -> None:
    """Names compress well: 4 kB of one gave 24 MB of report, and is kept until the end."""
    member = tarfile.TarInfo("\x1b" * 1_000_000 + "/x.mlir.bc")
    member.size = len(BAD)
    with tarfile.open(tmp_path / "weights.bin", "w:gz", format=tarfile.GNU_FORMAT) as archive:
        archive.addfile(member, io.BytesIO(BAD))
    (left,) = gate(tmp_path, parse_policy(POLICY)).not_judged
    assert left.why.startswith("an archive with an artifact (...\x1b")
    assert left.why.endswith("\x1b/x.mlir.bc)")
    assert len(left.why) < 1_100


def test_what_only_happens_to_inflate_is_another_file(tmp_path: Path) -> None:
    """Nothing marks deflate: files of one byte, repeated, can be read so, some without end."""
    luck = random.Random(7)  # noqa: S311 - no secrets
    for byte in range(256):
        (tmp_path / f"{byte}.bin").write_bytes(bytes([byte]) * 5000)
        (tmp_path / f"{byte}.dat").write_bytes(luck.randbytes(500))
    (tmp_path / "good.mlir.bc").write_bytes(GOOD)
    result = gate([tmp_path], parse_policy(POLICY))
    assert result.passed, as_text(result)
    assert result.others == 512


def test_a_part_of_a_container_is_not_judged_where_it_is_two_things(tmp_path: Path) -> None:
    """The program of a bundle, and the file of a SavedModel."""
    program, model = tmp_path / "x.exported", tmp_path / "tree" / "model"
    model.parent.mkdir()
    for second in ("zip-behind-exported", "gzip-before-exported"):
        program.write_bytes(SECONDS[second]())
        pack_files([program], to=tmp_path / "tree" / second)
    shutil.copytree(MODEL, model)
    with (model / "saved_model.pb").open("ab") as file:
        file.write(field(99, SECONDS["zip-behind-exported"]()))
    policy = parse_policy({"consumers": {"all": ["tensorflow==2.20.0"]}})
    result = gate([tmp_path / "tree"], policy)
    assert [left.why[:23] for left in result.not_judged] == ["can be read in two ways"] * 3


@pytest.mark.parametrize("first", [b"NoOp", b""])
def test_a_node_of_two_ops_is_refused(first: bytes, tmp_path: Path) -> None:
    """TensorFlow takes the last; who takes the first does not see a program."""
    hidden = call("hidden", artifact=BAD).replace(
        field(2, b"XlaCallModule"), field(2, first) + field(2, b"XlaCallModule")
    )
    graph = field(1, call("seen", artifact=GOOD)) + field(1, hidden)
    model = tmp_path / "model"
    model.mkdir()
    (model / "saved_model.pb").write_bytes(field(2, field(2, graph)))
    result = gate([tmp_path], parse_policy({"consumers": {"all": ["tensorflow==2.20.0"]}}))
    assert "field 2 is duplicated" in as_text(result)


@pytest.mark.parametrize(
    "disguise", ["zip", "zip-bzip2", "zip-twice", "tar-gnu", "tar-gzip", "xz-otherwise", "zlib"]
)
def test_a_damaged_packing_ends_nothing(disguise: str, tmp_path: Path) -> None:
    """Whatever the standard library raises over it, it is that file's."""
    path = plant(disguise, tmp_path).path
    luck, data = random.Random(7), path.read_bytes()  # noqa: S311 - no secrets
    for _ in range(60):
        changed = bytearray(data)
        for _ in range(luck.choice((1, 2, 8))):
            at = luck.choice((luck.randrange(64), len(data) - 1 - luck.randrange(90)))
            changed[at] = luck.choice((0, 255, luck.randrange(256)))
        del changed[luck.randrange(len(data)) : luck.choice((0, 9, len(data)))]
        path.write_bytes(changed)
        found = [one for one in find([tmp_path]) if one.path == str(path)]
        assert len(found) == 1


@pytest.mark.parametrize("seed", range(4))
def test_every_planted_artifact_is_found(seed: int, tmp_path: Path) -> None:
    """Trees of random shapes, each with sixty of them in random disguises."""
    planted = hidden_tree(tmp_path / "tree", 60, seed)
    result = gate([tmp_path / "tree"], parse_policy(POLICY))
    seen = _seen(result)
    assert [one for one in planted if not _is_seen(one, seen)] == []
    assert sum(file.path.name == "good.mlir.bc" and not file.failed for file in result.files) == 60
    for render in (as_text, as_junit, as_github):
        assert render(result)


def test_the_command_says_so_in_every_format(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Names that are no UTF-8 too: each format is written to a file, and the exit code is 2."""
    plant("no-utf-8", tmp_path / "tree" / "a")
    plant("linked-folder", tmp_path / "tree")
    for style in ("text", "json", "junit", "github", "markdown", "html"):
        report = tmp_path / f"report.{style}"
        words = ["--for", "jaxlib==0.4.30", "--format", style, "-o", str(report)]
        assert main(["gate", str(tmp_path / "tree"), *words]) == 2
        told = report.read_text("utf-8")
        assert r"\udcff" in told
        assert "not_judged" in told or "not judged" in told.lower()
        assert "a link that leads out" in told or "a link to a folder" in told
    record = json.loads((tmp_path / "report.json").read_text())
    assert (record["artifacts"], len(record["not_judged"]), record["passed"]) == (3, 1, False)
    assert capsys.readouterr().err == ""


def test_what_is_not_judged_passes_when_told_so(tmp_path: Path) -> None:
    """`--no-strict` is for that alone: damage and findings count all the same."""
    tree = str(tmp_path / "tree")
    plant("linked-folder", tmp_path / "tree")
    words = ["gate", tree, "--for", "jaxlib==0.5.0"]
    assert main(words) == 2
    assert main([*words, "--no-strict"]) == 0
    (tmp_path / "tree" / "damaged.mlir.bc").write_bytes(BAD[:-9])
    assert main([*words, "--no-strict"]) == 2


def test_tools_folders_are_excluded_and_listed(tmp_path: Path) -> None:
    """Those that tools keep, unless they are named; everything else is searched."""
    for name in EXCLUDED_FOLDERS:
        plant("plain", tmp_path / "a" / name)
    (tmp_path / "a" / "good.mlir.bc").write_bytes(GOOD)
    result = gate([tmp_path / "a"], parse_policy(POLICY))
    assert result.passed
    assert {left.path.name for left in result.excluded} == EXCLUDED_FOLDERS
    record = as_record(result)
    assert all(name in as_text(result) and name in str(record) for name in EXCLUDED_FOLDERS)
    assert not gate([tmp_path / "a" / ".venv"], parse_policy(POLICY)).passed


def test_a_policy_excludes_and_includes(tmp_path: Path) -> None:
    """By path below the policy, or by name; what is excluded is listed with its pattern."""
    plant("plain", tmp_path / "old" / "a")
    plant("no-ending", tmp_path / "new")
    (tmp_path / "new" / "notes.model").write_text("no artifact")
    rules = {"exclude": ["old/*", "x", "third_party/"]}
    result = gate([tmp_path], parse_policy(POLICY | {"rules": rules}, root=tmp_path))
    assert result.passed
    assert {(left.path.name, left.why) for left in result.excluded} == {("a", "old/*"), ("x", "x")}
    assert result.others == 1
    rules = {"exclude": ["old"], "include": ["*.model"]}
    result = gate([tmp_path], parse_policy(POLICY | {"rules": rules}, root=tmp_path))
    assert {file.path.name for file in result.files if file.failed} == {"x", "notes.model"}


def test_a_path_with_nothing_in_it_is_told(tmp_path: Path) -> None:
    """An empty folder or a missing file beside a good one: the rest is judged, the code is 2."""
    (tmp_path / "empty").mkdir()
    (tmp_path / "good.mlir.bc").write_bytes(GOOD)
    paths = [tmp_path / "empty", tmp_path / "good.mlir.bc", tmp_path / "missing"]
    result = gate(paths, parse_policy(POLICY))
    assert result.unreadable
    assert [file.failed for file in result.files] == [True, False, True]
    assert "empty: artifact: " in as_text(result)
    assert "no such file" in as_text(result)


def test_the_files_of_a_change_are_judged_as_in_a_folder(tmp_path: Path) -> None:
    """What version control names: other files, deleted ones and none at all are no errors."""
    policy = parse_policy(POLICY)
    assert gate([], policy, changed=True).passed
    (tmp_path / "README.md").write_text("text")
    result = gate([tmp_path / "README.md", tmp_path / "deleted"], policy, changed=True)
    assert (result.passed, result.others) == (True, 1)
    for disguise in set(DISGUISES) - {"too-deep", "below-another-model"}:
        planted = plant(disguise, tmp_path / disguise)
        changed = [
            os.path.join(here, name)  # noqa: PTH118 - deeper than pathlib likes
            for here, folders, names in os.walk(tmp_path / disguise)
            for name in (*names, *(one for one in folders if Path(here, one).is_symlink()))
        ]
        seen = _seen(gate(changed, policy, changed=True))
        assert _is_seen(planted, seen), disguise


def test_the_files_of_a_change_may_be_named_from_where_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As `git diff --name-only` does, so that what lies at the top has no slash in its name."""
    policy = parse_policy(POLICY)
    for disguise in set(DISGUISES) - {"too-deep", "below-another-model"}:
        planted = plant(disguise, tmp_path / disguise)
        monkeypatch.chdir(tmp_path / disguise)
        changed = [
            os.path.relpath(os.path.join(here, name))  # noqa: PTH118 - as git prints it
            for here, folders, names in os.walk(".")
            for name in (*names, *(one for one in folders if Path(here, one).is_symlink()))
        ]
        seen = {os.path.realpath(one) for one in _seen(gate(changed, policy, changed=True))}
        seen |= {os.path.abspath(one) for one in _seen(gate(changed, policy, changed=True))}  # noqa: PTH100 - a link stays one
        assert _is_seen(planted, seen), disguise


@pytest.mark.parametrize(
    "name",
    ["--no-strict", "--policy=p.toml", "--report=x.json", "--output=x", "-q", "-ox", "--help"],
)
def test_the_name_of_a_file_is_no_option(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Tools append the files of a change to the command line, as a shell does those of `*`."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_bytes(BAD)
    (tmp_path / "portable.toml").write_text('[consumers]\nall = ["jaxlib==0.4.30"]\n')
    (tmp_path / "p.toml").write_text('[consumers]\nall = ["jaxlib==0.10.2"]\n')
    before = set(tmp_path.iterdir())
    for words in (["gate", "--changed", name], ["gate", ".", name], ["inspect", name]):
        assert main(words) == 2
        assert "write -- before" in capsys.readouterr().err
    assert main(["gate", "--changed", "--", name]) == 1
    assert set(tmp_path.iterdir()) == before
    hook = (Path(__file__).parents[2] / ".pre-commit-hooks.yaml").read_text()
    assert "args: [--]" in hook


def test_any_file_may_be_in_a_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that has the ending of an audit is a file like others; a URL is none."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.parquet").write_bytes(b"PAR1")
    words = ["gate", "--changed", "--for", "jaxlib==0.10.2", "--"]
    assert main([*words, "data.parquet"]) == 0
    assert main([*words, "s3://bucket/a.mlir.bc"]) == 2


def test_the_work_is_linear(tmp_path: Path) -> None:
    """Four trees that are the same take no more than four times the calls of one."""
    policy = parse_policy(POLICY)

    def called(count: int) -> int:
        root = tmp_path / f"{count}"
        for number in range(count):
            hidden_tree(root / f"{number}", 20, 7)
        return calls(lambda: gate([root], policy))

    called(1)  # What is done once.
    assert called(8) < 4 * called(2)


_EVIL = """
#include <fcntl.h>
#include <stdlib.h>
__attribute__((constructor)) static void loaded(void) { open(LOADED, O_CREAT, 0600); }
"""


@pytest.fixture
def evil(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a shared library that leaves a file where it is loaded, and go beside it."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler to build a library with")
    (tmp_path / "evil.c").write_text(_EVIL)
    # Its environment is what a worker is given: the path cannot come from there.
    where = f'-DLOADED="{tmp_path / "loaded"}"'
    built = ["-o", str(tmp_path / "evil.so"), str(tmp_path / "evil.c")]
    subprocess.run([compiler, "-shared", "-fPIC", where, *built], check=True)
    (tmp_path / "good.mlir.bc").write_bytes(GOOD)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "loaded"


_RULES = '[rules]\nconsumers = ["jaxlib==0.5.0"]\n'
_WAIVER = 'rule = "consumer"\npath = "*"\nreason = "why"\nexpires = 2099-01-01\n'
_PLACES = {
    "a set": '[consumers]\na = ["PLUGIN"]\n',
    "a set that nobody uses": f'[consumers]\nb = ["PLUGIN"]\n{_RULES}',
    "a set in a set": '[consumers]\na = ["@b"]\nb = ["jaxlib==0.5.0", "PLUGIN"]\n',
    "the rules": '[rules]\nconsumers = ["PLUGIN"]\n',
    "a waiver": f'{_RULES}[[waivers]]\n{_WAIVER}consumer = "PLUGIN"\n',
}


@pytest.mark.parametrize("spelling", ["plugin:evil.so", "  plugin:evil.so", "plugin: ./evil.so"])
@pytest.mark.parametrize("place", _PLACES)
def test_a_policy_loads_nothing(
    place: str, spelling: str, evil: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Wherever a plugin stands, it is refused with the option that allows it; nothing is loaded."""
    text = _PLACES[place].replace("PLUGIN", spelling)
    Path("portable.toml").write_text(text)
    for words in (["."], [".", "--for", "jaxlib==0.5.0"], [".", "--observe"]):
        assert main(["gate", *words]) == 2
        error = capsys.readouterr().err
        assert "--load-plugins" in error
        assert error.count("\n") == 1
    with pytest.raises(PolicyError, match="a policy does not load"):
        load_policy()
    assert not evil.exists()


def test_a_plugin_that_the_user_names_is_asked(
    evil: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """On the command line, or by the policy when told so; in a child process, as ever."""
    assert main(["gate", ".", "--for", "plugin:evil.so"]) == 2
    assert "evil.so" in capsys.readouterr().err
    assert evil.exists()
    evil.unlink()
    Path("portable.toml").write_text('[consumers]\na = ["plugin:evil.so"]\n')
    assert main(["gate", ".", "--load-plugins"]) == 2
    assert evil.exists()


def test_pytest_loads_no_plugin_of_a_policy(evil: Path) -> None:
    """The fixture reads the policy of the project that it runs in."""
    Path("portable.toml").write_text('[consumers]\na = ["plugin:evil.so"]\n')
    Path("test_it.py").write_text(
        "def test(assert_portable):\n    assert_portable('good.mlir.bc')\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_it.py"],
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == 1
    assert "a policy does not load" in done.stdout
    assert not evil.exists()


def test_sets_of_sets_do_not_grow(tmp_path: Path) -> None:
    """Seven levels of sets that name the next thirty times: 30**7 consumers, if each counted."""
    sets = {f"s{level}": [f"@s{level + 1}"] * 30 for level in range(7)} | {"s7": ["jaxlib==0.5.0"]}
    began = time.process_time()
    assert len(matching_releases("@s0", consumers=sets)) == 1
    (tmp_path / "good.mlir.bc").write_bytes(GOOD)
    assert gate([tmp_path], parse_policy({"consumers": sets})).passed
    assert time.process_time() - began < 20


def test_a_policy_does_not_have_the_disk_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder that is named as a runtime may have as many members as an archive."""
    monkeypatch.setattr("portable.inspection.library._MEMBERS", 100)
    for number in range(101):
        (tmp_path / f"{number}.so").write_bytes(b"\x7fELF")
    began = time.process_time()
    with pytest.raises(PolicyError, match="more than 100 members"):
        parse_policy({"consumers": {"all": ["./"]}}, root=tmp_path)
    with pytest.raises(PolicyError, match="more than 100 members"):
        parse_policy({"consumers": {"all": ["/"]}}, root=tmp_path)
    assert time.process_time() - began < 20


def test_consumers_of_the_command_line_replace_those_of_the_policy(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`--for` as in other commands; sets of the policy by name; the other rules hold."""
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "tan.mlir.bc").write_bytes(BAD)
    assert main(["gate", str(tree), "--for", "jaxlib==0.5.0"]) == 0
    assert main(["gate", str(tree), "--for", "jaxlib==0.5.0", "jaxlib==0.4.30"]) == 1
    policy = tmp_path / "p.toml"
    policy.write_text('[consumers]\nold = ["jaxlib==0.4.30"]\n[rules]\nlocations = "none"\n')
    words = ["gate", str(tree), "--policy", str(policy)]
    assert main(words) == 1
    capsys.readouterr()
    assert main([*words, "--for", "@old", "jaxlib==0.5.0", "--format", "json"]) == 1
    assert json.loads(capsys.readouterr().out)["consumers"] == ["jaxlib 0.4.30", "jaxlib 0.5.0"]
    policy.write_text('[rules]\nexclude = ["tan*"]\n')
    assert main([*words, "--for", "jaxlib==0.5.0"]) == 2, "everything is excluded"
    assert main(words) == 2
    assert "no consumers" in capsys.readouterr().err
    assert main(["gate", str(tree), "--for", "jaxlb>=1"]) == 2
    assert "did you mean jaxlib" in capsys.readouterr().err
