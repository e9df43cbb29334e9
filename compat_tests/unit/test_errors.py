"""Every error is a record that prints as one line."""

import importlib
import pickle
import pkgutil

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


def test_every_public_name_exists() -> None:
    """`portable.X` works for every X in `__all__`, except where a compiler would be imported."""
    for name in portable.__all__:
        assert getattr(portable, name) is not None


def test_every_exception_derives_from_the_root() -> None:
    """A caller that catches PortableError catches them all."""
    for info in pkgutil.walk_packages(portable.__path__, "portable."):
        if "inside" in info.name or info.name.endswith("__main__"):
            continue  # `inside` runs without this package, in the environment of a Release
        module = importlib.import_module(info.name)
        for value in vars(module).values():
            own = isinstance(value, type) and value.__module__ == info.name
            if own and issubclass(value, Exception) and not value.__name__.startswith("_"):
                assert issubclass(value, PortableError), value
