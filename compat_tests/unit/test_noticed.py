"""What planted defects once changed without any test noticing it."""

from __future__ import annotations

import ast
import base64
import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from compat_tests.helpers.sealed import CASES
from portable.artifact import Artifact
from portable.bytecode import read
from portable.bytecode.fingerprint import fingerprint
from portable.bytecode.text import attribute_text
from portable.cli import main
from portable.cli.parts import parts_of
from portable.containers.container import NotAContainer
from portable.containers.kind import Kind, kind_of_file
from portable.corpus import load_case
from portable.corpus.case import MANIFEST
from portable.runtime.executors import signature
from portable.system.files import umask
from portable.system.worker.inside.engines import Engines
from portable.system.worker.inside.mapped import MAPPED_BYTES

PACKAGE = Path(__file__).parents[2] / "portable"
# Written by jaxlib 0.10.2 for 1.0.0, without locations: @helper(i1) before @main(tensor<3xf32>).
MAIN_LAST = base64.b64decode(
    "TUzvUg1TdGFibGVITE9fdjEuMC4wAAEXBQEFBwEDCwMFDxMDLRENAQMHAw8LCwsLCwsLAw0PExcHFwcCRR8DASMFHQsd"
    "DSMJHQ8dESkBBykDDQsRAwEDAQERAwMDAwkEXwUBUAEBBwRPAwEJA1ABAwcEFwMDBwMBAAUEAQMBA1ABBQcEFwMDBwMF"
    "AAUEAQMBBgMBBQEAixMDCxEPFREPCxFidWlsdGluAHZobG8AbW9kdWxlAGZ1bmNfdjEAcmV0dXJuX3YxAGhlbHBlcgBw"
    "cml2YXRlAG1haW4AAAghBwUBAQsDBQMHCQsDCwMNDw=="
)
# The same: a constant of tensor<2xui8>; in that of tensor<2xi8> byte 79 is 0x17.
UNSIGNED = base64.b64decode(
    "TUzvUg1TdGFibGVITE9fdjEuMC4wAAEZBQEFCQEDCwMHDxMXAyMNBwEDBwMLCwsLCxcDBxMTBwIvHwMBIwMdDR0PHwEF"
    "AQIpAwkFEQEDASEEQQUBUAEBBwQxAwEFA1ABAwcEHQMDCQVCAQUDAQcEAQMBBgMBBQEAgxEDCxUZEQ8LEWJ1aWx0aW4A"
    "dmhsbwBtb2R1bGUAZnVuY192MQBjb25zdGFudF92MQByZXR1cm5fdjEAbWFpbgAACBkHBQEBCwMFAwcJAws="
)


# The same: abs with {x.y = {a = 1 : i32, b = ["s", true]}}.
NESTED = base64.b64decode(
    "TUzvUg1TdGFibGVITE9fdjEuMC4wAAEZBQEFCQEDCwMHDxMXAzUdCQEHBxMLAxcLCwsLGwsPCxMLCwMJDxcHBwJdHwMD"
    "BQ8FDQMBIwMdDx0RDQURExUXHRMTBwUdFQMFGRsdFwUDKQEFEQMBAwEJGwRLBQFQAQEHBDsDAQUDUAEDBwQnAwULAwEA"
    "BQcBAwMBAwEHBAEDAwYDAQUBAJUZBQUFAwsJFQ8RDwsRYnVpbHRpbgB2aGxvAG1vZHVsZQBmdW5jX3YxAGFic192MQBy"
    "ZXR1cm5fdjEAeC55AG1haW4AAGEAYgBzAAgVBQUBAQsHCQcLDQ=="
)


def test_a_dictionary_is_shown_by_its_keys() -> None:
    """Each with its value, however deep."""
    content = read(NESTED)
    shown = [
        attribute_text(content.pool, index)
        for op in content.operations()
        for name, index in content.dictionary(op.attributes).items()
        if name == "x.y"
    ]
    assert shown == ["[a=integer(i32, 1), b=[s, 1]]"]


def test_the_signature_is_that_of_main() -> None:
    """Also where another function stands before it."""
    (argument,) = signature(Artifact.from_bytes(MAIN_LAST)).arguments
    assert argument.text == "tensor<3xf32>"


def test_a_fingerprint_tells_types_inside_types_apart() -> None:
    """Equal bytes of i8 and ui8 are different constants."""
    signed = bytearray(UNSIGNED)
    signed[79] = 0x17
    assert fingerprint(read(UNSIGNED)) != fingerprint(read(bytes(signed)))


def test_asking_for_the_umask_leaves_it() -> None:
    """There is no way to ask without setting it: it is set again."""
    before = os.umask(0o027)
    try:
        assert umask() == 0o027
        assert umask() == 0o027
        assert os.umask(0o027) == 0o027
    finally:
        os.umask(before)


def test_export_needs_a_target(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Before anything is imported, one line says which options are missing."""
    assert main(["export", "torch", "nowhere:net", "-o", str(tmp_path / "out")]) == 2
    error = capsys.readouterr().err
    assert "--for" in error
    assert "--target" in error
    assert "nowhere" not in error


def test_a_folder_without_a_container_is_told_as_a_folder(tmp_path: Path) -> None:
    """It is not opened as a file."""
    with pytest.raises(NotAContainer, match="is a directory, not a container"):
        parts_of(str(tmp_path))


@pytest.mark.parametrize("says", [None, True, False])
def test_a_case_says_whether_it_is_sealed_at_every_minor(says: bool | None, tmp_path: Path) -> None:
    """It is not, unless its manifest says so."""
    case = CASES["abs_f32"]
    shutil.copytree(case.directory, tmp_path / "abs_f32")
    manifest = tmp_path / "abs_f32" / MANIFEST
    lines = [line for line in manifest.read_text().splitlines() if "every_minor" not in line]
    extra = "" if says is None else f"every_minor = {str(says).lower()}\n"
    manifest.write_text(extra + "\n".join(lines))
    assert load_case(tmp_path / "abs_f32").every_minor is bool(says)


def test_an_artifact_that_is_cut_in_its_header_is_still_one() -> None:
    """Nothing else begins with these four bytes: it is a damaged artifact, not other bytecode."""
    assert kind_of_file(MAIN_LAST[:9]) is Kind.ARTIFACT
    assert kind_of_file(MAIN_LAST) is Kind.ARTIFACT
    assert kind_of_file(MAIN_LAST.replace(b"StableHLO_v", b"OtherThing_")) is Kind.BYTECODE


class _Keeper:
    device = "cpu"

    def __init__(self) -> None:
        self.given: list[Any] = []

    def compile(self, program: bytes) -> None:
        """Do nothing."""

    def run(self, program: bytes, inputs: list[Any], results: list[Any]) -> list[Any]:
        """Keep what is given, so that its memory is not used again."""
        del program, results
        self.given += inputs
        return []


def test_a_large_input_stays_mapped_from_job_to_job(tmp_path: Path) -> None:
    """The same file is the same memory in the next job: it is not mapped again."""
    keeper = _Keeper()
    makers = [keeper]
    # It is made once: another in the next job would compile everything again.
    engines = Engines({"keeper": lambda _: makers.pop()})
    program, given = tmp_path / "program", tmp_path / "input.npy"
    program.write_bytes(b"any")
    np.save(given, np.zeros(MAPPED_BYTES, np.uint8))
    inputs = [{"path": str(given), "dtype": "uint8"}]
    for _ in range(2):
        job = {"engine": "keeper", "path": str(program), "inputs": inputs, "out": str(tmp_path)}
        assert engines.execute(job) == {"outputs": []}
    first, second = keeper.given
    assert first.ctypes.data == second.ctypes.data


def test_values_cannot_be_changed() -> None:
    """Every dataclass of the package is frozen, and has no room for a misspelt field."""
    loose = {
        f"{path.relative_to(PACKAGE)}: {node.name}"
        for path in PACKAGE.rglob("*.py")
        if "@dataclass" in (code := path.read_text("utf-8"))
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.ClassDef)
        for decorator in node.decorator_list
        if ast.unparse(decorator).startswith(("dataclass", "dataclasses.dataclass"))
        and not {"frozen=True", "slots=True"}
        <= set(map(ast.unparse, getattr(decorator, "keywords", [])))
    }
    assert loose == set()
