"""Programs with arguments that become constants: weights that are part of the artifact."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from portable import bindings
from portable.pinning import pipeline as pin
from portable.pinning.program import apart, load

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np

    from portable.artifact import Artifact

__all__ = ["bake"]


@apart
def bake(artifact: Artifact, values: Mapping[int, np.ndarray[Any, Any]]) -> Artifact:
    """Make constants of arguments of `main`.

    Args:
        artifact: The program.
        values: What each of them is, by its number.

    Returns:
        The program without these arguments, for the Version that it was for.

    Raises:
        LibraryError: A value is none of the argument's type.
        PortableError: As `portable.serialize`.
    """
    library, module = load(artifact, bindings.find())
    with library.editing(module) as ir:
        functions = (operation.operation for operation in module.body.operations)
        named = (o for o in functions if "sym_name" in o.attributes)
        main = next(o for o in named if ir.StringAttr(o.attributes["sym_name"]).value == "main")
        block = main.regions[0].blocks[0]
        with ir.InsertionPoint.at_block_begin(block):
            for number, array in values.items():
                argument = block.arguments[number]
                value = ir.DenseElementsAttr.get(array, type=argument.type)
                made = ir.Operation.create(
                    "stablehlo.constant", results=[argument.type], attributes={"value": value}
                )
                argument.replace_all_uses_with(made.result)
        for number in sorted(values, reverse=True):
            block.erase_argument(number)
        taken = [argument.type for argument in block.arguments]
        given = ir.FunctionType(ir.TypeAttr(main.attributes["function_type"]).value).results
        main.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(taken, given))
        if "arg_attrs" in main.attributes:
            kept = list(ir.ArrayAttr(main.attributes["arg_attrs"]))
            left = [each for number, each in enumerate(kept) if number not in values]
            main.attributes["arg_attrs"] = ir.ArrayAttr.get(left)
    return pin.serialize(module, str(artifact.version))
