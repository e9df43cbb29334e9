"""The tables that ship inside the package, as INI files beside the module that reads them."""

from __future__ import annotations

import os
from configparser import Error, RawConfigParser

from portable.errors import PortableError

__all__ = ["InvalidTable", "read_table"]


class InvalidTable(PortableError):
    """A table inside the package has a mistake.

    Args:
        table: The file.
        row: The row or section.
        what: What is wrong with it.
    """

    def __init__(self, table: str, row: str, what: str) -> None:
        super().__init__(f"{row}: {what}", where=table)


def read_table(module: str, name: str) -> dict[str, dict[str, str]]:
    """Read a table from the folder `data` beside a module.

    Keys and values keep their case; a duplicate section or key is refused.

    Args:
        module: The `__file__` of the module.
        name: The file, for example `vhlo.ini`.

    Returns:
        The values by section and key, in the order of the file.

    Raises:
        InvalidTable: It is no table, or has a section or key twice.
    """
    parser = RawConfigParser(delimiters=("=",), comment_prefixes=("#",), default_section="")
    parser.optionxform = str  # type: ignore[assignment, method-assign]  # keys keep their case
    path = os.path.join(os.path.dirname(module), "data", name)
    try:
        with open(path, encoding="utf-8") as stream:
            parser.read_file(stream, name)
    except Error as error:
        raise InvalidTable(name, "the file", str(error)) from error
    return {section: dict(parser.items(section, raw=True)) for section in parser.sections()}
