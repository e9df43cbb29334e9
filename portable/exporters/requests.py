"""What a command line requests: a program by its name in the code, and inputs by their types.

`MODULE:ATTR` names a program, or what makes one. `[NAME=]TYPE[SIZES]` describes an input:
`f32[2,3]`, `mask=i1[2]`, `i64[batch,9]`, where a name in the place of a size leaves it open.
"""

from __future__ import annotations

import difflib
import importlib
import re
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from portable.errors import PortableError
from portable.exporters.frameworks import first_line
from portable.runtime.executors.tensors import dtype_named, dtype_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from portable.runtime.executors.tensors import Array

__all__ = ["BadInput", "InputSpec", "NoSuchProgram", "example", "find_program", "parse_inputs"]

_SPEC = re.compile(r"(?:([A-Za-z_]\w*)=)?([A-Za-z]\w*(?:<\w+>)?)(?:\[([^\[\]]*)\])?")
_SIZE = re.compile(r"[0-9]+|[A-Za-z_]\w*")
# Dynamic dimensions are traced with distinct sizes: equal ones would be identified.
_FIRST_OPEN = 4


class NoSuchProgram(PortableError):
    """`MODULE:ATTR` leads to nothing, or to what fails when it is imported or called."""


class BadInput(PortableError):
    """The description of an input says nothing, or inputs are described twice or not at all."""


@dataclass(frozen=True, slots=True)
class InputSpec:
    """One input.

    Args:
        name: Of the argument when it is passed by name, else empty.
        dtype: Its dtype.
        shape: The sizes; a name where one is dynamic.
    """

    name: str
    dtype: np.dtype[Any]
    shape: tuple[int | str, ...]


def find_program(reference: str, folder: str) -> Any:
    """Import what `MODULE:ATTR` names.

    Args:
        reference: For example `models:resnet` or `package.models:Factory.small`.
        folder: Where modules are looked for last, so that it hides nothing that is installed.

    Returns:
        The attribute.

    Raises:
        NoSuchProgram: There is no such module or attribute, or importing it fails.
    """
    module, colon, attribute = reference.partition(":")
    if not (module and colon and attribute):
        raise NoSuchProgram(
            f"{reference!r} is not MODULE:ATTR", hint="for example mymodels:net, from mymodels.py"
        )
    if folder not in sys.path:
        sys.path.append(folder)
    try:
        found: Any = importlib.import_module(module)
    except ModuleNotFoundError as error:
        missing = error.name or module
        mine = module == missing or module.startswith(f"{missing}.")
        hint = "it is looked for in the current directory and where Python looks" if mine else None
        raise NoSuchProgram(f"no module {missing!r}", where=reference, hint=hint) from error
    except Exception as error:  # importing runs the user's code: anything may come
        what = f"importing {module} fails: {first_line(error)}"
        raise NoSuchProgram(what, where=reference) from error
    for name in attribute.split("."):
        if not hasattr(found, name):
            near = difflib.get_close_matches(name, dir(found), 1)
            raise NoSuchProgram(
                f"no attribute {name!r}",
                where=reference,
                hint=f"did you mean {near[0]!r}?" if near else None,
            )
        found = getattr(found, name)
    return found


def parse_inputs(texts: Iterable[str]) -> tuple[InputSpec, ...]:
    """Read the descriptions of inputs.

    Args:
        texts: For example `f32[2,3]`, `mask=i1[batch]`, `i64`.

    Returns:
        The inputs; those without a name first.

    Raises:
        BadInput: One says nothing, or comes without a name after one with a name.
    """
    found: list[InputSpec] = []
    for text in texts:
        spec = _parsed(text)
        if found and found[-1].name and not spec.name:
            raise BadInput(f"{text!r} comes after an input with a name", hint="put it first")
        if spec.name and spec.name in {other.name for other in found}:
            raise BadInput(f"{spec.name!r} is given twice")
        found.append(spec)
    return tuple(found)


def example(spec: InputSpec, sizes: dict[str, int]) -> Array:
    """Make an array to trace with: floats from a seed, zeros of everything else.

    Args:
        spec: What is wanted.
        sizes: The size that each name stands for; new names are entered.

    Returns:
        The array.
    """
    shape = [
        sizes.setdefault(size, _FIRST_OPEN + len(sizes)) if isinstance(size, str) else size
        for size in spec.shape
    ]
    zeros = np.zeros(shape)
    wide = np.random.default_rng(0).standard_normal(shape) if _is_float(spec.dtype) else zeros
    return np.asarray(wide).astype(spec.dtype)


def _is_float(dtype: np.dtype[Any]) -> bool:
    return "float" in dtype.name or dtype.kind in "fc"


def _parsed(text: str) -> InputSpec:
    match = _SPEC.fullmatch(text.strip())
    if match is None:
        raise BadInput(f"{text!r} does not describe an input", hint=_FORMAT)
    name, element, inside = match.groups()
    try:
        dtype = dtype_of(element) or dtype_named(element)
    except PortableError as error:
        raise BadInput(f"unknown type {element!r} in {text!r}", hint=_FORMAT) from error
    sizes = [size.strip() for size in inside.split(",")] if inside and inside.strip() else []
    wrong = next((size for size in sizes if not _SIZE.fullmatch(size)), None)
    if wrong is not None:
        raise BadInput(f"{wrong!r} is not a size, in {text!r}", hint=_FORMAT)
    shape = tuple(int(size) if size.isdigit() else size for size in sizes)
    return InputSpec(name or "", dtype, shape)


_FORMAT = "write it as f32[2,3], i64[batch,9] or name=f32[2]"
