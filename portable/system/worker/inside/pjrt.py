"""Executing on jaxlib's PJRT client, each era's own way: for the CPU, or of a plugin.

Everything here is private to jaxlib and has changed: E1 (0.4.13 to 0.6.0) compiles by
`client.compile`, E2 (0.6.1 to 0.9.2) by `client.compile_and_load`, E3 (0.10.0 and later) has no
`buffer_from_pyval` any more.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import inspect
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import cpu_handlers, cuda_handlers
from .answer import Refused, Unavailable
from .bindings import PRODUCER, PRODUCER_WITHIN
from .engines import CPU

if TYPE_CHECKING:
    from collections.abc import Callable

    from .answer import Payload

__all__ = ["Pjrt"]

# What a refusal to compile or to execute is raised as; XlaRuntimeError is a RuntimeError, and
# std::out_of_range an IndexError.
REFUSALS = (RuntimeError, ValueError, TypeError, SystemError, IndexError)
# The first release that compiles the bytes of a portable artifact; before, its module is compiled.
TAKES_ARTIFACTS = (0, 4, 24)
# Where the thread-local configuration of jax is: newest first.
CONFIGURATIONS = ("jaxlib._jax", "jaxlib.xla_extension")
# The package that has a plugin, and where: `pip install jax-cuda13-plugin` or `libtpu`.
PLUGINS = {
    "cuda": ("jax_plugins", "xla_cuda*/xla_cuda_plugin.so"),
    "tpu": ("libtpu", "libtpu.so"),
}
WHEELS = {"cuda": "jax-cuda13-plugin", "tpu": "libtpu"}
CUDA = "cuda"
# By default a client takes three quarters of the device's memory, and the next one finds none.
OPTIONS = {CUDA: {"preallocate": False}}
# What it is called while it is loaded.
PLUGIN = "portable"
_MESSAGE_LIMIT = 2000
# How many devices a client of the CPU has, from 0.5.0 on.
_DEVICES = "num_devices"
# How a buffer becomes an array: up to 0.5.0, and since.
COPIED = "_single_device_array_to_np_array"
MAYBE_COPIED = "_single_device_array_to_np_array_did_copy"
# What says that an argument is laid out otherwise than row by row.
_LAID_OUT = b"mhlo.layout_mode"


class Pjrt:
    """The client, made on first use, and the program that was compiled last.

    Args:
        read: Deserialize an artifact, for releases that do not compile it as it is.
        platform: `cpu`, a key of `PLUGINS`, or the path of a PJRT plugin.
    """

    def __init__(self, read: Callable[[bytes], Any], platform: str) -> None:
        self.device = ""
        self._read = read
        self._platform = platform
        self._spread: Any = None
        self._peers: Any = None
        self._client: Any = None
        self._xla: Any = None
        self._digest = b""
        self._loaded: Any = None

    def spread(self, told: Payload) -> None:
        """Use several devices of the CPU from now on, where the release makes as many.

        Args:
            told: As for `Spread`.
        """
        self._xla = importlib.import_module("jaxlib.xla_client")
        several = int(told.get("processes", 1))
        if _DEVICES in inspect.signature(self._xla.make_cpu_client).parameters:
            self._spread = importlib.import_module(".spread", __package__).Spread(told)
            if several > 1:
                home = importlib.import_module(".processes", __package__)
                self._peers = home.Processes(several)
                self._peers.start(told)
        elif several > 1:
            raise Unavailable("this release has one device of the CPU, in one process")

    def compile(self, program: bytes) -> Any:
        """Compile a program, unless it is the one that was compiled last.

        Args:
            program: A portable artifact, MLIR bytecode or MLIR text.

        Returns:
            The loaded executable.

        Raises:
            Refused: The compiler says no.
        """
        if self._peers is None:
            return self._compile_own(program)
        self._peers.tell("compile", program)
        try:
            return self._compile_own(program)
        finally:
            self._peers.hear()

    @classmethod
    def peer(cls, told: Payload, peers: Any) -> Pjrt:
        """Return the client of a process that is not the first.

        Args:
            told: As for `spread`.
            peers: The processes, as it sees them.
        """
        made = cls(_cannot_read, CPU)
        made.spread({**told, "processes": 1})
        made._peers = peers
        return made

    def do(self, what: str, *given: Any) -> Any:
        """Do what the first process does: compile a program, or execute it on its own devices."""
        if what == "run":
            return self._run_parts(*given)
        self._compile_own(*given)
        return None

    def _compile_own(self, program: bytes) -> Any:
        digest = hashlib.sha256(program).digest()
        if digest == self._digest:
            return self._loaded
        if self._client is None:
            self._open()
        if self._platform == CPU:
            cpu_handlers.initialize(program)
        # The old one goes first: two large programs need not fit.
        self._loaded, self._digest = None, b""
        try:
            self._loaded = self._compile(program)
        except REFUSALS as refusal:
            raise _refused(refusal) from None
        self._digest = digest
        return self._loaded

    def run(self, program: bytes, inputs: list[Any], results: list[Payload]) -> list[Any]:
        """Execute a program.

        Args:
            program: A portable artifact, MLIR bytecode or MLIR text.
            inputs: One array for each argument of its `main`.
            results: Not needed.

        Returns:
            One array for each result.

        Raises:
            Refused: The compiler or the runtime says no.
        """
        del results
        loaded = self.compile(program)
        try:
            if self._peers is not None:
                return self._whole(loaded, self._run_together(program, inputs))
            if self._spread is not None:
                return self._whole(loaded, self._run_parts(program, inputs))
            device = self._client.devices()[0]
            if self._platform == CPU and _LAID_OUT in program:
                inputs = _laid_out(loaded, inputs)
            buffers = [self._put(array, device) for array in inputs]
            sharded = loaded.execute_sharded(buffers)
            arrays = sharded.disassemble_into_single_device_arrays()
            return [_array(parts[0]) for parts in arrays]
        except REFUSALS as refusal:
            raise _refused(refusal) from None

    def _run_parts(self, program: bytes, inputs: list[Any]) -> list[list[Any]]:
        """Execute a program on the devices of this process; return the parts of each result."""
        loaded, spread = self._compile_own(program), self._spread
        laid = spread.shardings(self._xla, loaded.get_parameter_shardings(), len(inputs))
        buffers = [
            self._put_parts(array, spread.parts(array, sharding), sharding)
            for array, sharding in zip(inputs, laid, strict=True)
        ]
        sharded = loaded.execute_sharded(buffers)
        arrays = sharded.disassemble_into_single_device_arrays()
        return [[_array(part) for part in parts] for parts in arrays]

    def _run_together(self, program: bytes, inputs: list[Any]) -> list[list[Any]]:
        """Execute a program in all processes; return the parts of each result, in order."""
        self._peers.tell("run", program, inputs)
        try:
            own = self._run_parts(program, inputs)
        finally:
            theirs = self._peers.hear()
        each = zip(own, *theirs, strict=True)
        return [[part for parts in one for part in parts] for one in each]

    def _whole(self, loaded: Any, parts: list[list[Any]]) -> list[Any]:
        """Put the results of a program together."""
        laid = self._spread.shardings(self._xla, loaded.get_output_shardings(), len(parts))
        return [self._spread.whole(*one) for one in zip(parts, laid, strict=True)]

    def _put_parts(self, array: Any, parts: list[Any], sharding: Any) -> Any:
        """Put each part of an array on its device, if that is one of this process."""
        devices = self._devices()
        own = {device.id for device in self._client.local_devices()}
        here = [number for number, device in enumerate(devices) if device.id in own]
        where = _sharding(
            self._xla.GSPMDSharding, sharding, self._xla.DeviceList(devices), sharding
        )
        put = self._xla.batched_device_put
        wide = {"enable_x64": True} if "enable_x64" in (put.__doc__ or "") else {}
        given = [parts[number] for number in here], [devices[number] for number in here]
        return put(_Shaped(array), where, *given, **wide)

    def _devices(self) -> tuple[Any, ...]:
        return tuple(self._client.devices()[: self._spread.devices if self._spread else 1])

    def _open(self) -> None:
        _configure()
        self._xla = importlib.import_module("jaxlib.xla_client")
        if self._platform == CPU:
            several = {_DEVICES: self._spread.devices} if self._spread else {}
            if self._peers is not None:
                several = self._peers.joined(self._xla._xla, self._spread.devices)  # noqa: SLF001
            self._client = self._xla.make_cpu_client(**several)
            cpu_handlers.register(self._xla)
        else:
            self._client = self._open_plugin()
        self.device = str(self._client.devices()[0].device_kind)
        if self._spread is not None:
            self.device += f" x {self._spread.devices}"
        if self._peers is not None:
            self.device += f" in {self._peers.count} processes"

    def _open_plugin(self) -> Any:
        """Return a client of the plugin's first device."""
        plugin = self._xla.load_pjrt_plugin_dynamically(PLUGIN, _library(self._platform))
        try:
            self._xla.initialize_pjrt_plugin(PLUGIN)
            client = self._xla.make_c_api_client(PLUGIN, OPTIONS.get(self._platform, {}), None)
        except REFUSALS as refusal:
            words = _refused(refusal)
            raise Unavailable(f"no device of {self._platform} can be used: {words}") from None
        if self._platform == CUDA:
            cuda_handlers.register(self._xla, plugin)
        return client

    def _compile(self, program: bytes) -> Any:
        version = importlib.import_module("jaxlib.version").__version_info__
        if PRODUCER in program[:PRODUCER_WITHIN] and version < TAKES_ARTIFACTS:
            program = self._read(program)
        options = self._xla.CompileOptions()
        if self._spread is not None:
            self._spread.set_options(self._xla, options, [one.id for one in self._devices()])
        if not hasattr(self._client, "compile_and_load"):
            return self._client.compile(program, options)
        devices = self._devices()
        try:
            return self._client.compile_and_load(program, self._xla.DeviceList(devices), options)
        except TypeError:  # 0.6.1 takes a plain list
            return self._client.compile_and_load(program, list(devices), options)

    def _put(self, array: Any, device: Any) -> Any:
        if hasattr(self._client, "buffer_from_pyval"):
            return self._client.buffer_from_pyval(array, device)
        put = self._xla.batched_device_put
        whole = self._xla.HloSharding.replicate()
        where = _sharding(self._xla.SingleDeviceSharding, whole, device)
        return put(_Shaped(array), where, [array], [device], enable_x64=True)


def _sharding(native: Any, layout: Any, *arguments: Any) -> Any:
    """Make what jax makes of a native class: the client calls these."""

    class Sharding(native):  # type: ignore[misc]  # untyped
        memory_kind = None

        def _to_xla_hlo_sharding(self, _dimensions: int) -> Any:
            return layout

    return Sharding(*arguments)


def _laid_out(loaded: Any, inputs: list[Any]) -> list[Any]:
    """Order the elements of arrays as a program wants its arguments: the CPU takes any."""
    if not hasattr(loaded, "get_parameter_layouts"):  # up to 0.4.20, without layout modes
        return inputs
    ordered = []
    for array, layout in zip(inputs, loaded.get_parameter_layouts(), strict=True):
        minor_to_major = [int(number) for number in re.findall(r"\d+", str(layout))]
        if sorted(minor_to_major) == [*range(array.ndim)]:  # else in tiles, which are refused
            ordered.append(array.transpose(minor_to_major[::-1]).copy().reshape(array.shape))
        else:
            ordered.append(array)
    return ordered


def _cannot_read(_program: bytes) -> Any:
    """Stand for reading, which no Release needs that has several devices."""
    raise Unavailable("this release compiles no artifacts")


def _library(platform: str) -> str:
    """Find the shared library of a plugin: by its path, or where its wheel has it."""
    if Path(platform).suffix == ".so":
        return platform
    package, pattern = PLUGINS[platform]
    home = importlib.util.find_spec(package)
    for folder in (home and home.submodule_search_locations) or ():
        for found in sorted(Path(folder).glob(pattern)):
            return str(found)
    raise Unavailable(
        f"no PJRT plugin for {platform} is installed beside this jaxlib",
        f"install {WHEELS[platform]} there, or give the path of its .so as the platform",
    )


def _refused(error: BaseException) -> Refused:
    words = " ".join(str(error)[:_MESSAGE_LIMIT].split())
    return Refused(f"{type(error).__name__}: {words}")


class _Shaped:
    """What the client reads of an abstract value."""

    weak_type = False

    def __init__(self, array: Any) -> None:
        self.shape = array.shape
        self.ndim = array.ndim
        self.dtype = array.dtype


def _configure() -> None:
    """Say what jax would have said: without it the first buffer aborts the process."""
    for name in CONFIGURATIONS:
        try:
            jit = importlib.import_module(name).jax_jit
        except (ImportError, AttributeError):
            continue
        if hasattr(jit, "set_thread_local_state_initialization_callback"):
            jit.set_thread_local_state_initialization_callback(lambda: None)
        if hasattr(jit, "global_state"):
            state = jit.global_state()
            state.enable_x64 = True
            if hasattr(state, "enable_memories"):
                state.enable_memories = False
        return


def _array(buffer: Any) -> Any:
    # Plain numpy.asarray would turn the types of ml_dtypes into objects.
    copied = getattr(buffer, COPIED, None)
    return getattr(buffer, MAYBE_COPIED)()[0] if copied is None else copied()
