"""What much of a document shares is not written out, or worked on, for each that shares it."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from typing import Any

import pytest

from compat_tests.helpers.matrices import sample
from portable.errors import PortableError
from portable.matrix import merge
from portable.matrix.document import MalformedMatrix, parse, record
from portable.matrix.report import FORMATS, render
from portable.policy import gate, load_policy
from portable.policy.keys import PolicyError
from portable.policy.summary import as_markdown

CALLING = Path(__file__).parents[1] / "data" / "artifacts" / "custom_calls+1.0.0.mlir.bc"
LONG = 100_000
TEXT = "é " * (LONG // 2)  # not ASCII, which is looked at sign by sign
CONSUMERS, ITEMS = 10, 100
# Of one Verdict no more are read.
MANY = 1000
# What one cell may add to a report, in bytes.
OF_A_CELL = 5000

Document = dict[str, Any]


def _document() -> Document:
    """Return a matrix all cells of which share one result: crashed, against its prediction."""
    document: Document = dict(record(sample()))
    (consumer, *_), (role, *_) = document["consumers"], document["results"][0]
    document["consumers"] = [consumer | {"version": f"0.4.{n}"} for n in range(CONSUMERS)]
    document["items"] = [
        {"claimed": "1.0.0", "name": f"n{n}", "path": f"p{n}", "digest": f"{n:064x}"}
        for n in range(ITEMS)
    ]
    document["verdicts"] = [
        {"outcome": "compatible", "stage": "decode", "basis": "predicted"},
        {"outcome": "crashed", "stage": "decode", "basis": "observed"},
    ]
    document["results"] = [[role, 0, 1, "", ""]]
    document["cells"] = [[0] * CONSUMERS for _ in range(ITEMS)]
    return document


def _reason(document: Document) -> None:
    for verdict in document["verdicts"]:
        verdict["reason"] = TEXT


def _diagnostic(document: Document) -> None:
    document["verdicts"][1]["diagnostics"] = [{"severity": "error", "message": TEXT}]


def _diagnostics(document: Document) -> None:
    one = {"severity": "error", "message": "m", "location": "l"}
    document["verdicts"][1]["diagnostics"] = [one] * (MANY)


def _notes(document: Document) -> None:
    one = {"severity": "error", "message": "m"}
    document["verdicts"][1]["diagnostics"] = [one | {"notes": [one] * (MANY)}]


def _not_known(document: Document) -> None:
    one = {"stage": "execute", "what": "w"}
    document["verdicts"][0]["not_known"] = [one] * (MANY)


def _note(document: Document) -> None:
    document["results"][0][3] = TEXT


def _listed(document: Document) -> None:
    document["results"][0][4] = TEXT


def _name(document: Document) -> None:
    document["items"] = document["items"][:1]
    document["cells"] = document["cells"][:1]
    document["items"][0]["name"] = TEXT


def _path(document: Document) -> None:
    _name(document)
    document["items"][0] |= {"name": "n", "path": TEXT}


def _version(document: Document) -> None:
    document["consumers"] = document["consumers"][:1]
    document["consumers"][0]["version"] = TEXT
    document["cells"] = [[0] for _ in range(ITEMS)]


WAYS = [
    _reason, _diagnostic, _diagnostics, _notes, _not_known, _note, _listed, _name, _path, _version,
]  # fmt: skip


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("way", WAYS)
def test_what_cells_share_is_written_in_few_bytes_for_each(way: Any, form: str) -> None:
    """A cell has three bytes in a document, and its Verdict, of any length, may be that of all."""
    document = _document()
    way(document)
    began = time.process_time()
    matrix = merge([parse(document)])
    said = render(matrix, form, full=True)
    cells = sum(map(len, document["cells"]))
    assert len(said) < 20 * LONG + OF_A_CELL * cells
    assert time.process_time() - began < 6


def test_a_matrix_with_very_many_observations_of_a_cell_is_refused() -> None:
    """Each is a Verdict of its own for each consumer; no more are kept where some are merged."""
    document = _document()
    seen = document["verdicts"][1]
    document["verdicts"] += [seen | {"reason": f"{n}"} for n in range(40)]
    document["results"][0] += range(2, 18)
    few = parse(document)
    assert len(few.cells[0].also) == 16
    document["results"][0][5:] = range(18, 34)
    assert len(merge([few, parse(document)]).cells[0].also) == 16
    document["results"][0][5:] = range(2, 19)
    with pytest.raises(MalformedMatrix, match="17 more observations, above the limit of 16"):
        parse(document)


WAIVER = '[[waivers]]\nrule = "consumer"\npath = "*"\nexpires = 2099-01-01\nreason = '
POLICIES = {
    "waivers[0].reason": '[consumers]\na = ["jaxlib"]\n' + WAIVER + f'"{"r" * 1001}"',
    "consumers": f'[consumers]\n{"s" * 101} = ["jaxlib"]',
    "consumers.": "[consumers]\n" + "".join(f's{n} = ["jaxlib"]\n' for n in range(101)),
}


@pytest.mark.parametrize("key", POLICIES)
def test_what_findings_of_a_policy_share_is_limited(key: str, tmp_path: Path) -> None:
    """Each finding has the reason of its waiver, and the names of its consumer's sets."""
    path = tmp_path / "portable.toml"
    path.write_text(POLICIES[key])
    with pytest.raises(PolicyError, match=r"above the limit of 1,?0") as caught:
        load_policy(path)
    assert key.rstrip(".") in str(caught.value)


@pytest.mark.parametrize("key", ["distribution", "version"])
def test_the_name_of_a_release_is_limited(key: str, tmp_path: Path) -> None:
    """Each finding has the name of its consumer, which a policy's own table may give."""
    row = {"distribution": "ours", "version": "1.0", "current": "1.0.0"}
    row |= {"date": "2026-01-01", "confidence": "measured", "method": "bindings"}
    row |= {"measured": "2026-01-01", "evidence": "e", "minimum": "0.9.0", "python": "3.11"}
    table = "[[release]]\n" + "".join(f'{name} = "{said}"\n' for name, said in row.items())
    (tmp_path / "releases.toml").write_text(table)
    policy = tmp_path / "portable.toml"
    policy.write_text('releases = "releases.toml"\n[consumers]\na = ["ours"]\n')
    load_policy(policy)
    end = "x" if key == "distribution" else "1"
    (tmp_path / "releases.toml").write_text(
        table.replace(f'{key} = "{row[key]}', f'{key} = "{row[key]}{end * 200}')
    )
    with pytest.raises(PortableError, match="above the limit of 200"):
        load_policy(policy)


@pytest.mark.parametrize("way", [_diagnostics, _notes, _not_known])
def test_a_verdict_with_very_many_diagnostics_is_refused(way: Any) -> None:
    """It is compared with others for each cell that has it."""
    document = _document()
    way(document)
    for verdict in document["verdicts"]:
        for told in (verdict.get("diagnostics", []), verdict.get("not_known", [])):
            list_of = told[0].get("notes", told) if told else told
            list_of.extend(list_of[:1])
    with pytest.raises(MalformedMatrix, match="1,001, above the limit of 1,000"):
        parse(document)


def test_a_summary_of_a_gate_is_short_enough_for_a_forge(tmp_path: Path) -> None:
    """GitHub takes a megabyte; what is left out is counted."""
    tree = tmp_path / "tree"
    tree.mkdir()
    data = CALLING.read_bytes()
    for number in range(250):
        (tree / f"{number}.mlir.bc").write_bytes(data)
    for number in range(2000):
        (tree / f"{number}.link").symlink_to(f"{'n' * 200}{number}")
    policy = tmp_path / "portable.toml"
    consumers = [f"stablehlo==0.{major}.{n}" for major in (9, 10, 11) for n in range(30)]
    policy.write_text(f"[consumers]\na = {json.dumps(consumers)}\n[rules]\ncustom_calls = []\n")
    result = gate([tree], load_policy(policy))
    said = as_markdown(result)
    assert len(said.encode()) < 1_000_000
    assert "... and 50 more artifacts" in said
    assert "... and 1,800 more files that are not judged" in said
    assert re.search(r"; and [0-9]+ more", said)
    assert "250 of 250" in said
