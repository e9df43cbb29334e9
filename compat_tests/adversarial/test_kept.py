"""What was read leaves nothing behind in a process that lives on: no cache grows with its names."""

import functools
import gc

from compat_tests.helpers.bytecode_writer import Artifact, entry, operation, region
from portable.inspection import inspect
from portable.prediction import predict

_COUNT = 200


def _foreign(first: int) -> bytes:
    """Return an artifact with dialects, types, attributes, ops and a Version of its own."""
    numbers = range(first, first + _COUNT)
    own = [*(f"d{at}.o" for at in numbers), *(f"vhlo.o{at}_v1" for at in numbers)]
    ops = [operation(1 + at) for at in range(len(own))]
    return bytes(
        Artifact(
            names=("builtin.module", *own),
            attributes=[("builtin", entry(15)), *((f"a{at}", entry(3)) for at in numbers)],
            types=[(f"t{at}", entry(3)) for at in numbers],
            properties=[entry(0, 0)],
            operations=[operation(0, properties=0, isolated=True, regions=[region(ops)])],
            producer=f"StableHLO_v1.{first}.{first}",
        )
    )


def _kept() -> dict[str, int]:
    """Count what the unbounded caches of the package hold."""
    gc.unfreeze()  # what was there before the tests is no object that is listed
    caches = (one for one in gc.get_objects() if isinstance(one, functools._lru_cache_wrapper))
    return {
        f"{one.__module__}.{one.__qualname__}": one.cache_info().currsize
        for one in caches
        if one.__module__.startswith("portable.") and one.cache_info().maxsize is None
    }


def test_no_cache_keeps_foreign_names() -> None:
    """Of artifacts each of which has names that no other has, nothing is kept."""
    found = []
    for first in range(1, 4 * _COUNT, _COUNT):
        data = _foreign(first)
        assert not inspect(data).damage
        predict(data, "jaxlib 0.10.2", stage="execute")
        found.append(_kept())
    assert "portable.bytecode.vhlo.lifetimes" in found[0]
    assert found[-1] == found[1]
