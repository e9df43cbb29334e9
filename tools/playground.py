"""What the playground loads: Pyodide from its npm package, the library, and the examples.

`python -m tools site` calls this; npm fetches Pyodide, whose digest is pinned here.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import shutil
import subprocess
import tarfile
import tempfile
import zipfile
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from portable.errors import PortableError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "EXAMPLES",
    "INTEGRITY",
    "MOST_BYTES",
    "PYODIDE",
    "NotFetched",
    "make",
    "npm_package",
]

ROOT = Path(__file__).parent.parent
MOST_BYTES = 8 << 20
"""How many bytes a browser loads at most."""

PYODIDE = "pyodide@314.0.7"
# As npm shows it: npm view pyodide@... dist.integrity
INTEGRITY = (
    "sha512-0YvXxEhfEdpLfb/XkM2BFAeMROq0iMUX2bzzH9pO"
    "ttyMcWkwq+HbE5uyuGD82LN7y2q+SNvi/6V5JEsOlD2R1A=="
)
_AS_IT_IS = ("pyodide.mjs", "python_stdlib.zip")
_COMPRESSED = ("pyodide.asm.mjs", "pyodide.asm.wasm")
# What runs in the browser; the other rooms need a compiler or child processes.
_PACKAGES = ("portable", "packaging")

_ARTIFACTS = "compat_tests/data/artifacts"
_CONTAINERS = "compat_tests/data/containers"
_ATTENTION = "corpus/whole_programs/whole_attention/artifacts"
EXAMPLES = {
    "Attention, for StableHLO 1.8.0": f"{_ATTENTION}/1.8.0+jaxlib-0.4.36.mlir.bc",
    "tan, which 1.4.0 brought": f"{_ARTIFACTS}/tan+1.4.0.mlir.bc",
    "add, which everybody reads": f"{_ARTIFACTS}/add_f32+0.9.0.mlir.bc",
    "A constant that jaxlib 0.9.1 reads as another": f"{_ARTIFACTS}/i1_splat_32+1.0.0.mlir.bc",
    "Meshes by name, which jaxlib 0.10.2 refuses": f"{_ARTIFACTS}/mesh_symbol+1.16.0.mlir.bc",
    "Floats of eight bits": f"{_ARTIFACTS}/dot_general_f8+1.14.0.mlir.bc",
    "Custom calls": f"{_ARTIFACTS}/custom_calls+1.0.0.mlir.bc",
    "A jax.export.Exported with its derivatives": f"{_CONTAINERS}/gate-vjp2-jax-0.10.2.exported",
    "A TensorFlow SavedModel": f"{_CONTAINERS}/gate-jax2tf-0.7.1-tensorflow-2.20.0",
    "A torch_xla directory": "corpus/torch_xla/torch_xla_2_9_0/container",
}
"""Title -> where the artifact is."""


class NotFetched(PortableError):
    """An npm package cannot be fetched, or is not the one that was pinned."""


def npm_package(name: str, integrity: str, folder: Path) -> Path:
    """Fetch an npm package.

    Args:
        name: `NAME@VERSION`.
        integrity: Its digest, as npm writes it.
        folder: Where to unpack it.

    Returns:
        The folder of its files.

    Raises:
        NotFetched: npm is not installed or fails, or the digest is another.
    """
    npm = shutil.which("npm")
    if npm is None:
        raise NotFetched("npm is not installed", hint="apt-get install npm")
    command = [npm, "pack", "--silent", "--ignore-scripts", name]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise NotFetched(f"npm pack ends with {done.returncode}: {done.stderr}", where=name)
    (archive,) = folder.glob("*.tgz")
    algorithm, _, expected = integrity.partition("-")
    found = base64.b64encode(hashlib.new(algorithm, archive.read_bytes()).digest()).decode()
    if found != expected:
        raise NotFetched(f"has the digest {algorithm}-{found}, not {integrity}", where=name)
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")
    return folder / "package"


def make(folder: Path) -> None:
    """Write what the page loads beside it.

    Args:
        folder: That of the page.

    Raises:
        NotFetched: As `npm_package`; or everything together is larger than `MOST_BYTES`.
    """
    with tempfile.TemporaryDirectory() as name:
        package = npm_package(PYODIDE, INTEGRITY, Path(name))
        for file in _AS_IT_IS:
            shutil.copy(package / file, folder)
        for file in _COMPRESSED:
            data = gzip.compress((package / file).read_bytes(), mtime=0)
            (folder / f"{file}.gz").write_bytes(data)
        # The list of packages that could be fetched: none.
        lock = json.loads((package / "pyodide-lock.json").read_text("utf-8")) | {"packages": {}}
        (folder / "pyodide-lock.json").write_text(json.dumps(lock), "utf-8")
    library(folder / "library.zip", (folder / "reader.py").read_bytes())
    size = sum(path.stat().st_size for path in folder.iterdir())
    if size > MOST_BYTES:
        raise NotFetched(f"the playground has {size:,} bytes, more than {MOST_BYTES:,}")


def library(path: Path, reader: bytes) -> None:
    """Write the archive that the reader imports, with the examples.

    Args:
        path: Where.
        reader: The module that answers the page.
    """
    titles = []
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        archive.writestr("reader.py", reader)
        for package in _PACKAGES:
            home = Path(str(import_module(package).__file__)).parent
            for file in _files(home):
                archive.write(file, f"{package}/{file.relative_to(home)}")
        for number, (title, source) in enumerate(EXAMPLES.items()):
            at = ROOT / source
            for file in _files(at) if at.is_dir() else [at]:
                archive.write(file, f"examples/{number}/{file.relative_to(at.parent)}")
            titles.append({"title": title, "folder": f"/library/examples/{number}"})
        archive.writestr("examples.json", json.dumps(titles))


def _files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            yield path
