"""The accuracy that a result must have, stated op by op."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from portable.features.bridges import bridges

if TYPE_CHECKING:
    from collections.abc import Sequence

    from portable.pinning.rewrites.editor import Editor

__all__ = ["OPS", "asks", "drop"]

OPS = frozenset(
    f"stablehlo.{name}"
    for name in (
        "cbrt",
        "cosine",
        "exponential",
        "exponential_minus_one",
        "log",
        "log_plus_one",
        "logistic",
        "rsqrt",
        "sine",
        "sqrt",
        "tan",
        "tanh",
    )
)
_NAME = "result_accuracy"
_DEFAULT = "#stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<DEFAULT>>"
_NUMBER = re.compile(r"(rtol|ulps) = ([0-9.e+-]+)")
# One ulp of a number is at most this part of it.
_EPSILON = {"bf16": 2.0**-7, "f16": 2.0**-10, "f32": 2.0**-23, "f64": 2.0**-52}


def asks(_editor: Editor, operation: Any) -> bool:
    """Return whether an op requires another accuracy than the default."""
    attributes = operation.attributes
    return _NAME in attributes and "_mode<DEFAULT>" not in str(attributes[_NAME])


def drop(editor: Editor, operations: Sequence[Any]) -> None:
    """Set the default accuracy, where its known error is within what was requested."""
    errors = bridges().default_ulps
    for operation in operations:
        element = editor.element(operation.result)
        name = f"{operation.name.removeprefix('stablehlo.')} {element}"
        if name not in errors:
            raise editor.refuse(operation, f"the error bound of the default {name} is unknown")
        text = str(operation.attributes[_NAME])
        if "_mode<TOLERANCE>" in text and _ulps(text, str(element)) < errors[name]:
            raise editor.refuse(
                operation,
                f"it requires {_ulps(text, str(element)):g} ulps, and the default {name} errs by "
                f"up to {errors[name]} on XLA CPU",
            )
        operation.attributes[_NAME] = editor.ir.Attribute.parse(_DEFAULT)


def _ulps(accuracy: str, element: str) -> float:
    """Return how many ulps a tolerance accepts whatever the result; absolute ones accept none."""
    numbers = {name: float(number) for name, number in _NUMBER.findall(accuracy)}
    return max(numbers.get("ulps", 0.0), numbers.get("rtol", 0.0) / _EPSILON[element])
