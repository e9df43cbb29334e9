"""The maintainers' commands: what measures real Releases, seals evidence and writes derived pages.

python -m tools                    list the commands
python -m tools seal --check       run one; each takes --help
"""

from __future__ import annotations

import ast
import importlib
import sys
from pathlib import Path

# Run as a file, by another tool that isolates its children; an installed `portable` comes first.
if str(Path(__file__).parent.parent) not in sys.path:
    sys.path.append(str(Path(__file__).parent.parent))


def commands() -> dict[str, str]:
    """Return every command, a module beside this one with a `main`, and its first line."""
    found = {}
    for path in sorted(Path(__file__).parent.glob("[!_]*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        if any(isinstance(node, ast.FunctionDef) and node.name == "main" for node in tree.body):
            found[path.stem] = (ast.get_docstring(tree) or "").partition("\n")[0]
    return found


def main() -> int:
    """Run the command that the first word names."""
    known = commands()
    if sys.argv[1:] in ([], ["--help"], ["-h"]):
        print(__doc__)
        for name, summary in known.items():
            print(f"  {name:<{max(map(len, known))}}  {summary}")
        return 0
    from portable.errors import PortableError

    name = sys.argv.pop(1)
    if name not in known:
        print(f"unknown command {name!r}; 'python -m tools' lists the commands", file=sys.stderr)
        return 2
    sys.argv[0] = f"python -m tools {name}"
    try:
        code: int = importlib.import_module(f"tools.{name}").main()
    except PortableError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return code


if __name__ == "__main__":
    sys.exit(main())
