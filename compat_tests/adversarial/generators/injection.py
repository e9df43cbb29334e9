"""Foreign text that tries to be more than text, in every place where an input carries text.

`HOSTILE` has one text for each channel that could be taken over. The generators put a given text
into every string slot of a real input, one slot at a time, so that no place is left to memory.
"""

from __future__ import annotations

import copy
import json
import os
import shutil
import tomllib
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

from compat_tests.helpers.bytecode_writer import section, varint
from portable.containers import open_container
from portable.inspection.brackets import markers
from portable.version import Version

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "EVERYTHING",
    "FORGED",
    "HOSTILE",
    "artifacts",
    "containers",
    "corpora",
    "documents",
    "libraries",
    "long_name",
    "policies",
]

DATA = Path(__file__).parents[2] / "data"
CONTAINERS = DATA / "containers"

FORGED = "1 artifact, 1 consumer: 1 pass, 0 waived, 0 fail"
"""What no name may put at the beginning of a line."""

HOSTILE = {
    "escape": "\x1b[31mred\x1b]0;title\x07\x1b[2J",
    "control": "\x00a\x08b\x7fc\x9b31m\x85d\ufffee\uffff\ufdd0f\U0001fffe",
    "newline": f"a\n{FORGED}\n",
    "return": f"a\r{FORGED}\x0b{FORGED}\x0c{FORGED}\u2028{FORGED}",
    "command": "::stop-commands::x",
    "command in a line": "a\n::add-mask::b\n  ::error file=x::y\nc",
    "command anywhere": "a ##[stop-commands]x ##vso[task.setvariable variable=a]b ##teamcity[c]",
    "bidi": "a\u202egnp\u202c\u2066b\u2069\u200f",
    "invisible": "a\u200bb\u200dc\ufeffd\u2060e\u00adf\u034fg\u3164h\ufe0fi\U000e0041j",
    "markup": "<script>alert(1)</script><img src=x onerror=alert(1)>]]>&amp;--><!--",
    "attribute": '" onload="alert(1)" x=\'y\' `',
    "markdown": "| [a](javascript:b) | `` ` `` **c** @user #1 <b> https://x.y ![d](e)\\|",
    "rich": "[red]a[/red] [link=http://x.y]b[/link] [/]",
    "format": "{0}{{a}}%s%n%1$s${HOME}$(id)`id`",
    "path": "../../nowhere/etc/passwd",
}

EVERYTHING = "".join(["::stop-commands::x", *HOSTILE.values()])
"""All of them in one text."""


def long_name(size: int) -> str:
    """Return a name of many characters."""
    return "n" * size


def _number(data: bytes, at: int) -> tuple[int, int]:
    first = data[at]
    if first == 0:
        return int.from_bytes(data[at + 1 : at + 9], "little"), at + 9
    size = (first & -first).bit_length()
    return int.from_bytes(data[at : at + size], "little") >> size, at + size


def _parts(data: bytes) -> tuple[bytes, bytes, bytes, list[bytes], bytes]:
    """Take an artifact apart: before and behind its producer, its strings, and what follows."""
    _, start = _number(data, 4)
    stop = at = data.index(0, start)
    at += 1
    while data[at] != 0:  # the section of strings
        assert not data[at] & 0x80, "a section that has to be aligned cannot be moved"
        size, at = _number(data, at + 1)
        at += size
    before = data[stop:at]
    size, at = _number(data, at + 1)
    inside, rest = data[at : at + size], data[at + size :]
    count, at = _number(inside, 0)
    sizes = []
    for _ in range(count):
        one, at = _number(inside, at)
        sizes.append(one)
    strings = []
    for one in reversed(sizes):
        strings.append(inside[at : at + one - 1])
        at += one
    return data[:start], data[start:stop], before, strings, rest


def artifacts(text: str, source: Path) -> Iterator[bytes]:
    """Yield an artifact with a text in the place of each of its strings, one at a time.

    Args:
        text: What to put there.
        source: An artifact that a real Release wrote.

    Yields:
        The artifact with another producer; then one for each string of its section: names of
        dialects, ops, functions and files, targets of custom calls, attributes.
    """
    new = text.encode("utf-8", "surrogatepass")
    head, producer, before, strings, rest = _parts(source.read_bytes())

    def written(producer: bytes, strings: list[bytes]) -> bytes:
        lengths = b"".join(varint(len(one) + 1) for one in reversed(strings))
        body = varint(len(strings)) + lengths + b"".join(one + b"\0" for one in strings)
        return head + producer + before + section(0, body) + rest

    yield written(producer + new.replace(b"\0", b""), strings)
    for at in range(len(strings)):
        yield written(producer, [*strings[:at], new, *strings[at + 1 :]])


def containers(text: str, folder: Path) -> Iterator[Path]:
    """Write a container of each kind that carries a text: in its names, and in its artifacts.

    Args:
        text: What to put there; names take as much of it as they have room for.
        folder: Where to write.

    Yields:
        The containers.
    """
    calls = DATA / "artifacts" / "custom_calls+1.0.0.mlir.bc"
    *_, hostile = artifacts(text, calls)
    torch_xla = next((CONTAINERS.parents[2] / "corpus").rglob("torch_xla_2_9_0/container"))
    exported = CONTAINERS / "gate-vjp0-jax-0.10.2.exported"
    graph = CONTAINERS / "graph-tensorflow-2.20.0"
    for source in (exported, graph, torch_xla):
        inside = folder / f"inside-{source.name}"
        container = open_container(source)
        container.replace({one.name: hostile for one in container.artifacts()}, to=inside)
        yield inside
    named = Path(shutil.copytree(graph, folder / "named-graph"))
    model = named / "saved_model.pb"
    name = text.encode("utf-8", "replace")[: len(b"first")].ljust(len(b"first"), b"\x1b")
    model.write_bytes(model.read_bytes().replace(b"first", name))
    yield named
    named = Path(shutil.copytree(torch_xla, folder / "named-torch_xla"))
    function = text.replace("/", "_").replace("\0", "_")[:60] or "f"
    meta = json.loads((named / "functions/forward.meta").read_text())
    (named / "functions/forward.meta").unlink()
    (named / f"functions/{function}.meta").write_text(json.dumps(meta | {"name": function}))
    (named / "functions/forward.bytecode").rename(named / f"functions/{function}.bytecode")
    yield named


ELF = b"\x7fELF\x02\x01\x01" + bytes(57)


_SINCE = Version(1, 4, 0)


def _file_name(text: str, limit: int = 100) -> str:
    """Make a file name of a text: all characters but two, as many as there is room for."""
    encoded = text.replace("/", "\u2215").replace("\0", "").encode("utf-8", "surrogateescape")
    return encoded[:limit].decode("utf-8", "ignore")


def libraries(text: str, folder: Path) -> Iterator[Path]:
    """Write runtimes that carry a text: in their file names, their members, and their strings.

    Args:
        text: What to put there.
        folder: Where to write.

    Yields:
        Shared libraries and wheels, of which each reads StableHLO.
    """
    name, raw = _file_name(text), text.encode("utf-8", "surrogateescape")
    old = (one.name for one in markers().values() if one.since <= _SINCE)
    plain = ELF + b"\0" + b"\0".join(map(str.encode, old)) + b"\0"
    named = plain + b"vhlo." + raw + b"_v1\0vhlo.x" + raw + b"\0" + raw + b"y_ffi\0"
    for file, member, library in (
        (f"{name}.so", "", named),
        ("ours-1.0-py3-none-any.whl", f"{name}/{name}.so", named),
        (f"ours-{name.replace('-', '_')}-py3-none-any.whl", "a.so", plain),
        (f"{name.replace('-', '_')}-1.0-py3-none-any.whl", "a.so", plain),
        (f"ours-1.0-{name.replace('-', '_')}-py3-none-any.whl", "a.so", plain),
    ):
        path = folder / file
        if member:
            with zipfile.ZipFile(path, "w") as archive:
                archive.writestr(zipfile.ZipInfo(member.replace("\0", "")), library)
        else:
            path.write_bytes(library)
        yield path


def corpora(text: str, source: Path, folder: Path) -> Iterator[Path]:
    """Write corpora of one Case that carry a text: in the names of files and in their contents.

    Args:
        text: What to put there.
        source: The folder of a Case.
        folder: Where to write.

    Yields:
        The corpora: one for each string of the manifest and each name of a file.
    """
    name = _file_name(text)
    manifest = tomllib.loads((source / "case.toml").read_text())
    sealed = source / "artifacts" / "1.0.0+jaxlib-0.4.29.mlir.bc"

    def written(number: str, manifest: object, case: str = "case", **more: str) -> Path:
        corpus = folder / number
        home = corpus / more.get("family", "family") / case
        (home / "artifacts").mkdir(parents=True)
        for part in ("inputs", "expected", "program.mlir"):
            (shutil.copytree if (source / part).is_dir() else shutil.copy)(
                source / part, home / part
            )
        shutil.copy(sealed, home / "artifacts" / more.get("artifact", sealed.name))
        (home / more.get("extra", "extra")).write_bytes(b"")
        (home / "case.toml").write_text(_toml(manifest), "utf-8", errors="surrogatepass")
        (corpus / "SEALS").write_text("")
        (corpus / "coverage.toml").write_text("")
        return corpus

    for number, changed in enumerate(documents(text, manifest)):
        yield written(str(number), changed)
    yield written("case", manifest, case=name)
    yield written("family", manifest, family=name)
    yield written("extra", manifest, extra=name)
    yield written("bytes", manifest, extra=os.fsdecode(b"not UTF-8 \xff"))
    yield written("producer", manifest, artifact=f"1.0.0+{name}.mlir.bc")
    yield written("target", manifest, artifact=f"{name}+jaxlib-0.4.29.mlir.bc")
    corpus = written("program", manifest)
    program = corpus / "family" / "case" / "program.mlir"
    program.write_bytes(program.read_bytes() + b"// " + text.encode("utf-8", "surrogateescape"))
    yield corpus
    corpus = written("coverage", manifest)
    (corpus / "coverage.toml").write_text(
        f'[[excluded]]\nkind = "op"\nname = {_text(name)}\nreason = {_text(name)}\n'
        f'[[{_text(name)}]]\nname = {_text(name)}\ncases = ["case"]\n'
    )
    yield corpus


def documents(text: str, document: object) -> Iterator[object]:
    """Yield plain data with a text in the place of each of its strings, one at a time.

    Args:
        text: What to put there.
        document: Dictionaries, lists, strings and numbers.

    Yields:
        Copies of the document.
    """
    for way, is_key in _leaves(document):
        changed = copy.deepcopy(document)
        inside = changed
        for step in way[:-1]:
            inside = inside[step]  # type: ignore[index]  # the way leads through containers
        if is_key:
            inside[text] = inside.pop(way[-1])  # type: ignore[attr-defined,index]  # a dictionary
        else:
            inside[way[-1]] = text  # type: ignore[index]  # a dictionary or a list
        yield changed


def _leaves(
    value: object, way: tuple[object, ...] = ()
) -> Iterator[tuple[tuple[object, ...], bool]]:
    if isinstance(value, str):
        yield way, False
    elif isinstance(value, dict):
        for key, inside in value.items():
            yield (*way, key), True
            yield from _leaves(inside, (*way, key))
    elif isinstance(value, list):
        for at, inside in enumerate(value):
            yield from _leaves(inside, (*way, at))


def policies(text: str) -> Iterator[str]:
    """Yield policies, as TOML, with a text in each place where a policy has one.

    Args:
        text: What to put there.
    """
    policy = {
        "consumers": {"all": ["jaxlib==0.4.30"]},
        "rules": {
            "consumers": ["@all"],
            "dialects": ["sdy"],
            "custom_calls": ["Sharding"],
            "include": ["*.mlir.bc"],
            "depth": "content",
            "stage": "window",
            "locations": "points",
        },
        "waivers": [{"rule": "consumer", "path": "*.bc", "reason": "why", "consumer": "jaxlib"}],
    }
    for changed in documents(text, policy):
        yield _toml(changed)


def _toml(policy: object) -> str:
    assert isinstance(policy, dict)
    scalars = {key: value for key, value in policy.items() if _is_scalar(value)}
    lines = [f"{_text(key)} = {_text(value)}" for key, value in scalars.items()]
    for name, table in policy.items():
        if name in scalars:
            continue
        if isinstance(table, dict):
            lines.append(f"[{_text(name)}]")
            lines += [f"{_text(key)} = {_text(value)}" for key, value in table.items()]
        elif isinstance(table, list):
            for row in table:
                lines.append(f"[[{_text(name)}]]")
                lines += [f"{_text(key)} = {_text(value)}" for key, value in row.items()]
                lines.append("expires = 2099-01-01")
    return "\n".join(lines) + "\n"


def _is_scalar(value: object) -> bool:
    """Say whether a value is no table, and no array of tables."""
    tables = isinstance(value, dict) or (
        isinstance(value, list) and value and isinstance(value[0], dict)
    )
    return not tables


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
