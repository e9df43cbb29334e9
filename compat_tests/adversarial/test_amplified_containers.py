"""Small containers stay small: time, memory and output are linear in their bytes.

As for artifacts, in `test_amplification`.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("flatbuffers", reason="writes Exported")

from compat_tests.adversarial.generators.containers import CONTAINERS
from compat_tests.adversarial.generators.packing import PACKED
from compat_tests.adversarial.measuring import ON_LINUX, measured, size_of
from compat_tests.helpers.thorough import some
from compat_tests.helpers.written import Program, Step
from portable.containers import MalformedContainer, open_container

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SIZE = 2000
FLOOR_SECONDS, FLOOR_BYTES = 2.0, 40 << 20
SECONDS, RESIDENT, PRINTED = 15e-6, 100, 60  # for each byte of input


@ON_LINUX
@pytest.mark.parametrize("scale", [1, 8])
@pytest.mark.parametrize("name", PACKED)
def test_what_looks_into_packed_files_is_linear(name: str, scale: int, tmp_path: Path) -> None:
    """A gate looks for artifacts in compressed files and archives, however far they unpack."""
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "weights.bin").write_bytes(PACKED[name](scale))
    taken = measured("gate json", tmp_path / "tree")
    size = size_of(tmp_path / "tree")
    assert taken.status == 2, taken.said
    assert "Traceback" not in taken.said
    assert taken.seconds < FLOOR_SECONDS + SECONDS * size
    assert taken.resident < FLOOR_BYTES + RESIDENT * size


@ON_LINUX
@pytest.mark.parametrize("job", ["inspect json", "check json", "gate json", "predict"])
@pytest.mark.parametrize("name", some(CONTAINERS, each=5))
def test_what_reads_a_container_is_linear(name: str, job: str, tmp_path: Path) -> None:
    """One child reads the container; it ends by itself, within bounds that its size gives."""
    folder = tmp_path / "container"
    folder.mkdir()
    path = CONTAINERS[name](SIZE, folder)
    size = size_of(path)
    taken = measured(job, path)
    assert taken.status in {0, 1, 2}, taken.said
    assert "Traceback" not in taken.said
    assert "internal error" not in taken.said
    assert taken.seconds < FLOOR_SECONDS + SECONDS * size
    assert taken.resident < FLOOR_BYTES + RESIDENT * size
    assert taken.printed < 10_000 + PRINTED * size


@ON_LINUX
def test_artifacts_are_not_kept_while_others_are_read(tmp_path: Path) -> None:
    """A gate over many takes little more memory than of one, not that of all of them."""
    program = Program()
    type_ = program.tensor(program.scalar("f32_v1"), 4)
    for count in (1, 24):
        folder = tmp_path / str(count)
        folder.mkdir()
        for at in range(count):
            steps = [Step("add_v1", [each, each], type_) for each in range(3000 + at)]
            (folder / f"{at}.mlir.bc").write_bytes(program.written([type_], steps))
    one, many = (measured("gate json", tmp_path / name) for name in ("1", "24"))
    assert (one.status, many.status) == (1, 1), many.said  # a module has functions alone
    assert many.resident < one.resident + (40 << 20)


@pytest.mark.skipif(sys.platform != "linux", reason="asks /proc for open files")
def test_small_files_of_a_container_are_not_kept_open(tmp_path: Path) -> None:
    """A directory may have more functions than this process may have open files."""
    container = open_container(CONTAINERS["torch_xla_functions_many"](50, tmp_path))
    held = {os.path.realpath(one.path) for one in os.scandir("/proc/self/fd")}
    assert len(container.artifacts()) == 50
    assert not [one for one in held if one.startswith(str(tmp_path))]


@pytest.mark.parametrize("link", [os.link, os.symlink])
def test_links_between_artifacts_are_refused(
    link: Callable[[Path, Path], None], tmp_path: Path
) -> None:
    """Each function has a file of its own, by its name and by what it is."""
    folder = CONTAINERS["torch_xla_functions_many"](2, tmp_path) / "functions"
    (folder / "f1.bytecode").unlink()
    link(folder / "f0.bytecode", folder / "f1.bytecode")
    with pytest.raises(MalformedContainer, match=r"the same file as functions/f0\.bytecode"):
        open_container(tmp_path)
