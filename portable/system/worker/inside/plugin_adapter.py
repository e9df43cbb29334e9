"""PJRT plugins: their attributes are queried, without a client and without a device.

Source of the layouts: the PJRT C API header of openxla/xla. Only the head of the function table is
used, which has been the same since the attributes were introduced.
"""

from __future__ import annotations

import ctypes
import os

from .answer import Job, Payload, Refused, Unavailable

__all__ = ["load"]

STRING, INT64, INT64_LIST, FLOAT, BOOL = range(5)
CURRENT, MINIMUM = "stablehlo_current_version", "stablehlo_minimum_version"
# More attributes, or longer values, than any plugin has: the table is not what we think it is.
MOST_ATTRIBUTES = 1000
LONGEST_VALUE = 1 << 20

_FUNCTION = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)


class _ApiVersion(ctypes.Structure):
    _fields_ = (
        ("struct_size", ctypes.c_size_t),
        ("extension_start", ctypes.c_void_p),
        ("major", ctypes.c_int),
        ("minor", ctypes.c_int),
    )


class _Api(ctypes.Structure):
    _fields_ = (
        ("struct_size", ctypes.c_size_t),
        ("extension_start", ctypes.c_void_p),
        ("version", _ApiVersion),
        ("error_destroy", ctypes.c_void_p),
        ("error_message", ctypes.c_void_p),
        ("error_get_code", ctypes.c_void_p),
        ("plugin_initialize", ctypes.c_void_p),
        ("plugin_attributes", ctypes.c_void_p),
    )


class _Value(ctypes.Union):
    _fields_ = (
        ("string", ctypes.c_void_p),
        ("int64", ctypes.c_int64),
        ("int64_list", ctypes.POINTER(ctypes.c_int64)),
        ("float", ctypes.c_float),
        ("bool", ctypes.c_bool),
    )


class _NamedValue(ctypes.Structure):
    _fields_ = (
        ("struct_size", ctypes.c_size_t),
        ("extension_start", ctypes.c_void_p),
        ("name", ctypes.c_void_p),
        ("name_size", ctypes.c_size_t),
        ("kind", ctypes.c_int),
        ("value", _Value),
        ("value_size", ctypes.c_size_t),
    )


class _AttributesArgs(ctypes.Structure):
    _fields_ = (
        ("struct_size", ctypes.c_size_t),
        ("extension_start", ctypes.c_void_p),
        ("attributes", ctypes.c_void_p),
        ("count", ctypes.c_size_t),
    )


class PluginAdapter:
    """The function table of one plugin."""

    def __init__(self, api: _Api) -> None:
        self._api = api

    def probe(self, job: Job) -> Payload:
        """Report the StableHLO Versions and every other attribute."""
        del job
        arguments = _AttributesArgs(struct_size=ctypes.sizeof(_AttributesArgs))
        if not self._api.plugin_attributes:
            raise Unavailable("has no PJRT_Plugin_Attributes")
        error = _FUNCTION(self._api.plugin_attributes)(ctypes.addressof(arguments))
        if error:
            raise Refused("PJRT_Plugin_Attributes failed")
        values = _values(arguments)
        version = self._api.version
        found: Payload = {"pjrt_api": f"{version.major}.{version.minor}", "attributes": values}
        for name, key in ((CURRENT, "current"), (MINIMUM, "minimum")):
            if isinstance(values.get(name), list):
                found[key] = ".".join(str(part) for part in values[name])
        if "current" not in found:
            raise Unavailable("does not report its StableHLO Version")
        return found


def load(library: str, limit: float) -> PluginAdapter:
    """Load a shared library that exports `GetPjrtApi` and get its function table.

    Returns:
        The adapter.
    """
    del limit
    try:
        loaded = ctypes.CDLL(library, mode=os.RTLD_LAZY | os.RTLD_LOCAL)
    except OSError as error:
        raise Unavailable(f"cannot be loaded: {error}") from None
    try:
        entry = loaded.GetPjrtApi
    except AttributeError:
        raise Unavailable("is not a PJRT plugin: it exports no GetPjrtApi") from None
    entry.restype, entry.argtypes = ctypes.POINTER(_Api), []
    table = entry()
    if not table or table.contents.struct_size < ctypes.sizeof(_Api):
        raise Unavailable("gives no PJRT function table, or one too old to have attributes")
    return PluginAdapter(table.contents)


def _values(arguments: _AttributesArgs) -> Payload:
    if arguments.count > MOST_ATTRIBUTES:
        raise Refused(f"{arguments.count} attributes: not a PJRT plugin's table")
    values: Payload = {}
    at = arguments.attributes or 0
    for _ in range(arguments.count):
        item = _NamedValue.from_address(at)
        values[ctypes.string_at(item.name, item.name_size).decode(errors="replace")] = _plain(item)
        # A newer plugin may append fields: its own size is the stride.
        at += max(item.struct_size, ctypes.sizeof(_NamedValue))
    return values


def _plain(item: _NamedValue) -> object:
    if item.value_size > LONGEST_VALUE:
        raise Refused("an attribute of impossible length")
    if item.kind == STRING:
        return ctypes.string_at(item.value.string, item.value_size).decode(errors="replace")
    if item.kind == INT64_LIST:
        return item.value.int64_list[: item.value_size]
    scalars = {INT64: item.value.int64, FLOAT: item.value.float, BOOL: item.value.bool}
    return scalars.get(item.kind)
