"""Trees that nest deeper than a path is long, and trees of which a part cannot be listed."""

import inspect
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from portable.cli import main
from portable.system import scratch
from portable.system.files import write_file
from portable.system.trees import remove_tree, walk

DATA = Path(__file__).parents[1] / "data"
ARTIFACT = (DATA / "artifacts" / "mesh_inline+1.16.0.mlir.bc").read_bytes()
SAVED_MODEL = DATA / "containers" / "gate-jax2tf-0.7.1-tensorflow-2.20.0"
FRAMES = 400
"""How many calls the tests may nest; Python's own limit is a thousand."""
DEEP, LONG = ("d", 600), ("d" * 20, 600)
"""The name of each folder and how many there are: more than calls, and more than a path may be."""
CONSUMER = ("--for", "jaxlib==0.12.0.1")


def deepen(folder: Path, name: str, levels: int) -> Path:
    """Make folders within each other, with an artifact in the innermost; return the first."""
    folder.mkdir(parents=True)
    here = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    for _ in range(levels - 1):
        os.mkdir(name, dir_fd=here)
        below = os.open(name, os.O_RDONLY | os.O_DIRECTORY, dir_fd=here)
        os.close(here)
        here = below
    handle = os.open("deep.mlir.bc", os.O_WRONLY | os.O_CREAT, dir_fd=here)
    os.write(handle, ARTIFACT)
    os.close(handle)
    os.close(here)
    return folder


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Stand in a folder that is removed however deep it becomes, with few calls left."""
    monkeypatch.chdir(tmp_path)
    scratch.forget()
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack()) + FRAMES)
    yield
    sys.setrecursionlimit(before)
    for one in tmp_path.iterdir():
        if one.is_dir():
            remove_tree(one)


def _ended(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    code = main(list(words))
    said = "".join(capsys.readouterr())
    assert "internal error" not in said
    assert "recursion" not in said
    return code, said


def test_every_entry_is_walked() -> None:
    """Or it is refused, where the path is too long for the operating system."""
    found = list(walk(deepen(Path("tree"), *DEEP)))
    assert len(found) == DEEP[1]
    assert found[-1].path.endswith("/deep.mlir.bc")
    with pytest.raises(OSError, match="too long"):
        list(walk(deepen(Path("other"), *LONG)))


def test_a_tree_of_any_depth_is_removed() -> None:
    """What a link in it leads to stays."""
    tree = deepen(Path("tree"), *LONG)
    outside = Path("outside")
    outside.mkdir()
    (outside / "kept").touch()
    (tree / "link").symlink_to(outside.absolute())
    remove_tree(tree)
    assert not tree.exists()
    assert (outside / "kept").exists()


def test_what_is_left_behind_is_swept_however_deep() -> None:
    """A tree in a repository may have the name of ours; nothing could be written beside it."""
    left = deepen(Path(".portable-abcdefgh.tmp"), *LONG)
    write_file("out", b"1")
    assert not left.exists()


@pytest.mark.parametrize("tree", [DEEP, LONG], ids=["deep", "long"])
@pytest.mark.parametrize("command", ["inspect", "gate", "audit"])
def test_a_deep_tree_is_read(
    command: str, tree: tuple[str, int], capsys: pytest.CaptureFixture[str]
) -> None:
    """What lies deeper than a path is long is not judged, and hides nothing beside it."""
    deepen(Path("tree"), *tree)
    Path("tree/first.mlir.bc").write_bytes(ARTIFACT)
    Path("tree/z.mlir.bc").write_bytes(ARTIFACT)
    words = {"gate": CONSUMER, "audit": ("-o", "fleet.parquet")}
    if command == "audit":
        pytest.importorskip("pyarrow")
    code, said = _ended(capsys, command, "tree", *words.get(command, ()))
    assert code == (2 if tree == LONG else 0)
    if command != "inspect":
        assert f"{2 if tree == LONG else 3} artifacts" in said


@pytest.mark.parametrize("command", ["pin", "bundle"])
def test_a_container_with_deep_folders_is_copied(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Or refused, by the names that a layer of a bundle may have."""
    pytest.importorskip("jaxlib")
    shutil.copytree(SAVED_MODEL, "model")
    deepen(Path("model/assets.extra"), *DEEP)
    words = ("--target", "1.9.0") if command == "pin" else ("--for", "tensorflow>=2.20")
    code, said = _ended(capsys, command, "model", *words, "-o", "copy")
    assert code == 0 or (command == "bundle" and "assets.extra" in said), said
    assert not list(Path().glob(".portable-*"))


def test_a_folder_that_cannot_be_listed_ends_no_audit() -> None:
    """It has a row of its own, until it can be listed; `lost+found` is one."""
    pytest.importorskip("pyarrow")
    for name in ("a", "closed", "z"):
        Path("tree", name).mkdir(parents=True)
        Path("tree", name, "one.mlir.bc").write_bytes(ARTIFACT)
    Path("tree/closed").chmod(0)
    try:
        done = _without_privileges("audit", "tree", "-o", "fleet.parquet")
    finally:
        Path("tree/closed").chmod(0o700)
    assert "2 artifacts in 3 objects" in done.stdout, done.stderr
    assert "1 could not be read" in done.stdout
    assert done.returncode == 2
    again = _without_privileges("audit", "tree", "-o", "fleet.parquet")
    assert "3 artifacts in 3 objects, of which 2 are unchanged" in again.stdout
    assert again.returncode == 0


def _without_privileges(*words: str) -> subprocess.CompletedProcess[str]:
    """Run a command; the superuser without what lets it read everything."""
    drop = [] if os.geteuid() else ["setpriv", "--inh-caps=-all", "--bounding-set=-all"]
    if drop and shutil.which("setpriv") is None:
        pytest.skip("setpriv of util-linux is not installed")
    command = [*drop, sys.executable, "-m", "portable", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)
