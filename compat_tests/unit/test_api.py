"""`import portable` and everything is there: names, inputs, types, errors, what is shown of it."""

import ast
import dataclasses
import doctest
import inspect
import io
import pydoc
import re
import subprocess
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import portable
from portable import PortableError
from portable.containers import open_path
from portable.policy import parse_policy

ROOT = Path(__file__).parents[2]
ARTIFACT = ROOT / "compat_tests" / "data" / "artifacts" / "tan+1.4.0.mlir.bc"
EXPORTED = ROOT / "compat_tests" / "data" / "containers" / "gate-vjp2-jax-0.10.2.exported"
PAGES = [ROOT / "README.md", ROOT / "SECURITY.md", *sorted((ROOT / "docs").glob("*.md"))]


def _documented() -> set[str]:
    """Return every dotted name of the package that a page mentions."""
    text = "\n".join(page.read_text() for page in PAGES)
    found = set(re.findall(r"(?<![\w/.-])portable((?:\.[A-Za-z_]+)+)(?![\w/-]|\.\w)", text))
    for module, names in re.findall(
        r"^from portable([\w.]*) import ([\w, ]+)$", text, re.MULTILINE
    ):
        found |= {f"{module}.{name.strip()}" for name in names.split(",")}
    return {f"portable{name}" for name in found if name != ".toml"}


_WALK = """
import itertools, os, sys
import argparse, ast, asyncio, http.server, numpy, packaging.specifiers, tomllib  # once for all
import portable
def room(name):  # what is a name of `portable` itself needs no other module, see below
    _, first, *inner = name.split(".")
    return first if inner else ""
for _, group in itertools.groupby(sorted(sys.argv[1:], key=room), room):
    if not os.fork():  # each room in a process that has imported nothing else of `portable`
        for dotted in group:
            value = portable
            try:
                for name in dotted.split(".")[1:]:
                    value = getattr(value, name)
            except AttributeError as error:
                print(f"{dotted}: {error}", flush=True)
        os._exit(0)
    os.wait()
"""


def test_every_name_of_the_pages_is_there_after_import_portable() -> None:
    """README and docs name nothing that has to be imported by hand first."""
    names = _documented()
    assert {"portable.policy.gate", "portable.exporters", "portable.matrix.Run"} <= names
    command = [sys.executable, "-c", _WALK, *sorted(names)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout + done.stderr == ""


@pytest.mark.parametrize(
    "package",
    ["portable", "portable.bytecode", "portable.containers", "portable.exporters",
     "portable.pinning", "portable.releases", "portable.runtime"],
)  # fmt: skip
def test_type_checkers_see_the_names_that_there_are(package: str) -> None:
    """What is imported on first use is what stands under TYPE_CHECKING, from the same module."""
    module = __import__(package, fromlist=["*"])
    tree = ast.parse(Path(inspect.getsourcefile(module) or "").read_text())
    blocks = [
        block
        for block in tree.body
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING"
    ]
    seen = {
        alias.asname: f"{statement.module}.{alias.name}"
        for block in blocks
        for statement in block.body
        if isinstance(statement, ast.ImportFrom)
        for alias in statement.names
        if alias.asname
    }
    assert seen
    homes = inspect.getclosurevars(vars(module)["__getattr__"]).nonlocals["homes"]
    for name, home in homes.items():
        told = home if home == f"{package}.{name}" else f"{home}.{name}"
        assert seen.pop(name) == told
        getattr(module, name)
    assert not seen
    with pytest.raises(AttributeError, match="has no attribute 'predicts'"):
        _ = module.predicts


def test_rooms_are_all_there() -> None:
    """Every package and module but the command line and what is inside of a process of its own."""
    private = {"__init__", "__main__", "cli", "escaping", "pytest_plugin", "system"}
    there = {path.stem for path in Path(portable.__file__).parent.iterdir() if path.suffix == ".py"}
    there |= {path.parent.name for path in Path(portable.__file__).parent.glob("*/__init__.py")}
    assert {name for name in dir(portable) if name in there - private} == there - private


RELEASE = portable.releases.find_release("jaxlib 0.10.2")
POLICY = parse_policy({"consumers": {"all": ["jaxlib>=0.9"]}})

# Every public call that takes an artifact and needs no libStablehlo; the others are in
# compat_tests/real/test_api_inputs.py.
CALLS: dict[str, Callable[[Any], object]] = {
    "inspect": portable.inspect,
    "predict": lambda what: portable.predict(what, "jaxlib 0.10.2"),
    "predict_all": lambda what: portable.prediction.predict_all(what, [RELEASE]),
    "window": lambda what: portable.window(what, "jaxlib 0.10.2"),
    "signature": portable.runtime.executors.signature,
    "Artifact.of": portable.Artifact.of,
}
KINDS: dict[str, Callable[[Path], object]] = {
    "str": str,
    "Path": lambda path: path,
    "bytes": lambda path: path.read_bytes(),
    "bytearray": lambda path: bytearray(path.read_bytes()),
    "memoryview": lambda path: memoryview(path.read_bytes()),
    "Artifact": portable.Artifact.load,
    "Entry": lambda path: open_path(path).artifacts()[0],
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("kind", KINDS)
def test_every_call_takes_an_artifact_in_every_form(call: str, kind: str) -> None:
    """What comes out does not depend on how the artifact was handed over."""
    found, wanted = (CALLS[call](KINDS[one](ARTIFACT)) for one in (kind, "Artifact"))
    assert found == wanted


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize(
    ("what", "says"),
    [
        (5, "an object of type int"),
        (None, "an object of type NoneType"),
        (["a"], "an object of type list"),
        (Path("no such file"), "no such file or directory"),
        ("func.func @main() {\n}", "text|cannot read"),
    ],
    ids=lambda value: str(value)[:12],
)
def test_what_is_no_artifact_is_an_error_of_ours(call: str, what: object, says: str) -> None:
    """Never an AttributeError, nor five zero bytes."""
    with pytest.raises(portable.PortableError, match=says) as refused:
        CALLS[call](what)
    assert "\n" not in str(refused.value)


def test_calls_on_containers_take_their_bytes_too() -> None:
    """As `inspect` and `predict` do; and a gate takes one path as well as several."""
    data = EXPORTED.read_bytes()
    assert [a for _, a in portable.containers.artifacts_in(data)] == [
        a for _, a in portable.containers.artifacts_in(EXPORTED)
    ]
    assert portable.predict(data, RELEASE) == portable.predict(str(EXPORTED), RELEASE)
    once, again = (
        portable.policy.gate(str(ARTIFACT), POLICY),
        portable.policy.gate([ARTIFACT], POLICY),
    )
    assert once == again
    assert portable.matrix.collect(str(ARTIFACT)) == portable.matrix.collect([ARTIFACT])


def _public() -> dict[str, Any]:
    return {name: getattr(portable, name) for name in portable.__all__}


def test_what_is_shown_of_a_result_is_short() -> None:
    """One line of at most 300 characters, none of them bytes of the artifact."""
    verdict = portable.predict(ARTIFACT, RELEASE)
    for value in (
        portable.Artifact.load(ARTIFACT),
        portable.inspect(ARTIFACT),
        portable.inspect(EXPORTED),
        portable.inspect(ARTIFACT).analysis,
        portable.inspect(ARTIFACT).required,
        open_path(EXPORTED),
        open_path(EXPORTED).artifacts()[0],
        verdict,
        RELEASE,
        portable.resolve_target("jaxlib>=0.5"),
        portable.window("1.9.0"),
        portable.policy.gate(ARTIFACT, POLICY),
        portable.matrix.collect(ARTIFACT)[0],
        portable.runtime.executors.signature(ARTIFACT),
        POLICY,
        portable.bytecode.read(ARTIFACT.read_bytes()),
    ):
        shown = repr(value)
        assert len(shown) <= 300, shown
        assert "\n" not in shown
        assert "b'" not in shown, shown
        assert " object at 0x" not in shown, shown


RECORDS = [name for name, value in _public().items() if dataclasses.is_dataclass(value)]


@pytest.mark.parametrize("name", RECORDS)
def test_records_are_what_their_types_say(name: str) -> None:
    """They can be copied with changes, and `help` shows their fields."""
    kind = _public()[name]
    shown = pydoc.plain(pydoc.render_doc(kind))
    for field in dataclasses.fields(kind):
        assert re.search(rf"\b{field.name}\b", shown), field.name
    assert "*values" not in shown


def test_values_are_real_dataclasses_and_enums() -> None:
    """`dataclasses.replace(verdict)` and `Kind["ARTIFACT"]` do what type checkers say of them."""
    verdict = portable.predict(ARTIFACT, RELEASE)
    changed = dataclasses.replace(verdict, consumer="another")
    assert (changed.consumer, changed.outcome) == ("another", verdict.outcome)
    assert portable.containers.Kind["ARTIFACT"] is portable.inspect(ARTIFACT).kind


FUNCTIONS = [name for name, value in _public().items() if isinstance(value, types.FunctionType)]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_public_call_is_typed_and_its_errors_are_exported(name: str) -> None:
    """No parameter or result is Any, and what `Raises` lists can be caught as `portable.NAME`.

    A value that a parameter does not take is Python's own error.
    """
    function = inspect.unwrap(_public()[name])
    text = inspect.getsource(function)
    returns = re.search(r"\) -> ([^:]+):", text)
    assert returns
    assert returns[1] not in {"Any", "object"}
    raises = (inspect.getdoc(function) or "").partition("Raises:")[2]
    documented = re.findall(r"^    (\w+):", raises, re.MULTILINE)
    assert set(documented) <= {*portable.__all__, "ValueError"}


def test_the_page_of_errors_lists_what_is_exported() -> None:
    """Each error of `portable` has its row in docs/errors.md, and no other has."""
    page = (ROOT / "docs" / "errors.md").read_text()
    listed = set(re.findall(r"^\| `(\w+)`", page, re.MULTILINE))
    errors = {
        name
        for name, value in _public().items()
        if isinstance(value, type) and issubclass(value, portable.PortableError)
    }
    assert listed == errors


def test_help_reads_like_a_page() -> None:
    """It begins with the commonest calls, and names every public one of them."""
    text = pydoc.plain(pydoc.render_doc(portable))
    page = text[: text.index("PACKAGE CONTENTS")]
    for name in FUNCTIONS:
        assert re.search(rf"^ +{name}\(", page, re.MULTILINE), name


def test_the_options_of_pin_are_documented_once() -> None:
    """Every call that takes them names each in its help; what they mean, `PinOptions` says."""
    calls = [_public()[name] for name in FUNCTIONS]
    calls += [getattr(portable.exporters, name) for name in portable.exporters.__all__]
    calls += [portable.exporters.oracle.verify_export]
    taking = {
        call.__name__: call
        for call in calls
        if isinstance(call, types.FunctionType)
        and "Unpack[PinOptions]" in str(inspect.signature(call))
    }
    assert taking.keys() == {
        "export_jax", "export_torch", "pin", "repin", "repin_exported", "retarget", "serialize",
        "verify_export",
    }  # fmt: skip
    options = portable.PinOptions.__annotations__.keys()
    assert options == {"locations", "expand", "allow", "allow_dialects", "library"}
    page = inspect.getdoc(portable.PinOptions) or ""
    assert re.findall(r"^    (\w+): ", page, re.MULTILINE) == list(options)
    for name, call in taking.items():
        shown = pydoc.plain(pydoc.render_doc(call))
        for option in options:
            assert f"`{option}`" in shown, name
            assert option not in inspect.signature(call).parameters, name


@pytest.mark.parametrize(
    "call",
    [
        lambda **options: portable.serialize("module {}", "1.0.0", **options),
        lambda **options: portable.pin("module {}", "1.0.0", **options),
        lambda **options: portable.retarget(ARTIFACT, "1.0.0", **options),
        lambda **options: portable.repin(EXPORTED, "1.0.0", to="/nowhere", **options),
    ],
    ids=["serialize", "pin", "retarget", "repin"],
)
def test_a_misspelt_option_is_refused_by_name(call: Callable[..., object]) -> None:
    """As Python refuses a keyword, with those that there are."""
    with pytest.raises(TypeError, match="unknown option 'alow'; valid options: allow, allow_dia"):
        call(alow=["exact"])


def _given(wrong: Any) -> Any:
    return 0 if wrong is None else wrong


# None of them is what any of these takes.
_WRONG = [None, -1, 2.5, object(), [], [None], {}, {"a": 1}, (1, 2), "nope", "", "\0"]
_CALLS: dict[str, Callable[[Any], object]] = {
    "predict": lambda wrong: portable.predict(wrong, "jaxlib 0.10.2"),
    "predict release": lambda wrong: portable.predict(ARTIFACT, wrong),
    "predict stage": lambda wrong: portable.predict(ARTIFACT, "jaxlib 0.10.2", stage=wrong),
    "predict_all": lambda wrong: portable.prediction.predict_all(ARTIFACT, [wrong]),
    "resolve_target": lambda wrong: portable.resolve_target("jaxlib", wrong),
    "resolve_target current": lambda wrong: portable.resolve_target("1.0.0", current=_given(wrong)),
    "resolve_target minimum": lambda wrong: portable.resolve_target("1.0.0", minimum=_given(wrong)),
    "resolve_target on": lambda wrong: portable.resolve_target("180d", on=_given(wrong)),
    "repin": lambda wrong: portable.repin(wrong, "1.0.0", to="/nowhere"),
    "window": portable.window,
    "inspect": portable.inspect,
    "verify": lambda wrong: portable.verify(ARTIFACT, wrong),
    "verify tolerance": lambda wrong: portable.verify(ARTIFACT, ARTIFACT, tolerance=wrong),
}


@pytest.mark.parametrize("wrong", _WRONG, ids=[*map(str, range(len(_WRONG)))])
@pytest.mark.parametrize("call", _CALLS.values(), ids=_CALLS.keys())
def test_a_wrong_argument_is_told_and_not_stumbled_over(
    call: Callable[[object], object], wrong: object
) -> None:
    """What a caller took for something else is refused where it comes in, by a `raise` of ours."""
    with pytest.raises((PortableError, TypeError, ValueError)) as caught:
        call(wrong)
    if not isinstance(caught.value, PortableError):
        last = caught.traceback[-1]
        assert str(last.statement).strip().startswith("raise "), caught.value


@pytest.mark.parametrize("name", ["target", "to", "consumers", "version"])
def test_a_target_that_is_named_is_told_where_it_goes(name: str) -> None:
    """`pin` takes several, so that none of them has a name."""
    with pytest.raises(TypeError, match=f"'{name}' is no option: targets follow the program"):
        portable.pin("module {}", **{name: "1.0.0"})  # type: ignore[arg-type]  # the mistake


@pytest.mark.parametrize("call", [portable.minimum, portable.explain, portable.serialize])
def test_a_wrong_call_is_the_error_of_the_caller(call: Callable[..., object]) -> None:
    """Also where a child would do it: it is not the child that failed."""
    with pytest.raises(TypeError, match=r"target_|too many positional"):
        call("module {}", "1.0.0", target_="1.0.0")
    with pytest.raises(TypeError, match="too many positional arguments"):
        call("module {}", *["1.0.0"] * 8)


def test_the_example_of_help_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As it stands there, where a libStablehlo is installed."""
    pytest.importorskip("jaxlib")
    monkeypatch.chdir(tmp_path)
    out = io.StringIO()
    test = doctest.DocTestParser().get_doctest(portable.__doc__ or "", {}, "portable", None, 0)
    assert test.examples
    doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, out=out.write)
    assert out.getvalue() == ""


def test_stability_page_lists_the_public_modules() -> None:
    """docs/api-stability.md names every room that may be imported from."""
    page = (ROOT / "docs" / "api-stability.md").read_text()
    for name in sorted(set(dir(portable)) - set(portable.__all__)):
        if isinstance(getattr(portable, name), types.ModuleType):
            assert f"`portable.{name}`" in page, name


def test_locations_that_are_none_are_refused_before_a_child_is_asked() -> None:
    """As the caller's mistake, with what was given."""
    with pytest.raises(ValueError, match="'nowhere' is not a valid Locations"):
        portable.serialize("module {}", "1.9.0", locations="nowhere")
