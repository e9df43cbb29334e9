"""For which platforms a container's programs were exported, and whether a Release is of one."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from portable.cli import main
from portable.containers import open_path
from portable.prediction import predict
from portable.verdict import Stage

DATA = Path(__file__).parents[1] / "data"
SAVED_MODEL = DATA / "containers" / "gate-jax2tf-0.7.1-tensorflow-2.20.0"


def _exported(name: str) -> Path:
    return DATA / "questions" / f"sine-{name}.exported"


def _compiles(path: Path, release: str) -> bool | None:
    return predict(path, release, stage=Stage.COMPILE).holds(Stage.COMPILE)


@pytest.mark.parametrize(
    ("name", "platforms"),
    [("cuda", ("cuda",)), ("cpu-cuda", ("cpu", "cuda")), ("unchecked", ())],
)
def test_an_exported_says_for_which_platforms_it_is(name: str, platforms: tuple[str, ...]) -> None:
    """Each of its programs does; where jax does not look at them, nothing is said."""
    for entry in open_path(str(_exported(name))).artifacts():
        assert entry.opener is not None
        assert entry.opener.platforms == platforms
        assert entry.versions.get("platforms", "") == ", ".join(platforms)


@pytest.mark.parametrize(
    ("name", "release", "compiles"),
    [
        # jax 0.10.2: was exported for platforms ('cuda',) but it is used on ('cpu',)
        ("cuda", "jaxlib 0.10.2", False),
        ("cuda", "jax-cuda13-pjrt 0.11.2", True),
        ("cpu-cuda", "jaxlib 0.10.2", True),
        ("unchecked", "jaxlib 0.10.2", True),
    ],
)
def test_a_release_of_another_platform_does_not_compile_it(
    name: str, release: str, *, compiles: bool
) -> None:
    """As jax 0.10.2 did on 2026-11-27 on the CPU; the check may be disabled by who exports."""
    assert _compiles(_exported(name), release) is compiles


def test_what_to_do_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    """By the command that a user would ask with first."""
    assert main(["check", str(_exported("cuda")), "--for", "jax==0.10.2"]) == 1
    assert "exported for cuda, and jaxlib 0.10.2 is for cpu" in capsys.readouterr().out
    assert main(["inspect", str(_exported("cuda"))]) == 0
    assert "platforms cuda" in capsys.readouterr().out


@pytest.mark.parametrize(("platform", "compiles"), [("CPU", True), ("TPU", False)])
def test_a_saved_model_says_it_too(platform: str, *, compiles: bool, tmp_path: Path) -> None:
    """TensorFlow 2.20.0 on 2026-11-27: CPU is not among the platforms required by the module."""
    model = tmp_path / "model"
    shutil.copytree(SAVED_MODEL, model)
    path = model / "saved_model.pb"
    before, name, behind = path.read_bytes().partition(b"CPU*\x1c\n\x16use_shardy")
    rest = behind.replace(b"\x05\x12\x03CPU", b"\x05\x12\x03" + platform.encode())
    path.write_bytes(before + platform.encode() + name[3:] + rest)
    assert _compiles(model, "tensorflow 2.20.0") is compiles
