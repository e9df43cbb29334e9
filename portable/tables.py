"""The tables that ship inside the package, as INI files beside the module that reads them."""

from __future__ import annotations

from configparser import RawConfigParser
from pathlib import Path

__all__ = ["read_table"]


def read_table(module: str, name: str) -> dict[str, dict[str, str]]:
    """Read a table from the folder `data` beside a module.

    Keys and values keep their case; a duplicate section or key is refused.

    Args:
        module: The `__file__` of the module.
        name: The file, for example `vhlo.ini`.

    Returns:
        The values by section and key, in the order of the file.
    """
    parser = RawConfigParser(delimiters=("=",), comment_prefixes=("#",), default_section="")
    parser.optionxform = str  # type: ignore[assignment, method-assign]  # keys keep their case
    parser.read_string((Path(module).parent / "data" / name).read_text("utf-8"), name)
    return {section: dict(parser[section]) for section in parser.sections()}
