"""The tool that makes the table of VHLO, on excerpts in upstream's form."""

from __future__ import annotations

import configparser

import pytest

from tools.vhlo_tables import DATA, definitions, render, table

OPS = """
// def VHLO_GoneOpV1 : VHLO_Op<"gone_v1", "0.9.0", "current">;
class VHLO_Op<string mnemonic, string minVersion, string maxVersion, list<Trait> traits = []> :
    Op<VHLO_Dialect, mnemonic, [Declare] # traits> {
  let extraClassDefinition = [{ { not ( a " definition }];
}

def VHLO_SwapOpV1 : VHLO_Op<"swap_v1", "0.9.0", "1.3.0"> {
  let arguments = (ins VHLO_AnyType:$lhs, VHLO_AnyType:$rhs);
  let results = (outs VHLO_AnyType:$result);
}

/* The second form
   takes any number. */
def VHLO_SwapOpV2 : VHLO_Op<"swap_v2", "1.4.0", "current",
    [DeclareOpInterfaceMethods<VHLO_Constraint, ["validate"]>]> {
  let arguments = (
    ins Variadic<VHLO_AnyType>:$operands,
    VHLO_AnyAttr:$order,  // with a comment
    OptionalAttr<VHLO_AnyAttr>:$name
  );
  let regions = (region VHLO_AnyRegion:$body);
}

def VHLO_NothingOpV1 : VHLO_Op<"no-thing_v1", "1.2.0", "current">;
"""
TYPES = """
def VHLO_FloatF8V1 : VHLO_TypeDef<"FloatF8V1", "f8_v1", "1.7.0", "current">;
def VHLO_PairV1 : VHLO_TypeDef<"PairV1", "pair_v1", "0.9.0", "current",
                               [DeclareTypeInterfaceMethods<ShapedTypeInterface>]> {
  let parameters = (ins "Type":$elementType);
  let extraClassDefinition = [{ if (a > b) return "}"; }];
  let assemblyFormat = "`<` $elementType `>`";
}
"""
ATTRIBUTES = """
def VHLO_ListAttrV1 : VHLO_AttrDef<"ListV1", "0.9.0", "current"> {
  let mnemonic = "list_v1";
  let parameters = (ins ArrayRefParameter<"mlir::Attribute">:$value);
}
"""
ENUMS = """
def VHLO_SIDE_V1_LEFT : I32EnumAttrCase<"LEFT", 0>;
def VHLO_SIDE_V1_RIGHT : I32EnumAttrCase<"RIGHT", 7>;
def VHLO_SideV1 : VHLO_I32EnumAttr<"SideV1", [
  VHLO_SIDE_V1_LEFT,
  VHLO_SIDE_V1_RIGHT
]> {}
def VHLO_SideAttrV1
  : VHLO_EnumAttr<VHLO_SideV1, "side_v1", "1.9.0", "current">;
"""
VERSION = """
class Version {
  static Version getCurrentVersion() { return Version(1, 21, 3); }
  static Version getMinimumVersion() {
    // no older one since the first promise
    return Version(0, 9, 0);
  }
};
"""
SOURCES = {
    "VhloOps.td": OPS,
    "VhloTypes.td": TYPES,
    "VhloAttrs.td": ATTRIBUTES,
    "VhloEnums.td": ENUMS,
    "Version.h": VERSION,
}


def test_table_holds_every_definition() -> None:
    """Forms, types, attributes and enums are found with Versions, operands and values."""
    found = table(SOURCES)
    assert found["ops"] == {
        "no-thing_v1": {"since": "1.2.0", "until": None, "attributes": [], "operands": []},
        "swap_v1": {
            "since": "0.9.0",
            "until": "1.3.0",
            "attributes": [],
            "operands": ["lhs", "rhs"],
        },
        "swap_v2": {
            "since": "1.4.0",
            "until": None,
            "attributes": ["order", "name"],
            "operands": ["operands*"],
        },
    }
    assert found["types"] == {
        "f8_v1": {"since": "1.7.0", "until": None},
        "pair_v1": {"since": "0.9.0", "until": None},
    }
    assert found["attributes"] == {
        "list_v1": {"since": "0.9.0", "until": None},
        "side_v1": {"since": "1.9.0", "until": None},
    }
    assert found["enums"] == {"side_v1": {"LEFT": 0, "RIGHT": 7}}
    assert (found["minimum"], found["current"]) == ("0.9.0", "1.21.3")


def test_the_file_is_what_the_tool_writes() -> None:
    """The table that is checked in has the tool's own form: writing it again changes nothing."""
    text = DATA.read_text("utf-8")
    assert render(_document(text)) == text


def _document(text: str) -> dict[str, object]:
    """Read the file with the standard library's own reader."""
    parser = configparser.ConfigParser(interpolation=None, delimiters=["="])
    parser.optionxform = str  # type: ignore[assignment,method-assign] # as its documentation says
    parser.read_string(text)

    def lifetime(row: str) -> dict[str, object]:
        since, until = row.split()
        return {"since": since, "until": None if until == "-" else until}

    def op(row: str) -> dict[str, object]:
        versions, attributes, operands = row.split("|")
        lists = {"attributes": attributes.split(), "operands": operands.split()}
        return lifetime(versions) | lists

    return dict(parser["versions"]) | {
        "ops": {name: op(row) for name, row in parser["ops"].items()},
        "types": {name: lifetime(row) for name, row in parser["types"].items()},
        "attributes": {name: lifetime(row) for name, row in parser["attributes"].items()},
        "enums": {
            name: dict(case.split(":") for case in row.split())
            for name, row in parser["enums"].items()
        },
    }


def test_a_row_stands_on_a_line() -> None:
    """The file has one line for each form, so that a change of one is a change of one line."""
    lines = render(table(SOURCES)).splitlines()
    assert sum(line.startswith("swap_v") for line in lines) == 2


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("VhloOps.td", 'def VHLO_X : VHLO_Op<"x_v1", "0.9.0"'),
        ("VhloAttrs.td", 'def VHLO_X : VHLO_AttrDef<"X", "0.9.0", "current"> {}'),
        ("Version.h", "class Version;"),
    ],
)
def test_a_file_in_another_form_is_an_error(name: str, text: str) -> None:
    """What the tool does not understand is no empty table."""
    with pytest.raises(ValueError, match=r"closes|mnemonic|Versions"):
        table({**SOURCES, name: text})


def test_blocks_of_code_do_not_confuse_brackets() -> None:
    """C++ inside a definition may hold any bracket."""
    (found,) = definitions('def A : B<"c", [{ ) } > }]> { let d = [{ }} }]; let e = 1; } def')
    assert (found.name, found.kind, found.strings) == ("A", "B", ["c"])
    assert "let e = 1" in found.body
