"""Samples of `tools.results` that are made: folders with one part damaged, copies, policies.

Each is what is said of it, by its name. Nothing depends on the machine: what is damaged is in the
checkout as it is, and what is compressed too.
"""

from __future__ import annotations

import copy
import hashlib
import io
import json
import shutil
import tempfile
import tomllib
from contextlib import chdir, redirect_stderr, redirect_stdout
from functools import cache, partial
from itertools import islice, product
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from compat_tests.adversarial.generators import amplification, depths, kinds, properties, use_lists
from compat_tests.adversarial.generators.bypass import DISGUISES, plant
from compat_tests.adversarial.generators.directed import is_directed, program
from compat_tests.adversarial.generators.sharing import sharing
from portable.bundle import pack_files
from portable.bytecode.vhlo import FUNCTION, ops
from portable.cli import main as main_of_portable
from portable.containers import open_container
from portable.containers.finding import find
from portable.errors import PortableError
from portable.inspection import inspect
from portable.prediction import predict_all, subjects
from portable.prediction.forms import FORMS
from portable.releases import find_release
from portable.verdict import Stage
from tools.made_subjects import of_subjects

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

__all__ = ["made", "printed"]

ROOT = Path(__file__).parent.parent
DATA = ROOT / "compat_tests" / "data"
_ARTIFACT = DATA / "artifacts" / "add_f32+0.9.0.mlir.bc"
_FOLDERS = {
    **{path.name: path for path in sorted((DATA / "containers").glob("*-tensorflow-*"))},
    **{
        path.parent.name: path
        for path in sorted((ROOT / "corpus").glob("torch_xla/*/container"))
        if path.parent.name in {"torch_xla_2_1_0", "torch_xla_2_9_0"}
    },
}
# An envelope of each kind, and an array.
_DAMAGED = {"saved_model.pb", "forward.meta", "b.bias"}
# Of each of these, and of each archive, so many bytes are changed.
_CHANGED, _CHANGED_OF_AN_ARCHIVE = 50, 120
# What stands instead of each value of a JSON document.
_INSTEAD: tuple[object, ...] = (None, True, -1, 1 << 70, "", [], ["a"], {})
_POLICIES = DATA / "policies.toml"
# Damaged ones, a container, ops of Shardy, ranges of locations, calls of what is not StableHLO.
_GATED = (
    *("corpus/negative/bit_flipped_at_23.mlir.bc", "corpus/negative/future_op.mlir.bc"),
    "compat_tests/data/containers/gate-vjp0-jax-0.10.2.exported",
    "compat_tests/data/artifacts/sdy+1.11.0.mlir.bc",
    "compat_tests/data/bytecode",
)
_NAMES = (("*.bin",), ("**/al*",), ())
_EXCLUDED = ((), ("below",), ("*.bc", "!below/*.bc"), ("below/**/deep*",), ("b*/", "/one*"))


_Sample: TypeAlias = "Callable[[], Iterator[str]]"


@cache
def made() -> dict[str, _Sample]:
    """Return each sample by its name."""
    found = dict(_of_folders()) | dict(_of_generators()) | dict(of_subjects())
    found |= {"a tree of files": _tree, "disguises": _disguises}
    for path in sorted((DATA / "archives").glob("*.*[!d]")):
        found[f"{path.name} damaged"] = partial(_archive, path)
    for number, text in enumerate(tomllib.loads(_POLICIES.read_text("utf-8"))["policies"]):
        found[f"policy {number}"] = partial(_policy, text)
    return found


def _of_folders() -> Iterator[tuple[str, _Sample]]:
    for name, path in _FOLDERS.items():
        yield f"copies of {name}", partial(_copies, path)
        for file in sorted(one for one in path.rglob("*") if one.name in _DAMAGED):
            of = file.relative_to(path).as_posix()
            yield f"{name}/{of} damaged", partial(_damaged, path, of)
            if file.suffix == ".meta":
                yield f"{name}/{of} with other values", partial(_edited, path, of)
    for path in sorted((DATA / "containers").glob("*.exported"))[::3]:
        yield f"copies of {path.name}", partial(_copies, path)
    for at in range(_BUNDLE_DOCUMENTS):
        yield f"document {at} of a bundle with other values", partial(_of_a_bundle, at)


def _of_generators() -> Iterator[tuple[str, _Sample]]:
    for name, make in _AMPLIFIED.items():
        yield f"amplified {name}", partial(_sized, make, (1, 3, 40))
    for name, make in depths.ARTIFACTS.items():
        yield f"nested {name}", partial(_sized, make, (2, 63, 64, 65, 300))
    for name, of_all in _WRITTEN.items():
        yield name, partial(_written, of_all)
    telling = _telling_programs()
    for form in filter(is_directed, FORMS):
        yield f"programs of {form}", partial(_programs, form, telling.get(form, _FIRST))


_READER = "jaxlib 0.12.0.1"
# How many programs there are of a form of which the telling ones were not looked for.
_FIRST = range(3)
_AMPLIFIED = amplification.ARTIFACTS | {n: made for n, (made, _) in amplification.COUNTED.items()}
# Artifacts that are made, each with its name.
_WRITTEN: dict[str, Callable[[], Iterable[tuple[object, bytes]]]] = {
    "kinds of types and attributes": lambda: islice(kinds.artifacts(), 0, None, 11),
    "properties": lambda: ((one[:2], one[2]) for one in properties.artifacts(101)),
    "orders of uses": lambda: islice(use_lists.orders(), 0, None, 37),
    "wide ops": lambda: ((op, sharing(op, 4)) for op in sorted(ops()) if op != FUNCTION),
    "resources": use_lists.resources,
}


def _telling_programs() -> dict[str, list[int]]:
    """Return which programs are kept, by form."""
    lines = (DATA / "programs.txt").read_text("utf-8").splitlines()
    rows = (line.rpartition(":") for line in lines if not line.startswith("#"))
    return {form: [*map(int, numbers.split())] for form, _, numbers in rows}


def _programs(form: str, numbers: Iterable[int]) -> Iterator[str]:
    return (f"{number}: {_predicted(program(form, number))}" for number in numbers)


def _written(make: Callable[[], Iterable[tuple[object, bytes]]]) -> Iterator[str]:
    for name, data in make():
        yield f"{name}: {_predicted(data)}"


def _sized(make: Callable[[int], bytes], sizes: Iterable[int]) -> Iterator[str]:
    return (_predicted(make(size)) for size in sizes)


def _predicted(data: bytes) -> str:
    """Return what is said of an artifact, and what is predicted of one reader."""
    try:
        found = inspect(data)
        said: list[object] = [found.record()]
        known = subjects(found)
        for entry, one in known.items():
            said += [entry, one.forms, sorted(one.signatures or ()), sorted(one.present)]
        for verdict in predict_all(known, [find_release(_READER)], stage=Stage.EXECUTE):
            said.append(verdict.record())
        return json.dumps(said, default=str)
    except PortableError as error:
        return json.dumps(error.record())


def _disguises() -> Iterator[str]:
    with _temporary() as folder:
        for at, name in enumerate(DISGUISES):
            plant(name, Path(folder, str(at)))
        yield _found(folder)


def printed(arguments: list[str]) -> str:
    """Return what a command prints, and its exit code."""
    out = io.TextIOWrapper(io.BytesIO(), "utf-8")
    with chdir(ROOT), redirect_stdout(out), redirect_stderr(out):
        code = main_of_portable(arguments)
        out.flush()
    out.seek(0)
    return f"{out.read()}exit code {code}"


def _temporary() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="results")


def _said(path: Path, folder: str) -> str:
    """Return what is said of a file or folder, or its error, without where it is."""
    try:
        return json.dumps(inspect(path).record()).replace(folder, "")
    except PortableError as error:
        return json.dumps(error.record()).replace(folder, "")


def _damaged(path: Path, of: str) -> Iterator[str]:
    with _temporary() as folder:
        to = Path(folder, "copy")
        shutil.copytree(path, to)
        file = to / of
        data = file.read_bytes()
        for at in range(0, len(data), max(1, len(data) // _CHANGED) | 1):
            for change in (1, 0x82):
                file.write_bytes(data[:at] + bytes([data[at] ^ change]) + data[at + 1 :])
                yield _said(to, folder)
            file.write_bytes(data[:at])
            yield _said(to, folder)


def _edited(path: Path, of: str) -> Iterator[str]:
    """Yield what is said where each value of a file is another, or left out."""
    with _temporary() as folder:
        to = Path(folder, "copy")
        shutil.copytree(path, to)
        file = to / of
        document = json.loads(file.read_text("utf-8"))
        for changed in _edits(document):
            file.write_text(json.dumps(changed), "utf-8")
            yield _said(to, folder)


def _edits(document: Any) -> Iterator[Any]:
    for where in [*_places(document)][1:]:
        *outer, last = where
        for instead in (*_INSTEAD, _edits):
            changed = copy.deepcopy(document)
            holder = changed
            for key in outer:
                holder = holder[key]
            if instead is _edits:
                del holder[last]
            else:
                holder[last] = instead
            yield changed


def _places(value: Any, *outer: object) -> Iterator[tuple[Any, ...]]:
    yield outer
    items = value.items() if isinstance(value, dict) else enumerate(value)
    # Of a list the first two: the others are the like.
    for key, inner in items if isinstance(value, dict) else islice(items, 2):
        if isinstance(inner, dict | list):
            yield from _places(inner, *outer, key)
        else:
            yield (*outer, key)


_BUNDLE_DOCUMENTS = 4


def _of_a_bundle(number: int) -> Iterator[str]:
    """Yield what is said of a bundle of which one document has other values.

    With the right digests above it, so that the values are what is looked at.
    """
    with _temporary() as folder:
        whole = Path(folder, "whole")
        pack_files(sorted((DATA / "artifacts").glob("add_f32+*.bc")), to=whole)
        names = ["index.json", "oci-layout"]
        top = json.loads((whole / "index.json").read_bytes())["manifests"][0]["digest"]
        names.append(_blob(top))
        names.append(_blob(json.loads((whole / names[2]).read_bytes())["manifests"][0]["digest"]))
        yield _said(whole, folder)
        before = {path: path.read_bytes() for path in whole.rglob("*") if path.is_file()}
        document = json.loads((whole / names[number]).read_bytes())
        for changed in _edits(document):
            _write(whole, names, number, changed)
            yield _said(whole, folder).replace("/whole", "")
            for path in [one for one in whole.rglob("*") if one.is_file()]:
                if path not in before:
                    path.unlink()
                elif path.relative_to(whole).as_posix() in names:
                    path.write_bytes(before[path])


def _blob(digest: str) -> str:
    return "blobs/sha256/" + digest.partition(":")[2]


def _write(to: Path, names: list[str], number: int, document: object) -> None:
    """Write a document, and those above it with its digest and size."""
    data = json.dumps(document).encode()
    if number < 2:
        (to / names[number]).write_bytes(data)
        return
    digest = "sha256:" + hashlib.sha256(data).hexdigest()
    (to / _blob(digest)).write_bytes(data)
    above = 0 if number == 2 else 2
    holder = json.loads((to / names[above]).read_bytes())
    holder["manifests"][0] |= {"digest": digest, "size": len(data)}
    _write(to, names, above, holder)


def _copies(path: Path) -> Iterator[str]:
    """Yield what is in copies with other artifacts."""
    try:
        entries = open_container(path).artifacts()
    except PortableError as error:
        yield json.dumps(error.record())
        return
    other = _ARTIFACT.read_bytes()
    texts = {entry.name: "module {}" for entry in entries}
    chosen: list[tuple[dict[str, bytes], dict[str, str], bool]] = [
        ({}, {}, False),
        ({entries[0].name: other}, {}, False),
        ({entry.name: other * 3 for entry in entries}, texts, True),
        ({entries[-1].name: entries[0].data, "unknown": b""}, {}, False),
    ]
    with _temporary() as folder:
        for number, (new, said, widen) in enumerate(chosen):
            to = Path(folder, str(number))
            try:
                open_container(path).replace(new, to=to, texts=said, widen=widen)
            except PortableError as error:
                yield json.dumps(error.record()).replace(folder, "")
                continue
            for file in sorted(to.rglob("*")) if to.is_dir() else [to]:
                if file.is_file():
                    digest = hashlib.sha256(file.read_bytes()).hexdigest()
                    yield f"{file.relative_to(folder)} {digest}"


def _archive(path: Path) -> Iterator[str]:
    """Yield what is found in an archive whose bytes are changed, or that is cut short."""
    data = path.read_bytes()
    with _temporary() as folder:
        file = Path(folder, path.name)
        for at in range(0, len(data), max(1, len(data) // _CHANGED_OF_AN_ARCHIVE) | 1):
            for changed in (
                data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :],
                data[:at] + bytes([data[at] ^ 0x82]) + data[at + 1 :],
                data[:at],
            ):
                file.write_bytes(changed)
                yield _found(folder)


def _found(folder: str, names: Sequence[str] = (), exclude: Sequence[str] = ()) -> str:
    """Return what becomes of each file of a folder."""
    said: list[list[object]] = []
    try:
        for one in find([folder], names=names, exclude=exclude, root=folder):
            entries = one.container.artifacts() if one.container else ()
            parts = [[entry.name, entry.start, entry.stop] for entry in entries]
            error = one.error.record() if one.error else None
            said.append([one.path, str(one.fate), str(one.why), error, parts])
    except PortableError as error:
        said.append([error.record()])
    return json.dumps(said).replace(folder, "")


def _tree() -> Iterator[str]:
    """Yield what is found in folders, under names and patterns of many sorts."""
    data = _ARTIFACT.read_bytes()
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"
    files = {
        **{f"{home}one.{ending}": data for home in ("", "below/", "below/deep/", ".git/", ".x/")
           for ending in ("bc", "mlir.bc", "bin", "txt")},
        **{f"{home}also.{ending}": b"other" for home in ("", "below/")
           for ending in ("bc", "mlir.bc", "bin", "mlirbc", "stablehlo", "exported")},
        "below/lfs.mlir.bc": pointer, "below/lfs.bin": pointer, "empty.mlir.bc": b"",
        "one.mlir.bc.gz": b"any", "one.exported.zst": b"any", "other.zip": b"any",
        "model/saved_model.pbtxt": b"any", "model2/saved_model.cpb": b"any",
        "node_modules/a.mlir.bc": data, "build/a.mlir.bc": data, "__pycache__/a.mlir.bc": data,
    }  # fmt: skip
    with _temporary() as folder:
        for name, content in files.items():
            Path(folder, name).parent.mkdir(parents=True, exist_ok=True)
            Path(folder, name).write_bytes(content)
        for names, exclude in product(_NAMES, _EXCLUDED):
            yield _found(folder, names, exclude)


def _policy(text: str) -> Iterator[str]:
    """Yield what the gate says by a policy, in each format of which it says most."""
    with _temporary() as folder:
        file = Path(folder, "portable.toml")
        file.write_text(text, "utf-8")
        for name in ("text", "json"):
            arguments = ["gate", *_GATED, "--policy", str(file), "--as-of", "2026-11-23"]
            arguments += ["--format", name]
            yield printed(arguments).replace(folder, "")
