"""Folders in which every module that Python may look for is hostile: it leaves a trace when run."""

from __future__ import annotations

import importlib.metadata
import sys
from pathlib import Path

__all__ = ["hostile_folder", "names"]

_EVIL = """
import os as _os
with open({trace!r}, "a") as _stream:
    _stream.write("%d %s\\n" % (_os.getpid(), __name__))
raise ImportError("hostile")
"""


def names() -> list[str]:
    """Return every module a child could ask for: the standard library's, ours, all installed."""
    installed = importlib.metadata.packages_distributions()
    known = sys.stdlib_module_names | set(installed) | {"portable", "pip", "uv"}
    return sorted(
        name for name in known | {"sitecustomize", "usercustomize"} if name.isidentifier()
    )


def hostile_folder(folder: Path, trace: Path, *, spared: frozenset[str] = frozenset()) -> Path:
    """Fill a folder.

    Args:
        folder: Where.
        trace: The file to which each module that is run writes its process and name.
        spared: Modules that are left out.

    Returns:
        The folder.
    """
    folder.mkdir(exist_ok=True)
    code = _EVIL.format(trace=str(trace))
    for name in names():
        if name not in spared:
            (folder / f"{name}.py").write_text(code, encoding="utf-8")
    (folder / "evil.pth").write_text(f"import os; open({str(trace)!r}, 'a').write('0 pth\\n')")
    return folder
