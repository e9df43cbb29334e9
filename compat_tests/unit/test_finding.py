"""Each file under a path is judged, or left out for a reason that is reported."""

from __future__ import annotations

import gzip
import lzma
import os
import shutil
from pathlib import Path

import pytest

from portable.containers.finding import EXCLUDED_FOLDERS, Fate, Found, NothingFound, find

DATA = Path(__file__).parents[1] / "data"
ARTIFACT = (DATA / "artifacts" / "add_f32+0.9.0.mlir.bc").read_bytes()
TORCH_XLA = min((DATA.parents[1] / "corpus").glob("torch_xla/*/container"))
SAVED_MODEL = DATA / "containers" / "gate-jax2tf-0.7.1-tensorflow-2.20.0"
OUT = "a link that leads out of the folder"
NOWHERE = "a broken link"
PACKED = "a compressed artifact"
# name -> content, fate, why
FILES: dict[str, tuple[bytes, Fate, str]] = {
    "by_content.bin": (ARTIFACT, Fate.ARTIFACT, ""),
    "by_name.MLIR.BC": (b"damaged", Fate.ARTIFACT, ""),
    "other.txt": (b"other", Fate.OTHER, ""),
    "packed.a": (gzip.compress(ARTIFACT), Fate.NOT_JUDGED, PACKED),
    "packed.b": (lzma.compress(ARTIFACT), Fate.NOT_JUDGED, PACKED),
    "packed.exported.zst": (b"any", Fate.NOT_JUDGED, PACKED),
    "packed.zst": (b"any", Fate.OTHER, ""),
    "text.gz": (gzip.compress(b"other"), Fate.OTHER, ""),
    "broken.gz": (gzip.compress(ARTIFACT)[:9] + bytes(range(99)), Fate.OTHER, ""),
    "broken.xz": (lzma.compress(ARTIFACT)[:6] + bytes(range(99)), Fate.OTHER, ""),
    "saved_model.pbtxt": (b"any", Fate.NOT_JUDGED, "a SavedModel in text form"),
    "below/another.bin": (ARTIFACT, Fate.ARTIFACT, ""),
    "below/also.skip": (ARTIFACT, Fate.EXCLUDED, "*.skip"),
    "left/out/kept.bin": (ARTIFACT, Fate.EXCLUDED, "left/out/*"),
}
# name -> where it leads, fate, why
LINKS = {
    "link_inside": ("below/another.bin", Fate.ARTIFACT, ""),
    "link_outside": ("../outside.bin", Fate.NOT_JUDGED, OUT),
    "link_outside.txt": ("../tree.bin", Fate.NOT_JUDGED, OUT),
    "link_nowhere.mlir.bc": ("nowhere", Fate.NOT_JUDGED, NOWHERE),
    "link_nowhere": ("nowhere", Fate.NOT_JUDGED, NOWHERE),
    "link_folder_inside": ("below", Fate.OTHER, ""),
    "link_folder_outside": ("..", Fate.NOT_JUDGED, "a link to a folder that is not searched"),
    "link_skipped.skip": ("below/another.bin", Fate.EXCLUDED, "*.skip"),
}


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with one of everything."""
    top = tmp_path / "tree"
    for name, (content, _, _) in FILES.items():
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_bytes(content)
    for outside in ("outside.bin", "tree.bin"):
        (tmp_path / outside).write_bytes(ARTIFACT)
    for name, (goal, _, _) in LINKS.items():
        (top / name).symlink_to(goal)
    (top / ".git").mkdir()
    (top / ".git" / "kept.bin").write_bytes(ARTIFACT)
    os.mkfifo(top / "fifo")
    os.mkfifo(top / "fifo.exported")
    monkeypatch.chdir(tmp_path)
    return top


def _told(found: list[Found], top: Path) -> dict[str, tuple[Fate, str]]:
    return {str(Path(one.path).relative_to(top)): (one.fate, one.why) for one in found}


def test_everything_in_a_folder_is_told_once(tree: Path) -> None:
    """By content and by name; what is compressed, linked, excluded or no file says so."""
    found = list(find([tree], exclude=["*.skip", "left/out/*"], root=tree))
    expected = {name: (fate, why) for name, (_, fate, why) in (FILES | LINKS).items()}
    expected |= {
        ".git": (Fate.EXCLUDED, "by default"),
        "fifo": (Fate.OTHER, ""),
        "fifo.exported": (Fate.NOT_JUDGED, "cannot read: is a FIFO, not a regular file"),
    }
    assert _told(found, tree) == expected
    assert len(found) == len(expected)
    opened = {Path(one.path).name for one in found if one.container is not None}
    assert opened == {"by_content.bin", "by_name.MLIR.BC", "another.bin", "link_inside"}


def test_files_come_before_folders_and_links_last(tree: Path) -> None:
    """In the order of their names, so that reports of two runs can be compared."""
    names = [str(Path(one.path).relative_to(tree)) for one in find([tree])]
    order = [(name in LINKS, name.count("/"), name) for name in names]
    assert order == sorted(order)


def test_other_names_may_be_added(tree: Path) -> None:
    """A file that is named as the user says is judged, whatever is in it."""
    (named,) = [one for one in find([tree], names=["*.TXT"]) if one.path.endswith("other.txt")]
    assert named.fate is Fate.ARTIFACT


def test_a_folder_is_found_once_however_often_it_is_named(tree: Path) -> None:
    """Also where it is named with what lies in it."""
    once = [one.path for one in find([tree])]
    again = find([tree, tree, tree / "below", tree / "other.txt"])
    assert [one.path for one in again] == once


@pytest.mark.parametrize("content", [{}, {"a.txt": b"other"}])
def test_a_named_folder_without_artifacts_is_an_error(
    content: dict[str, bytes], tmp_path: Path
) -> None:
    """A gate over the wrong folder must not pass; a compressed artifact is enough to say more."""
    for name, data in content.items():
        (tmp_path / name).write_bytes(data)
    *others, last = find([tmp_path])
    assert [one.fate for one in others] == [Fate.OTHER] * len(content)
    assert isinstance(last.error, NothingFound)
    (tmp_path / "b.gz").write_bytes(gzip.compress(ARTIFACT))
    assert not any(one.error for one in find([tmp_path]))


def test_what_is_named_is_judged_whatever_it_is(tree: Path) -> None:
    """Unless a rule excludes it; a path that is not there is an error."""
    (text,) = find([tree / "other.txt"])
    assert text.fate is Fate.ARTIFACT
    (linked,) = find([tree / "link_outside"])
    assert linked.container is not None
    (absent,) = find([tree / "absent"])
    assert isinstance(absent.error, NothingFound)
    (skipped,) = find([tree / "below" / "also.skip"], exclude=["*.skip"])
    assert (skipped.fate, skipped.why) == (Fate.EXCLUDED, "*.skip")


def test_files_of_a_change_are_treated_as_if_they_were_searched_for(tree: Path) -> None:
    """What is no artifact is counted, what was deleted is nothing, links lead no further."""
    changed = [tree / name for name in (*FILES, *LINKS, "deleted")]
    found = list(find(changed, exclude=["*.skip", "left/out/*"], root=tree, changed=True))
    expected = {name: (fate, why) for name, (_, fate, why) in FILES.items()}
    told = _told(found, tree)
    assert {name: told[name] for name in FILES} == expected
    for name in ("link_nowhere", "link_nowhere.mlir.bc"):
        assert told[name] == (Fate.NOT_JUDGED, NOWHERE)
    assert told["link_inside"] == (Fate.ARTIFACT, "")
    assert told["link_skipped.skip"] == (Fate.EXCLUDED, "*.skip")
    assert "deleted" not in told


CHANGED = {
    TORCH_XLA: ["functions/forward.meta", "functions/forward.bytecode"],
    SAVED_MODEL: ["saved_model.pb"],
}


@pytest.mark.parametrize(
    ("home", "file"), [(h, file) for h, files in CHANGED.items() for file in files]
)
def test_a_changed_file_of_a_container_stands_for_the_container(
    home: Path, file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whichever file of it a commit touches, and wherever that is named from, all is judged."""
    model = tmp_path / "model"
    shutil.copytree(home, model)
    for here, path in ((tmp_path, model / file), (model, Path(file))):
        monkeypatch.chdir(here)
        (found,) = [one for one in find([path], changed=True) if one.fate is Fate.ARTIFACT]
        assert found.error is None
        assert found.container is not None
        assert Path(found.path).resolve() == model
    (model / "notes.txt").write_text("any", "utf-8")
    (beside,) = find([model / "notes.txt"], changed=True)
    assert (beside.path, beside.fate) == (str(model / "notes.txt"), Fate.OTHER)


@pytest.mark.parametrize("name", sorted(EXCLUDED_FOLDERS))
def test_folders_of_tools_are_not_searched(name: str, tmp_path: Path) -> None:
    """Unless they are named themselves."""
    (tmp_path / name).mkdir()
    (tmp_path / name / "one.mlir.bc").write_bytes(ARTIFACT)
    assert next(find([tmp_path])).fate is Fate.EXCLUDED
    assert [one.fate for one in find([tmp_path / name])] == [Fate.ARTIFACT]
