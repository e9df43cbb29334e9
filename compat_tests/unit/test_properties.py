"""The kinds of the properties of ops, as a table has them, are those of the corpus."""

from __future__ import annotations

from pathlib import Path

from compat_tests.adversarial.generators.properties import artifacts, samples
from portable.artifact import Artifact
from portable.bytecode import read
from portable.bytecode.entries import ATTRIBUTES
from portable.bytecode.layouts import VHLO
from portable.bytecode.vhlo import op, ops
from portable.prediction import examine, predict
from portable.prediction.parts import property_kinds
from portable.verdict import Outcome

CASES = Path(__file__).parents[2] / "corpus"
FORM = "property of an op that is an attribute of another kind"
# One in so many artifacts is predicted here; `real/test_properties.py` reads more of them.
EVERY = 61


def test_every_property_has_its_kinds_and_no_other_name_is_there() -> None:
    """The table has each property of each op of VHLO."""
    assert property_kinds().keys() == {field for one in ops().values() for field in one.attributes}


def test_the_table_has_what_the_corpus_has() -> None:
    """For each property of each op: what real libraries wrote, and nothing that none wrote."""
    seen: dict[str, set[str]] = {}
    for folder in sorted(CASES.glob("*/*/artifacts")):
        path = max(folder.glob("*.mlir.bc"), key=lambda one: Artifact.load(one).header.producer)
        content = read(path.read_bytes())
        for signature in content.scan().signatures:
            dialect, name, _ = content.names[signature.name]
            for field in op(name).attributes if dialect == VHLO else ():
                number = content.inherent(signature, field)
                if number is not None:
                    kind = content.pool.outline(ATTRIBUTES, number).name
                    seen.setdefault(field, set()).add(kind)
    assert seen == property_kinds()


def test_what_the_corpus_has_is_not_doubted() -> None:
    """The form occurs in no artifact that a library wrote."""
    for data in samples().values():
        assert examine(Artifact.from_bytes(data)).occurs(FORM) is False


def test_another_kind_is_never_predicted_to_be_read() -> None:
    """Whatever the property and the kind, the outcome is refused or not known."""
    tried = 0
    for what, kind, data in artifacts(EVERY):
        if kind.dialect == VHLO and kind.layout.name in property_kinds()[what.field]:
            continue
        tried += 1
        assert predict(data, "jaxlib 0.10.2").outcome is not Outcome.COMPATIBLE, (what, kind)
    assert tried > 100
