"""Every error is a record that prints as one line: where, what, what to do."""

import ast
import importlib
import pickle
import pkgutil
from collections.abc import Iterator
from pathlib import Path

import portable
from portable import PortableError
from portable.bytecode import MalformedArtifact
from portable.system.children import ChildCrashed


def test_an_error_is_one_line_with_all_its_parts() -> None:
    """What, where, the Version it needs and what to do are all there, on one line."""
    error = PortableError("no\n  luck", where="x.mlir:3", needs="1.4.0", hint="try 1.4.0")
    assert str(error) == "x.mlir:3: no luck (needs 1.4.0); try 1.4.0"
    assert error.record()["needs"] == "1.4.0"
    assert "target" not in error.record()


def test_a_version_that_is_named_is_not_repeated() -> None:
    """What needs the Version says so itself; a reader must not look for a second reason."""
    named = PortableError("cannot do: a needs 1.20.0 (1x)", needs="1.20.0", hint="try it")
    assert str(named) == "cannot do: a needs 1.20.0 (1x); try it"
    another = PortableError("cannot do: a needs 1.8.5", needs="1.9.0")
    assert str(another) == "cannot do: a needs 1.8.5 (needs 1.9.0)"
    assert named.record()["needs"] == "1.20.0"


def test_errors_cross_process_boundaries() -> None:
    """Children report errors by pickle, whatever the signature of their class."""
    for error in (
        PortableError("a", hint="b"),
        MalformedArtifact("cut short", 12),
        ChildCrashed("died", said="last words"),
    ):
        copy = pickle.loads(pickle.dumps(error))
        assert type(copy) is type(error)
        assert copy.record() == error.record()


def test_details_have_a_line_each_on_the_command_line() -> None:
    """The Verdict first, then what it consists of, then what to do; as text all on one line."""
    error = PortableError("no", details=["a needs 2", "b"], where="x", needs="3", hint="try 3")
    assert error.lines() == ["x: no (needs 3)", "a needs 2", "b", "try 3"]
    assert str(error) == "x: no: a needs 2; b (needs 3); try 3"
    assert PortableError("no", where="x", hint="try 3").lines() == ["x: no; try 3"]


def _raised() -> Iterator[tuple[str, ast.Call]]:
    """Yield every call in the package that makes an error, with where it stands."""
    names = {kind.__name__ for kind in _errors()} | {"__init__"}
    root = Path(portable.__file__).parent
    for path in sorted(root.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            called = getattr(node, "func", None)
            name = getattr(called, "attr", "") or getattr(called, "id", "")
            if isinstance(node, ast.Call) and name in names:
                yield f"{path.relative_to(root)}:{node.lineno}", node


def _errors() -> list[type[Exception]]:
    """Return every exception of the package, those of private names too."""
    found = []
    for info in pkgutil.walk_packages(portable.__path__, "portable."):
        if "inside" in info.name or info.name.endswith("__main__"):
            continue  # `inside` runs without this package, in the environment of a Release
        for value in vars(importlib.import_module(info.name)).values():
            own = isinstance(value, type) and value.__module__ == info.name
            if own and issubclass(value, Exception):
                found.append(value)
    return found


def _edges(node: ast.expr) -> tuple[str, str]:
    """Return how a text begins and ends, as far as it is written out; the rest is a value."""
    parts = node.values if isinstance(node, ast.JoinedStr) else [node]
    first, last = parts[0] if parts else None, parts[-1] if parts else None
    begins = first.value if isinstance(first, ast.Constant) else ""
    ends = last.value if isinstance(last, ast.Constant) else ""
    return (begins, ends) if isinstance(begins, str) and isinstance(ends, str) else ("", "")


def test_each_error_says_what_and_what_to_do_in_one_form() -> None:
    """Parts of a sentence, which "; " joins: no capital at the beginning, no stop at the end."""
    found = 0
    for where, call in _raised():
        found += 1
        for what in call.args[:1]:
            assert "; " not in ast.unparse(what), f"{where}: a second part is a hint, or a detail"
        texts = [word.value for word in call.keywords if word.arg in {"hint", "what"}]
        for text in [*call.args[:1], *texts]:
            begins, ends = _edges(text)
            word = begins.split(" ")[0]
            assert not word[:1].isupper() or not word[1:].islower(), f"{where}: {begins!r}"
            stops = ends.endswith((".", "!", ";", ":", ",", " ")) and not ends.endswith("...")
            assert not stops, f"{where}: {ends!r}"
    assert found > 300


def test_every_public_name_exists() -> None:
    """`portable.X` works for every X in `__all__`, except where a compiler would be imported."""
    for name in portable.__all__:
        assert getattr(portable, name) is not None


def test_every_exception_derives_from_the_root() -> None:
    """A caller that catches PortableError catches them all."""
    for kind in _errors():
        assert issubclass(kind, PortableError) or kind.__name__.startswith("_"), kind
