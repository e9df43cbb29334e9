"""Measure the house: lines, files, rooms, arrows between rooms, circles, public names, noqas.

python -m tools architecture [FOLDER]    of `portable/` in this checkout, or in another folder
"""

from __future__ import annotations

import argparse
import ast
import subprocess
import sys
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["House", "circles", "main"]


class House:
    """The modules of the package, and what each needs at run time.

    Args:
        package: The folder `portable`.
    """

    def __init__(self, package: Path) -> None:
        self._package = package
        self.modules = dict(self._modules())
        self._files = {
            path.relative_to(package).as_posix().removesuffix("/__init__.py"): module
            for module, path in self.modules.items()
        }

    def _modules(self) -> Iterator[tuple[str, Path]]:
        for path in sorted(self._package.rglob("*.py")):
            parts = path.relative_to(self._package).with_suffix("").parts
            if "inside" not in parts:  # runs in the environment of a Release, without this package
                yield ".".join(("portable", *parts)).removesuffix(".__init__"), path

    def imports(self, code: str) -> Iterator[tuple[str, int]]:
        """Yield every module that is imported at run time, lazily or not, with its line."""
        for module, name, line in _parsed(code)[0]:
            inner = f"{module}.{name}"
            yield (inner if inner in self.modules else module), line

    def named(self, module: str, code: str) -> Iterator[str]:
        """Yield every module that a string names: dotted, or as a path where `__file__` is used."""
        parts = module.split(".")[1:]
        folders = ["".join(f"{part}/" for part in parts[:depth]) for depth in range(len(parts) + 1)]
        for text in _parsed(code)[1]:
            names = {text.rstrip(".")}  # `f"portable.cli.{name}"` begins with a module
            if "__file__" in code:
                paths = (folder + text.strip("/") for folder in folders)
                names |= {self._files[path] for path in paths if path in self._files}
            known = names & self.modules.keys()
            yield from (name for name in known if not module.startswith(name))

    @cached_property
    def graph(self) -> dict[str, set[str]]:
        """Which modules each module needs, lazily or not, however it names them."""
        found = {}
        for module, path in self.modules.items():
            code = path.read_text("utf-8")
            needed = {name for name, _ in self.imports(code)}.union(self.named(module, code))
            found[module] = needed & self.modules.keys() - {module}
        return found


@cache
def _parsed(code: str) -> tuple[list[tuple[str, str, int]], list[str]]:
    """Return what code imports at run time, as module, name and line, and its strings."""
    nodes = list(ast.walk(ast.parse(code)))
    typing_only = {
        id(node)
        for block in nodes
        if isinstance(block, ast.If) and "TYPE_CHECKING" in ast.unparse(block.test)
        for statement in block.body
        for node in ast.walk(statement)
    }
    imported: list[tuple[str, str, int]] = []
    for node in nodes:
        if id(node) in typing_only:
            continue
        if isinstance(node, ast.Import):
            imported += ((alias.name, "", node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            imported += ((node.module, alias.name, node.lineno) for alias in node.names)
    constants = [node.value for node in nodes if isinstance(node, ast.Constant)]
    return imported, [text for text in constants if isinstance(text, str)]


def circles(graph: Mapping[str, set[str]]) -> set[frozenset[str]]:
    """Return the largest sets of nodes that reach one another."""

    def reached(start: str) -> set[str]:
        found: set[str] = set()
        rest = [start]
        while rest:
            new = graph.get(rest.pop(), set()) - found
            found |= new
            rest += new
        return found

    reach = {node: reached(node) for node in graph}
    rings = {frozenset(other for other in reach[node] if node in reach[other]) for node in graph}
    return rings - {frozenset()}


def main() -> int:
    """Print a line for each figure."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    here = Path(__file__).parents[1] / "portable"
    parser.add_argument("folder", nargs="?", type=Path, default=here, help="a folder `portable`")
    folder: Path = parser.parse_args().folder
    house = House(folder)
    code = [path.read_text("utf-8") for path in sorted(folder.rglob("*.py"))]
    rooms = {module: module.split(".")[1] for module in house.modules if module.count(".")}
    rooms = {module: room for module, room in rooms.items() if room != "__main__"}
    arrows = {
        (rooms[module], rooms[other])
        for module, needed in house.graph.items()
        for other in needed
        if module in rooms and other in rooms and rooms[module] != rooms[other]
    }
    apart: dict[str, set[str]] = {room: set() for room in rooms.values()}
    for room, other in arrows:
        apart[room].add(other)
    path_of = f"import sys; sys.path.insert(0, {str(folder.parent)!r})"
    printed = "import portable; print(len(portable.__all__))"
    count = [sys.executable, "-I", "-c", f"{path_of}; {printed}"]
    public = subprocess.run(count, cwd=folder.parent, capture_output=True, text=True, check=True)
    figures = {
        "lines": sum(len(text.splitlines()) for text in code),
        "files": len(code),
        "rooms": len(apart),
        "arrows between rooms": len(arrows),
        "circles of modules": len(circles(house.graph)),
        "circles of rooms": len(circles(apart)),
        "public names": int(public.stdout),
        "noqas": sum(text.count("# noqa") for text in code),
    }
    for name, figure in figures.items():
        print(f"{figure:>8,} {name}")
    return 0
