"""The pipeline, on real programs and the real library; old readers judge what it writes."""

import base64
import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import portable
from portable import bindings
from portable.artifact import Artifact, NotAnArtifact
from portable.bindings import Library, LibraryError
from portable.bytecode import MalformedArtifact
from portable.pinning import pipeline as pin
from portable.pinning import program
from portable.runtime.environments import Environment
from portable.version import Version

TAN = """\
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.tan %x : tensor<4xf32> loc("model.py":7:3)
  return %0 : tensor<4xf32>
}
"""
RANGE = """\
func.func @main(%x: tensor<4xf32> loc("a b.py":1:2 to :8)) -> tensor<4xf32> {
  %0 = stablehlo.abs %x : tensor<4xf32>
    loc(callsite("f"("a b.py":1:2 to 3:8) at fused<"m">["to.py":3:4 to :6, unknown]))
  return %0 : tensor<4xf32>
}
"""
MESH = 'module { sdy.mesh @mesh = <["x"=2]>\n' + TAN + "}"


def text_of(library: Library, artifact: Artifact) -> str:
    """Return the program inside, with locations."""
    module = library.deserialize(artifact.data, library.context())
    return str(module.operation.get_asm(enable_debug_info=True))


@pytest.mark.parametrize("target", ["1.9.5", "1.9.0", "0.19.7", "WEEK_12", "minimum", "current"])
def test_the_header_says_patch_zero(example: Path, target: str) -> None:
    """Upstream writes the patch of the target into the header; readers then refuse to compare."""
    version = portable.serialize(example, target).version
    assert version is not None
    assert version.patch == 0


def test_the_bare_binding_leaks_the_patch(library: Library) -> None:
    """The trap that the test above is about is still there."""
    module = library.parse(TAN, library.context())
    assert library.serialize(module, Version(1, 9, 5)).startswith(b"ML\xefR\rStableHLO_v1.9.5\0")


@pytest.mark.parametrize(("target", "fails"), [("1.9.0", False), ("1.0.0", False), ("0.9.0", True)])
def test_the_callers_module_is_never_changed(library: Library, target: str, fails: bool) -> None:
    """Neither on success nor on failure, locations included; the bare binding consumes it."""
    text = TAN.replace("tan %x", "custom_call @f(%x) {api_version = 4 : i32}") if fails else TAN
    text = text.replace("} : tensor<4xf32>", "} : (tensor<4xf32>) -> tensor<4xf32>")
    module = library.parse(text, library.context())
    before = module.operation.get_asm(enable_debug_info=True)
    if fails:
        with pytest.raises(pin.NotExpressible):
            portable.serialize(module, target)
    else:
        portable.serialize(module, target)
    assert module.operation.get_asm(enable_debug_info=True) == before
    library.serialize(library.clone(module), Version(1, 9, 0))
    assert module.operation.get_asm(enable_debug_info=True) == before
    library.serialize(module, Version(1, 9, 0))
    assert "vhlo" in str(module)


def test_same_input_same_bytes(example: Path, library: Library) -> None:
    """Across repeats, threads, and whether a module or its text was given."""
    expected = portable.serialize(example, "1.8.0").data
    module = library.parse(example.read_text(), library.context())
    with ThreadPoolExecutor(4) as pool:
        jobs = [pool.submit(portable.serialize, given, "1.8.0") for given in (module, example) * 4]
    assert {job.result().data for job in jobs} == {expected}


# Eight functions have 40,320 orders: if any hash decided, two seeds would hardly agree.
FUNCTIONS = "\n".join(
    f"""func.func private @f{number}(%x: tensor<4xf32>) -> tensor<4xf32> {{
  %0 = stablehlo.{kind} %x : tensor<4xf32> loc("{kind}.py":{number}:1 to :9)
  return %0 : tensor<4xf32> loc("{kind}.py":{number}:1 to {number + 2}:9)
}}"""
    for number, kind in enumerate(
        ["abs", "ceil", "floor", "negate", "sine", "cosine", "tanh", "tan"]
    )
)
SEEDED = """
import sys, portable
from portable import bindings
library = bindings.find("jaxlib")
module = library.parse(sys.argv[1], library.context())
for target, expand in (("0.9.0", True), ("1.8.0", True), ("1.8.0", False), ("current", True)):
    sys.stdout.buffer.write(portable.serialize(module, target, expand=expand).data)
"""


def test_hash_seeds_change_nothing() -> None:
    """Whatever order Python's sets have in a process, modules are written in their own."""
    written = set()
    for seed in ("0", "1", "2", "4711"):
        done = subprocess.run(
            [sys.executable, "-c", SEEDED, FUNCTIONS],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        )
        written.add(done.stdout)
    assert len(written) == 1


@pytest.mark.parametrize("bare", [False, True])
def test_jaxlib_0_4_33_reads_what_was_pinned_for_it(
    bare: bool, example: Path, library: Library, release: Callable[[str], Environment]
) -> None:
    """The real release reads our artifact of a JAX program; it cannot read the bare binding's.

    JAX puts location ranges on every op; the serializer lets them through to any target and
    readers older than about 1.8.4 then fail with `unknown attribute code: 22`.
    """
    target = portable.resolve_target("jaxlib>=0.4.33").version
    assert target == Version(1, 7, 0)
    if bare:
        module = library.parse(example.read_text(), library.context())
        data = library.serialize(module, target)
    else:
        data = portable.serialize(example, ["jaxlib>=0.4.33"]).data
    with release("jaxlib 0.4.33").worker() as worker:
        answer = worker.ask({"kind": "read", "data": base64.b64encode(data).decode()})
    assert answer.ok is not bare, answer.reason
    if bare:
        assert "unknown attribute code: 22" in answer.reason + answer.stderr


def test_keeping_ranges_that_the_target_cannot_read_is_refused() -> None:
    """With --locations keep nothing is changed, so the strict re-check has to say no."""
    with pytest.raises(pin.NotExpressible, match=r"1\.9\.0") as caught:
        portable.serialize(RANGE, "1.8.0", locations="keep")
    assert caught.value.minimum == Version(1, 9, 0)
    assert portable.serialize(RANGE, "1.9.0", locations="keep").version == Version(1, 9, 0)


def test_what_upstream_does_not_check_inside_a_type_is_refused(library: Library) -> None:
    """Upstream writes i2 in a per-axis quantized type to 1.0.0, whose readers do not know i2."""
    quantized = "tensor<2x!quant.uniform<i2:f32:0, {1.0, 0.5}>>"
    program = f"func.func @main(%x: {quantized}) -> {quantized} {{ return %x : {quantized} }}"
    module = library.parse(program, library.context())
    assert library.serialize(module, Version(1, 0, 0))
    with pytest.raises(pin.NotExpressible, match="i2_v1") as caught:
        portable.serialize(program, "1.0.0")
    assert caught.value.minimum == Version(1, 2, 0)


@pytest.mark.parametrize("expand", [True, False])
def test_ranges_become_points(library: Library, expand: bool) -> None:
    """By upstream's expander, and by us where it must not run; names and files stay."""
    text = text_of(library, portable.serialize(RANGE, "1.8.0", expand=expand))
    for kept in ('"a b.py":1:2)', '"to.py":3:4', 'fused<"m">', '"f"', "callsite"):
        assert kept in text
    assert " to " not in text


def test_stripped_locations_are_gone(library: Library) -> None:
    """No file name of the build machine leaves it."""
    artifact = portable.serialize(RANGE, "1.9.0", locations="strip")
    assert b"a b.py" not in artifact.data
    assert "loc(unknown)" in text_of(library, artifact)


def test_tan_reaches_older_targets_by_expansion_only(library: Library) -> None:
    """With the expander it becomes sine over cosine; without it the error names what would do."""
    assert "stablehlo.sine" in text_of(library, portable.serialize(TAN, "1.0.0"))
    with pytest.raises(pin.NotExpressible, match="tan_v1") as caught:
        portable.serialize(TAN, "1.0.0", expand=False)
    assert caught.value.minimum == Version(1, 4, 0)
    assert caught.value.needs == "1.4.0"
    assert "model.py:7:3" in str(caught.value)


def test_every_reason_is_named_at_once() -> None:
    """Upstream's diagnostic names the first failing op only, and never the Version."""
    text = """
    func.func @main(%x: tensor<4xf8E4M3>, %y: tensor<4xi2>) -> (tensor<4xf8E4M3>, tensor<4xi2>) {
      return %x, %y : tensor<4xf8E4M3>, tensor<4xi2>
    }"""
    with pytest.raises(pin.NotExpressible) as caught:
        portable.serialize(text, "1.0.0")
    needs = {feature.name: feature.version for feature in caught.value.features}
    assert needs == {"f8E4M3_v1": Version(1, 7, 0), "i2_v1": Version(1, 2, 0)}
    assert caught.value.minimum == Version(1, 7, 0)


def test_chlo_is_lowered(library: Library) -> None:
    """JAX emits CHLO for erf and its like; the bare binding refuses them without a reason."""
    text = TAN.replace("stablehlo.tan %x :", "chlo.erf %x : tensor<4xf32> ->")
    assert "stablehlo" in text_of(library, portable.serialize(text, "1.0.0"))
    with pytest.raises(LibraryError):
        library.serialize(library.parse(text, library.context()), Version(1, 9, 0))


def test_foreign_ops_are_named_and_let_through_on_request(library: Library) -> None:
    """Ops outside StableHLO are not covered by upstream's promise."""
    with pytest.raises(pin.ForeignDialect, match=r"sdy\.mesh.*--allow-dialect sdy"):
        portable.serialize(MESH, "1.17.0")
    artifact = portable.serialize(MESH, "1.17.0", allow_dialects=["sdy"])
    assert "sdy.mesh" in text_of(library, artifact)


def test_foreign_attributes_are_named_and_let_through_on_request(library: Library) -> None:
    """As jax.export puts them on calls of LAPACK; upstream's diagnostic does not say which."""
    text = """
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %y = stablehlo.custom_call @f(%x) {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i])
        {i=4}, custom>} : (tensor<4xf32>) -> tensor<4xf32>
      return %y : tensor<4xf32>
    }"""
    with pytest.raises(pin.ForeignDialect, match=r"attributes.*sdy.*--allow-dialect sdy"):
        portable.serialize(text, "1.17.0")
    artifact = portable.serialize(text, "1.17.0", allow_dialects=["sdy"])
    assert "sdy.sharding_rule" in text_of(library, artifact)


def test_retargeting_goes_both_ways(example: Path) -> None:
    """The bytes are those that the program itself would have given."""
    old, new = portable.serialize(example, "0.19.0"), portable.serialize(example, "1.12.0")
    up = portable.retarget(old, "1.12.0")
    assert up.version == Version(1, 12, 0)
    assert portable.retarget(new, "0.19.0").version == Version(0, 19, 0)
    assert portable.retarget(up, "0.19.0") == old


def test_a_target_above_the_library_is_refused(library: Library) -> None:
    """By number it is an error; jaxlib's other call silently clamps."""
    newer = Version(library.current.major, library.current.minor + 1, 0)
    with pytest.raises(portable.PortableError):
        portable.serialize(TAN, newer)


@pytest.mark.parametrize(
    ("data", "error", "match"),
    [
        (b"", NotAnArtifact, "empty"),
        (TAN.encode(), NotAnArtifact, "text"),
        ("plain", NotAnArtifact, "MLIR bytecode without a compatibility promise"),
        ("trailing", MalformedArtifact, "byte"),
        ("truncated", MalformedArtifact, "byte"),
    ],
)
def test_deserialize_refuses_what_upstream_accepts(
    library: Library, data: bytes | str, error: type[portable.PortableError], match: str
) -> None:
    """Empty bytes, text and plain bytecode are no artifacts; the bare binding takes them all."""
    whole = portable.serialize(TAN, "1.9.0").data
    if isinstance(data, str):
        data = {"plain": _plain(library), "trailing": whole + b"\0", "truncated": whole[:-9]}[data]
    with pytest.raises(error, match=match):
        program.deserialize(data)


def test_the_bare_binding_accepts_them(library: Library) -> None:
    """The traps of the test above are still there."""
    for data in (b"", TAN.encode(), _plain(library)):
        assert library.deserialize(data, library.context()) is not None


def _plain(library: Library) -> bytes:
    import io

    stream = io.BytesIO()
    library.parse(TAN, library.context()).operation.write_bytecode(stream)
    return stream.getvalue()


def test_deserialize_into_a_context_of_the_caller(library: Library) -> None:
    """The module lives there."""
    context = library.context()
    module = program.deserialize(portable.serialize(TAN, "1.9.0"), context)
    assert module.context == context
    with pytest.raises(program.InvalidProgram):
        program.deserialize(portable.serialize(TAN, "1.9.0"), object())


@pytest.mark.parametrize("given", ["", "  \n", b"", b"\xff\xfe\0\1", 7, None])
def test_other_programs_are_refused(given: Any) -> None:
    """Nothing, binary data, and values that are no program."""
    with pytest.raises(portable.PortableError) as caught:
        portable.serialize(given, "1.9.0")
    assert "\n" not in str(caught.value)


def test_every_diagnostic_is_captured(library: Library, capfd: pytest.CaptureFixture[str]) -> None:
    """Nothing reaches the terminal; severity, message, location and notes are data."""
    with pytest.raises(LibraryError) as caught:
        library.parse("func.func @f() {\n return %x\n}", library.context())
    (first, *_) = caught.value.diagnostics
    assert (str(first.severity), first.location) == ("error", '"-":2:11')
    with pytest.raises(LibraryError) as caught:
        library.serialize(library.parse(TAN, library.context()), Version(1, 0, 0))
    (first, *_) = caught.value.diagnostics
    assert "vhlo.tan_v2" in first.message
    assert first.location == '"model.py":7:3'
    assert first.notes[0].message.startswith("see current operation")
    with pytest.raises(LibraryError):
        library.deserialize(b"ML\xefR\rStableHLO_v1.9.0\0\0", library.context())
    assert capfd.readouterr() == ("", "")


def test_torch_mlir_has_bindings_too(library: Library) -> None:
    """A module of torch-mlir's bindings is pinned by torch-mlir's libStablehlo, unchanged."""
    pytest.importorskip("torch_mlir", reason="torch-mlir has wheels for Python 3.11 only")
    torch = bindings.find("torch-mlir")
    module = torch.parse(RANGE, torch.context())
    before = str(module)
    artifact = portable.serialize(module, "1.8.0")
    assert str(module) == before
    assert artifact == portable.serialize(RANGE, "1.8.0")
    assert "stablehlo.abs" in text_of(library, artifact)


def test_the_fingerprint_ignores_locations(example: Path) -> None:
    """Stripped or kept, it is the same program; bytes and digest differ."""
    kept, stripped = (
        portable.inspect(portable.serialize(example, "1.17.0", locations=policy), fingerprint=True)
        for policy in ("keep", "strip")
    )
    assert kept.fingerprint == stripped.fingerprint
    assert kept.digest != stripped.digest
    assert "location_file_line_col_range" in kept.locations
    assert set(stripped.locations) == {"location_unknown"}


def test_explain_names_what_stands_in_the_way() -> None:
    """Each blocker with its workaround, and whether pin gets there was tried."""
    found = portable.explain(TAN, "1.0.0")
    assert [feature.name for feature in found.blockers] == ["tan_v1"]
    assert "expander" in found.blockers[0].workaround
    assert (found.minimum, found.reachable) == (Version(1, 4, 0), True)
    out_of_reach = portable.explain(TAN.replace("f32", "f8E4M3"), "1.0.0")
    assert not out_of_reach.reachable
    assert portable.explain(TAN, "1.4.0").blockers == ()


def test_minimum_needs_no_search(example: Path) -> None:
    """One serialize and a reading: the examples go down to 0.9.0 but for their location ranges."""
    found = portable.minimum(example)
    assert found.version == Version(0, 9, 0)
    assert found.without_rewriting.version == Version(1, 9, 0)
    (feature,) = found.without_rewriting.features
    assert feature.name == "location_file_line_col_range"
    assert portable.serialize(example, "0.9.0").version == Version(0, 9, 0)
