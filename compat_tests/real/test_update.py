"""`portable releases update`: what an index has that the table lacks, read from its wheels."""

import json
import multiprocessing
from collections.abc import Iterator
from pathlib import Path

import pytest

from compat_tests.helpers.binaries import library, names_of
from compat_tests.helpers.tables import forget
from compat_tests.helpers.wheels import see_only, write_wheel
from portable.cli import main
from portable.releases import find_release, releases
from portable.releases.table import own_table
from portable.runtime.environments import Environments
from portable.runtime.environments.index import published
from portable.runtime.measuring import CannotMeasure, add_own, measure, shipped_rows

pytestmark = pytest.mark.old_releases


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return a folder that is the whole index, and forget afterwards what was added."""
    folder = tmp_path / "index"
    folder.mkdir()
    see_only(folder, tmp_path, monkeypatch)
    forget()
    yield folder
    monkeypatch.undo()
    forget()


def _publish(folder: Path, version: str, stablehlo: str) -> None:
    files = {"jax_plugins/metal/plugin.dylib": library(*names_of(stablehlo))}
    write_wheel(folder, "jax_metal", files, version)


def test_what_came_out_is_in_the_answers_after_one_command(
    index: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """New Releases are read, added, marked as the user's own, and judged like all others."""
    _publish(index, "0.1.0", "0.19.0")
    _publish(index, "9.1.0", "1.4.0")
    _publish(index, "9.2.0", "1.22.0")
    assert main(["releases", "update", "jax-metal"]) == 0
    said = capsys.readouterr().out
    assert "jax-metal 9.1.0: StableHLO at least 1.4.0, below 1.5.0 (own table)" in said
    assert "jax-metal 9.2.0" in said
    assert "0.1.0" not in said
    forget()
    found = find_release("jax-metal 9.1.0")
    assert found.own
    assert str(found.current) == "1.4.0"
    assert [str(one) for one in releases("jax-metal")][-2:] == [
        "jax-metal 9.1.0",
        "jax-metal 9.2.0",
    ]
    assert main(["target", "--for", "jax-metal>=9"]) == 0
    assert "target 1.4.0: jax-metal 9.1.0" in capsys.readouterr().out
    assert main(["releases", "update", "jax-metal"]) == 0
    assert "nothing new" in capsys.readouterr().out


def test_a_release_of_an_older_series_is_new(
    index: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As jaxlib 0.8.3, nine days after 0.9.0; what is older than the table stays unknown."""
    _publish(index, "0.0.3", "0.9.0")
    _publish(index, "0.0.8", "0.18.0")
    assert main(["releases", "update", "jax-metal"]) == 0
    said = capsys.readouterr().out
    assert "jax-metal 0.0.8" in said
    assert "0.0.3" not in said


@pytest.mark.parametrize(
    "tag",
    [
        "cp311-cp311-manylinux_2_28_x86_64",
        "cp312-cp312-manylinux_2_34_x86_64",
        "cp314-cp314-manylinux2014_x86_64",
        "cp311-abi3-macosx_11_0_arm64",
        "cp313-cp313-macosx_26_0_arm64",
        "py3-none-win_amd64",
    ],
)
def test_a_release_for_any_system_is_seen(index: Path, tag: str) -> None:
    """As torch_xla 2.7.0 is (Python 3.11, glibc 2.28), plugins for macOS 26, and for Windows."""
    wheel = write_wheel(index, "jax_metal", {"jax_plugins/__init__.py": b""}, "9.1.0")
    wheel.rename(wheel.with_name(f"jax_metal-9.1.0-{tag}.whl"))
    assert published("jax-metal") == ("9.1.0",)


@pytest.mark.parametrize("requires", [">=3.14", "<3.12"])
def test_a_wheel_for_any_system_requires_a_python(index: Path, requires: str) -> None:
    """Its name does not say which, and what reads it is none: winjax-cuda13-pjrt demands 3.13."""
    files = {"jax_plugins/metal/plugin.dylib": library(*names_of("1.4.0"))}
    write_wheel(index, "jax_metal", files, "9.1.0", requires)
    assert main(["releases", "update", "jax-metal"]) == 0
    forget()
    assert str(find_release("jax-metal 9.1.0").current) == "1.4.0"


def test_a_release_that_is_known_to_have_no_library_is_not_new(
    index: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """tensorflow-macos 2.16.2 installs tensorflow and no more: no update fails for it."""
    write_wheel(index, "tensorflow_macos", {"tensorflow_macos.py": b""}, "2.16.2")
    assert main(["releases", "update", "tensorflow-macos"]) == 0
    assert "nothing new" in capsys.readouterr().out


def test_what_cannot_be_read_is_said_and_the_rest_is_kept(
    index: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One wheel without a library ends with 2; the others are added."""
    _publish(index, "9.2.0", "1.4.0")
    write_wheel(index, "jax_metal", {"jax_plugins/__init__.py": b""}, "9.1.0")
    assert main(["releases", "update", "jax-metal", "--format", "json"]) == 2
    captured = capsys.readouterr()
    assert [one["version"] for one in json.loads(captured.out)["added"]] == ["9.2.0"]
    assert "jax-metal==9.1.0: " in captured.err


def test_an_index_without_the_distribution_has_nothing_new(
    index: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is no failure: indexes of companies mirror what they use."""
    assert not list(index.iterdir())
    assert main(["releases", "update", "jax-metal"]) == 0
    assert "nothing new" in capsys.readouterr().out


def test_an_index_that_does_not_answer_is_an_error(
    index: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is not "nothing new": the answer is not known, and what is left is not tried in vain."""
    assert index.is_dir()
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.setenv("PIP_RETRIES", "0")
    monkeypatch.setenv("UV_HTTP_RETRIES", "0")
    for client in ("PIP_INDEX_URL", "UV_DEFAULT_INDEX"):
        monkeypatch.setenv(client, "http://127.0.0.1:9/simple")
    assert main(["releases", "update", "jax-metal", "jax-mps", "libtpu"]) == 2
    captured = capsys.readouterr()
    assert "nothing new" not in captured.out
    assert captured.err.count("asking the index") == 1
    assert "not asked: jax-mps, libtpu" in captured.err


def test_offline_says_how_old_the_table_is(
    index: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing is asked, and the error has the table's age."""
    assert index.is_dir()
    monkeypatch.setenv("PORTABLE_OFFLINE", "1")
    assert main(["releases", "update"]) == 2
    said = capsys.readouterr().err
    assert "the newest row of 20" in said
    assert main(["releases", "list", "jaxlib==0.10.2"]) == 0
    assert "the newest row of 20" in capsys.readouterr().err


def test_a_wheel_of_no_date_is_not_measured(index: Path) -> None:
    """A folder of wheels has no upload times; a row needs one, and the error names the wheel."""
    write_wheel(index, "jaxlib", {"jaxlib/__init__.py": b""}, "98.0")
    with pytest.raises(CannotMeasure, match="uploaded") as refused:
        measure("jaxlib==98.0", Environments(), shipped_rows())
    assert refused.value.where == "jaxlib-98.0-py3-none-any.whl"


def test_a_release_without_a_wheel_for_here_is_not_measured(index: Path) -> None:
    """The wheels that it has are for other Pythons."""
    wheel = write_wheel(index, "jaxlib", {"jaxlib/__init__.py": b""}, "98.0")
    wheel.rename(wheel.with_name("jaxlib-98.0-cp39-cp39-win_amd64.whl"))
    for version in ("98.0", "97.0"):
        with pytest.raises(CannotMeasure, match=rf"no wheel of jaxlib {version}"):
            measure(f"jaxlib=={version}", Environments(), shipped_rows())


def _add(number: int) -> None:
    add_own(
        {
            "distribution": "ours",
            "version": f"1.{number}",
            "date": "2026-11-22",
            "current_low": "1.9.0",
            "current_below": "1.10.0",
            "confidence": "static",
            "method": "static",
        }
    )


def test_updates_at_once_lose_no_row(index: Path) -> None:
    """Each process adds rows to one table; all are there afterwards."""
    assert index.is_dir()
    with multiprocessing.get_context("spawn").Pool(4) as pool:
        pool.map(_add, range(24), chunksize=1)
    forget()
    assert {one.version for one in releases("ours")} == {f"1.{number}" for number in range(24)}
    assert Path(own_table()).read_text("utf-8").count("[[release]]") == 24
