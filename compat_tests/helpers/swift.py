"""OpenStack Swift on this machine, which speaks S3 by its s3api: a server that people really run.

Debian has it: `apt-get install swift-proxy swift-account swift-container swift-object memcached`.
The daemons are started by hand, on loopback, with one replica in a folder that goes away again.
"""

from __future__ import annotations

import contextlib
import getpass
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from compat_tests.helpers.daemons import free_ports, own_python, started, wait_for

__all__ = ["ACCOUNTS", "missing", "serving"]

_SERVERS = ("account", "container", "object")
_PROGRAMS = ("memcached", "swift-ring-builder", *(f"swift-{one}-server" for one in _SERVERS))
ACCOUNTS = {"test:owner": "secret", "test:other": "secret"}
"""Access key -> secret; only the first may do anything."""


def missing(folder: Path) -> str:
    """Say why Swift cannot run here; nothing where it can.

    Args:
        folder: Where it would keep its objects.
    """
    lacking = [name for name in (*_PROGRAMS, "swift-proxy-server") if not shutil.which(name)]
    if lacking:
        return f"{lacking[0]} is not installed (Debian: swift-proxy, memcached, ...)"
    if not os.access("/etc/swift/swift.conf", os.R_OK):  # which Debian writes, and Swift demands
        return "/etc/swift/swift.conf cannot be read"
    try:
        os.setxattr(folder, "user.portable", b"1")
    except OSError:
        return f"{folder} keeps no extended attributes, in which Swift has its metadata"
    return ""


@contextlib.contextmanager
def serving(folder: Path) -> Iterator[str]:
    """Run Swift, and yield its URL.

    Args:
        folder: Where its configuration, logs and objects lie.
    """
    ports = dict(zip(("proxy", "memcached", *_SERVERS), free_ports(5), strict=True))
    (folder / "devices" / "disk").mkdir(parents=True)
    for name, text in _configuration(folder, ports).items():
        (folder / name).write_text(text, "utf-8")
    for server in _SERVERS:
        builder = str(folder / f"{server}.builder")
        _build(builder, "create", "4", "1", "0")
        _build(builder, "add", f"r1z1-127.0.0.1:{ports[server]}/disk", "1")
        _build(builder, "rebalance")
    memcached = ["memcached", "-l", "127.0.0.1", "-p", str(ports["memcached"]), "-u", _USER]
    with contextlib.ExitStack() as stack:
        stack.enter_context(started(memcached, folder / "memcached.log"))
        for name in (*_SERVERS, "proxy"):
            words = [f"swift-{name}-server", str(folder / f"{name}.conf"), "-v"]
            stack.enter_context(started(words, folder / f"{name}.log"))
        for port in ports.values():
            wait_for(port)
        yield f"http://127.0.0.1:{ports['proxy']}"


_USER = getpass.getuser()


def _build(*words: str) -> None:
    done = subprocess.run(
        ["swift-ring-builder", *words],
        capture_output=True,
        text=True,
        check=False,
        env=own_python(),
    )
    if done.returncode > 1:  # 1 is a warning: with one replica nothing is safe
        raise RuntimeError(done.stdout + done.stderr)


def _configuration(folder: Path, ports: dict[str, int]) -> dict[str, str]:
    """Return the files that Swift reads: one for each daemon."""
    common = f"""
[DEFAULT]
bind_ip = 127.0.0.1
user = {_USER}
swift_dir = {folder}
devices = {folder / "devices"}
mount_check = false
disable_fallocate = true
workers = 0
log_level = WARNING
"""
    files = {}
    for server in _SERVERS:
        files[f"{server}.conf"] = f"""{common}
bind_port = {ports[server]}
[pipeline:main]
pipeline = {server}-server
[app:{server}-server]
use = egg:swift#{server}
"""
    users = "\n".join(
        f"user_{name.replace(':', '_')} = {secret}{' .admin' * (not number)}"
        for number, (name, secret) in enumerate(ACCOUNTS.items())
    )
    files["proxy.conf"] = f"""{common}
bind_port = {ports["proxy"]}
[pipeline:main]
pipeline = catch_errors healthcheck cache s3api tempauth bulk slo proxy-server
[filter:catch_errors]
use = egg:swift#catch_errors
[filter:healthcheck]
use = egg:swift#healthcheck
[filter:cache]
use = egg:swift#memcache
memcache_servers = 127.0.0.1:{ports["memcached"]}
[filter:s3api]
use = egg:swift#s3api
location = us-east-1
[filter:tempauth]
use = egg:swift#tempauth
{users}
[filter:bulk]
use = egg:swift#bulk
[filter:slo]
use = egg:swift#slo
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
"""
    return files
