"""SHA-256 of bytes, without loading OpenSSL for a small file."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from portable.bytecode.header import Buffer

__all__ = ["digest_of"]

# OpenSSL is several times faster, but loading it takes as long as digesting this many bytes.
_OPENSSL_WORTHWHILE = 1 << 19
# Python's own SHA-256, which `hashlib` falls back to: its name since 3.12, and in 3.11.
_BUILT_IN = ("_sha2", "_sha256")


def digest_of(data: Buffer) -> str:
    """Digest bytes.

    Args:
        data: The bytes.

    Returns:
        SHA-256 in hexadecimal.
    """
    for name in _BUILT_IN if len(data) < _OPENSSL_WORTHWHILE else ():
        try:
            module: Any = __import__(name)
        except ImportError:
            continue
        return str(module.sha256(data).hexdigest())
    from hashlib import sha256  # noqa: PLC0415 - cold start

    return sha256(data).hexdigest()
