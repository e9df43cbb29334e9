"""A web server on this machine, started as `python web_server.py FOLDER`: it prints its port.

Werkzeug serves the files, so that ranges, ETags and conditions are those of a real server; folders
without a slash are redirected, as nginx and Apache do. Under `/hub` it answers the four requests of
Hugging Face's Hub by which a repository is listed and read: a stand-in, since no package of the
index carries a server that does (hf-local-hub brings its client alone). `/endless` never ends,
`/busy` answers 503 twice, then as a file; `/secret` is forbidden.
"""

import hashlib
import json
import socket
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from werkzeug.exceptions import Forbidden, NotFound, ServiceUnavailable
from werkzeug.serving import make_server
from werkzeug.utils import redirect, send_file
from werkzeug.wrappers import Request, Response

ROOT = Path(sys.argv[1])
COMMIT = "0123456789abcdef0123456789abcdef01234567"
ASKED = Counter[str]()


def _forever() -> Iterator[bytes]:
    while True:
        yield b'<a href="more/">more</a>' * 1000


def _index(folder: Path) -> Response:
    links = ['<a href="../">up</a> <a href="?C=M;O=A">date</a> <a href="http://[/">broken</a>']
    for path in folder.iterdir():
        slash = "/" * path.is_dir()
        links.append(f'<a href="{quote(path.name)}{slash}">{path.name}</a>')
    return Response("<!doctype html><pre>" + "\n".join(links), mimetype="text/html")


def _file(path: Path, request: Request) -> Response:
    if not path.is_file():
        raise NotFound
    return send_file(path, request.environ, conditional=True, etag=_blob(path))


def _blob(path: Path) -> str:
    return hashlib.sha1(path.read_bytes(), usedforsecurity=False).hexdigest()


def _listed(path: Path) -> dict[str, object]:
    """Return what the Hub lists of a file; the large ones are in LFS."""
    size = path.stat().st_size
    found: dict[str, object] = {
        "type": "file", "oid": _blob(path), "size": size, "path": str(path.relative_to(ROOT))
    }  # fmt: skip
    if size > 400:
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        found["lfs"] = {"oid": digest, "size": size, "pointerSize": 130}
    return found


def _hub(words: list[str], request: Request) -> Response:
    def answer(found: object) -> Response:
        return Response(json.dumps(found), mimetype="application/json")

    repo = "team/models"
    path = "/".join(words)
    if path == f"{repo}/resolve/{COMMIT}" or path.startswith(f"{repo}/resolve/{COMMIT}/"):
        return _file(ROOT / path.removeprefix(f"{repo}/resolve/{COMMIT}/"), request)
    if path.startswith(f"api/models/{repo}/tree/{COMMIT}"):
        return answer([_listed(each) for each in sorted(ROOT.rglob("*")) if each.is_file()])
    if path.startswith(f"api/models/{repo}"):
        return answer({"id": repo, "modelId": repo, "sha": COMMIT, "siblings": [], "tags": []})
    raise NotFound


def _answer(request: Request) -> Response:
    words = [word for word in request.path.split("/") if word]
    ASKED[request.path] += request.method == "GET"
    if words[:1] == ["hub"]:
        return _hub(words[1:], request)
    if "secret" in words:
        raise Forbidden
    if "endless" in words:
        return Response(_forever(), mimetype="text/html")
    if "busy" in words and ASKED[request.path] < 3 and request.method == "GET":
        raise ServiceUnavailable
    path = ROOT.joinpath(*words)
    if not path.is_dir():
        return _file(path, request)
    if not request.path.endswith("/"):
        return redirect(f"{quote(request.path)}/")
    return _index(path)


if __name__ == "__main__":
    listening = make_server("127.0.0.1", 0, Request.application(_answer), threaded=True)
    listening.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    print(listening.server_port, flush=True)
    listening.serve_forever()
