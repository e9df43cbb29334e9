"""Write the serialized `jax.export.Exported` files of the tests, with whatever jax is installed.

Run it with the jax that shall write them; nothing else has to be installed there:

    uv run --no-project --python 3.11 --with 'jax[cpu]==0.9.2' --with flatbuffers \
        --with absl-py python -m tools export_sample compat_tests/data/containers

writes `gate-vjp0-jax-0.9.2.exported` and the same with one and with two orders of derivatives.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path


def main() -> int:
    """Export one function three times."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, help="where to write them")
    folder = parser.parse_args().folder
    import jax
    import jax.numpy as jnp
    from jax import export

    # Locations must not contain where on the disk this file lay.
    jax.config.update("jax_hlo_source_file_canonicalization_regex", ".*/")

    def gate(x: object, scale: object) -> object:
        return {"y": jnp.tanh(x) * scale + 0.5}

    arguments = (
        jax.ShapeDtypeStruct((2, 3), jnp.float32),
        jax.ShapeDtypeStruct((), jnp.float32),
    )
    exported = export.export(jax.jit(gate))(*arguments)
    for order in range(3):
        path = folder / f"gate-vjp{order}-jax-{jax.__version__}.exported"
        path.write_bytes(exported.serialize(vjp_order=order))
    return 0


if __name__ == "__main__":
    sys.exit(main())
