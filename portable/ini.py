"""Tables as INI files: what `configparser` reads, without what importing it costs.

Commands that start in milliseconds read a few tables first; `json` and `configparser` both load the
compiler of regular expressions, which takes longer than such a command.
"""

from __future__ import annotations

import os

__all__ = ["read_ini"]


def read_ini(module: str, name: str) -> dict[str, dict[str, str]]:
    """Read a table from the folder `data` beside a module.

    Lines are `[section]`, `key = value`, `# comment` or empty. A value is one line, and keeps its
    case.

    Args:
        module: The `__file__` of the module.
        name: The file, for example `vhlo.ini`.

    Returns:
        The values by section and key, in the order of the file.
    """
    path = os.path.join(os.path.dirname(module), "data", name)  # noqa: PTH118, PTH120 - pathlib is slow to import
    with open(path, encoding="utf-8") as stream:  # noqa: PTH123 - as above
        text = stream.read()
    sections: dict[str, dict[str, str]] = {}
    section: dict[str, str] = {}
    for line in text.splitlines():
        if line[:1] == "[":
            section = sections[line[1:-1]] = {}
        elif line and line[0] != "#":
            key, _, value = line.partition("=")
            section[key.rstrip()] = value.lstrip()
    return sections
