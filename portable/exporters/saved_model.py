"""TensorFlow SavedModels of exported models: the job of torch_xla's `stablehlo-to-saved-model`.

PyTorch is not needed, TensorFlow is: it writes the model, and the artifact inside is the one that
was exported, byte for byte, in the op `XlaCallModule`.
"""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from portable.exporters.exported import ExportedArtifact
from portable.exporters.frameworks import ExporterMissing, ExportFailed, first_line
from portable.system.files import new_directory

if TYPE_CHECKING:
    import os

    from portable.exporters.exported import Argument, Result

__all__ = ["save_as_saved_model"]

# The oldest calling convention that every TensorFlow since 2.14 runs, dynamic dimensions included.
_CALLING_CONVENTION = 5
_NAME = re.compile(r"[^A-Za-z0-9_]")


def save_as_saved_model(
    exported: ExportedArtifact | str | os.PathLike[str], directory: str | os.PathLike[str]
) -> None:
    """Write a SavedModel that TensorFlow and TensorFlow Serving load.

    Its signature `serving_default` takes the inputs and returns the results by their names; the
    weights are variables. The artifact must be one that the TensorFlow which will run it reads.

    Args:
        exported: An exported model, or a directory that it, or torch_xla, was saved to.
        directory: A new place or an empty directory; for TensorFlow Serving, `NAME/1`.

    Raises:
        ExporterMissing: TensorFlow is not installed.
        ExportFailed: TensorFlow refuses the program.
        FileError: It cannot be written, or the destination exists; nothing is left behind.
        PortableError: As `ExportedArtifact.load`.
    """
    if importlib.util.find_spec("tensorflow") is None:
        raise ExporterMissing(
            "a SavedModel is written by TensorFlow, which is not installed",
            hint="install it: pip install 'stablehlo-portable[tensorflow]'",
        )
    if not isinstance(exported, ExportedArtifact):
        exported = ExportedArtifact.load(exported)
    with new_directory(directory) as staged:
        _write(exported, Path(staged))


def _write(exported: ExportedArtifact, directory: Path) -> None:
    import tensorflow as tf

    try:
        module = tf.Module()
        module.weights = {name: tf.Variable(array) for name, array in exported.weights.items()}
        function = tf.function(_serving(exported, module.weights), autograph=False)
        inputs = {_name(a.name): _spec(a) for a in exported.inputs}
        signature = function.get_concrete_function(**inputs)
        tf.saved_model.save(module, str(directory), signatures={"serving_default": signature})
    except OSError:
        raise
    except Exception as error:  # TensorFlow raises classes of its own for everything
        raise ExportFailed(f"TensorFlow cannot save the model: {first_line(error)}") from error


def _serving(exported: ExportedArtifact, variables: dict[str, Any]) -> Any:
    """Return the function that TensorFlow traces: from inputs by name to results by name."""
    import tensorflow as tf
    from tensorflow.compiler.tf2xla.ops import gen_xla_ops

    def forward(**inputs: Any) -> dict[str, Any]:
        passed = [
            variables[a.name] if a.is_weight else inputs[_name(a.name)] for a in exported.arguments
        ]
        outputs = gen_xla_ops.xla_call_module(
            passed,
            version=_CALLING_CONVENTION,
            module=exported.artifact.data,
            Tout=[tf.as_dtype(result.dtype) for result in exported.results],
            Sout=[_spec(result).shape for result in exported.results],
            platforms=["CPU"],
            dim_args_spec=[],
        )
        named = zip(exported.results, outputs, strict=True)
        return {_output(result.name): output for result, output in named}

    return forward


def _output(name: str) -> str:
    return f"output_{name}" if name.isdigit() else _name(name)


def _spec(value: Argument | Result) -> Any:
    import tensorflow as tf

    shape = [size if isinstance(size, int) else None for size in value.shape]
    return tf.TensorSpec(shape, tf.as_dtype(value.dtype), name=_name(value.name))


def _name(name: str) -> str:
    """Return a name as TensorFlow's signatures may have them."""
    return _NAME.sub("_", name)
