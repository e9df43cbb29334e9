"""Make a sealed Case of a directory that a real torch_xla release wrote.

The directory is what `StableHLOGraphModule.save` made, with `io.npz` beside it: the input `x` and
what PyTorch eager answered, `y`. It is kept whole, as a Container; its artifact is the sealed one.

    python -m tools import_torch_xla 2.1.0 path/to/directory
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from portable.artifact import Artifact
from portable.corpus import Oracle
from portable.corpus.making import Draft, Evidence, write_case
from portable.tolerance import Tolerance
from tools.full_scan import Scanner
from tools.new_case import CORPUS

if TYPE_CHECKING:
    from tools.oracles import Array


FAMILY = "torch_xla"


def arguments_of(directory: Path) -> dict[str, Array]:
    """Load the arguments of the program, weights and input, in order.

    Args:
        directory: As torch_xla wrote it.
    """
    meta = json.loads((directory / "functions" / "forward.meta").read_text("utf-8"))
    x = np.load(directory / "io.npz", allow_pickle=False)["x"]
    arguments = {}
    for number, place in enumerate(meta["input_locations"]):
        if place["type_"] == "input_arg":
            arguments[f"arg{number}"] = x
        else:
            with (directory / "data" / place["name"]).open("rb") as stream:
                arguments[f"arg{number}"] = np.load(stream, allow_pickle=False)
    return arguments


def main() -> int:
    """Make the Case."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("release", help="the torch_xla release, as 2.1.0")
    parser.add_argument("directory", type=Path, help="what it wrote")
    arguments = parser.parse_args()
    source = arguments.directory / "functions" / "forward.bytecode"
    data = source.read_bytes()
    version = Artifact.from_bytes(data).version
    text = Scanner().canonical(data)
    assert text is not None, f"{source} cannot be read"
    outputs = (np.load(arguments.directory / "io.npz", allow_pickle=False)["y"],)
    name = f"torch_xla_{arguments.release.replace('.', '_')}"
    draft = Draft(name, FAMILY, text, f"StableHLOGraphModule.save of torch_xla {arguments.release}")
    evidence = Evidence(
        Oracle.FRAMEWORK,
        arguments_of(arguments.directory),
        outputs,
        (f"PyTorch eager beside torch_xla {arguments.release}",),
        tolerance=Tolerance(relative=1e-5, absolute=1e-5),
    )
    write_case(CORPUS / FAMILY / name, draft, evidence, str(version))
    artifacts = CORPUS / FAMILY / name / "artifacts"
    artifacts.mkdir()
    shutil.copyfile(source, artifacts / f"{version}+torch_xla-{arguments.release}.mlir.bc")
    shutil.copytree(
        arguments.directory,
        CORPUS / FAMILY / name / "container",
        copy_function=shutil.copyfile,
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
