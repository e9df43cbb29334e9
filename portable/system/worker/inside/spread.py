"""A program over several devices of one process: which part of each array lies where."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from .answer import Unavailable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .answer import Payload

__all__ = ["Spread"]


class Spread:
    """How a program is laid out: the replicas, or the partitions, that its module names.

    Args:
        told: `replicas` and `partitions`, one of them 1, whether `shardy` is the partitioner, and
            over how many `processes`.
    """

    def __init__(self, told: Payload) -> None:
        self._replicas, self._partitions = int(told["replicas"]), int(told["partitions"])
        self._shardy = bool(told["shardy"])
        self.devices = self._replicas * self._partitions

    def set_options(self, xla: Any, options: Any, devices: Sequence[int]) -> None:
        """Have a program compiled for all devices, which are given by their numbers."""
        assigned = np.array(devices).reshape(self._replicas, self._partitions)
        built = options.executable_build_options
        for one in (options, built):
            one.num_replicas, one.num_partitions = self._replicas, self._partitions
            one.device_assignment = xla.DeviceAssignment.create(assigned)
        built.use_spmd_partitioning = self._partitions > 1
        built.use_shardy_partitioner = self._shardy

    def shardings(self, xla: Any, told: Any, count: int) -> list[Any]:
        """Return the sharding of each argument, or result, from what the executable says."""
        if told is None or self._partitions == 1:
            return [xla.HloSharding.replicate()] * count
        return [xla.HloSharding.from_proto(one) for one in told]

    def parts(self, array: Any, sharding: Any) -> list[Any]:
        """Cut an array into what each device has of it."""
        places = self._places(array.shape, sharding)
        return [np.ascontiguousarray(array[place]) for place in places]

    def whole(self, parts: Sequence[Any], sharding: Any) -> Any:
        """Put an array together.

        Raises:
            Unavailable: Devices that have the same part of it disagree.
        """
        dims = self._dims(parts[0].ndim, sharding)
        shape = tuple(size * over for size, over in zip(parts[0].shape, dims, strict=True))
        array = np.empty(shape, parts[0].dtype)
        seen: dict[str, Any] = {}
        for part, place in zip(parts, self._places(shape, sharding), strict=True):
            first = seen.setdefault(str(place), part)
            if first.tobytes() != part.tobytes():
                raise Unavailable("its replicas return different values, of which one is compared")
            array[place] = part
        return array

    def _dims(self, rank: int, sharding: Any) -> list[int]:
        """Return over how many devices each dimension is spread."""
        if sharding.is_replicated():
            return [1] * rank
        if not sharding.is_tiled() or sharding.subgroup_types():
            raise Unavailable(
                f"an array is laid out as {sharding}, and neither tiled nor replicated"
            )
        return [int(size) for size in sharding.tile_assignment_dimensions()[:rank]]

    def _places(self, shape: Sequence[int], sharding: Any) -> list[tuple[slice, ...]]:
        """Return which part of an array of this shape each device has."""
        dims = self._dims(len(shape), sharding)
        if any(size % over for size, over in zip(shape, dims, strict=True)):
            raise Unavailable(f"{tuple(shape)} does not divide into {tuple(dims)} equal parts")
        order = [*range(self.devices)]
        if not sharding.is_replicated():
            order = [int(device) for device in sharding.tile_assignment_devices()]
        copies = len(order) // math.prod(dims)
        places: list[tuple[slice, ...]] = [()] * self.devices
        for number, device in enumerate(order):
            # Of a replicated array everything is the one tile, and all devices copies.
            at = np.unravel_index(number // copies, dims) if dims else ()
            sizes = [size // over for size, over in zip(shape, dims, strict=True)]
            places[device] = tuple(
                slice(i * n, (i + 1) * n) for i, n in zip(at, sizes, strict=True)
            )
        return places
