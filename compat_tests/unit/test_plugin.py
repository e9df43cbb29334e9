"""PJRT plugins are asked in a child process: whatever they do, the caller gets a typed answer."""

import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from portable import Version
from portable.releases import resolve_target
from portable.releases.plugin import (
    PluginCrashed,
    PluginError,
    PluginHung,
    PluginUnreadable,
    ask_plugin,
)

# The head of the C API that PJRT plugins export, as its public header lays it out.
_API = """
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
typedef struct { size_t size; void* next; const char* name; size_t name_size; int kind;
                 union { const char* text; int64_t number; const int64_t* list; } value;
                 size_t count; } NamedValue;
typedef struct { size_t size; void* next; const NamedValue* attributes; size_t count; } Args;
typedef struct { size_t size; void* next;
                 struct { size_t size; void* next; int major, minor; } version;
                 void *destroy, *message, *code, *initialize; void* (*attributes)(Args*); } Api;
static const int64_t current[] = {CURRENT}, oldest[] = {0, 9, 0};
static NamedValue values[] = {
    {sizeof(NamedValue), 0, "xla_version", 11, 1, {.number = 2}, 1},
    {sizeof(NamedValue), 0, NAME, sizeof(NAME) - 1, 2, {.list = current}, 3},
    {sizeof(NamedValue), 0, "stablehlo_minimum_version", 25, 2, {.list = oldest}, 3}};
static void* attributes(Args* args) { ASKED; args->attributes = values; args->count = 3; return 0; }
static Api api = {sizeof(Api), 0, {24, 0, 0, 72}, 0, 0, 0, 0, attributes};
__attribute__((constructor)) static void loaded(void) { LOADED; }
__attribute__((destructor)) static void unloaded(void) { UNLOADED; }
const Api* GetPjrtApi(void) { return &api; }
"""

Build = Callable[..., Path]


@pytest.fixture
def build(tmp_path: Path) -> Build:
    """Return a function that compiles a plugin which does what it is told."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler to build a plugin with")

    def plugin(**code: str) -> Path:
        defaults = {
            "CURRENT": "1, 14, 3", "NAME": '"stablehlo_current_version"',
            "ASKED": "", "LOADED": "", "UNLOADED": "",
        }  # fmt: skip
        library = tmp_path / "plugin.so"
        defines = [f"-D{name}={value}" for name, value in (defaults | code).items()]
        command = [compiler, "-shared", "-fPIC", "-w", "-x", "c", "-", "-o", str(library), *defines]
        subprocess.run(command, input=_API.encode(), check=True)
        return library

    return plugin


def test_a_plugin_says_which_versions_it_has(build: Build) -> None:
    """The attributes are those that the plugin carries; the Target is patch zero."""
    library = build()
    answer = ask_plugin(library)
    assert (answer.current, answer.minimum) == (Version(1, 14, 3), Version(0, 9, 0))
    assert answer.pjrt_api == "0.72"
    target = resolve_target(f"plugin:{library}", "jaxlib>=0.11")
    assert str(target.version) == "1.14.0"
    assert str(library) in target.reason


def test_what_it_prints_does_not_matter(build: Build) -> None:
    """Native code prints to standard output; the answer has a descriptor of its own."""
    library = build(LOADED='puts("{\\"current\\":\\"9.9.9\\"}"),fflush(stdout)')
    assert ask_plugin(library).current == Version(1, 14, 3)


def test_a_crash_after_the_answer_does_not_matter(build: Build) -> None:
    """Plugins that abort while they are torn down have answered all the same."""
    assert ask_plugin(build(UNLOADED="abort()")).current == Version(1, 14, 3)


@pytest.mark.parametrize("where", ["LOADED", "ASKED"])
@pytest.mark.parametrize(
    ("code", "signal"), [("abort()", "SIGABRT"), ("*(volatile int*)8=1", "SIGSEGV")]
)
def test_a_crash_is_an_error(build: Build, where: str, code: str, signal: str) -> None:
    """A plugin that kills its process does not kill ours; the error keeps its last words."""
    library = build(**{where: f'fputs("no driver",stderr),{code}'})
    with pytest.raises(PluginCrashed, match=f"crashed with {signal} while .*: no driver"):
        ask_plugin(library)


def test_a_hang_is_an_error(build: Build) -> None:
    """What waits for its device for ever is ended, with everything it started."""
    library = build(LOADED='if(!fork())execlp("sleep","sleep","61",0);for(;;)pause()')
    started = time.monotonic()
    with pytest.raises(PluginHung, match=r"timed out after 0\.5 s"):
        ask_plugin(library, timeout=0.5)
    assert time.monotonic() - started < 30


def test_a_quiet_exit_is_an_error(build: Build) -> None:
    """A plugin that ends its process without a word gave no answer."""
    with pytest.raises(PluginUnreadable, match="no answer"):
        ask_plugin(build(ASKED="_exit(0)"))


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ({"NAME": '"another"'}, "does not report its StableHLO Version"),
        ({"CURRENT": "1, -2, 3"}, "invalid answer"),
        ({"ASKED": "return(void*)1"}, "PJRT_Plugin_Attributes failed"),
        ({"LOADED": "api.size=40"}, "no PJRT function table"),
        ({"ASKED": "args->count=1<<30;args->attributes=values;return 0"}, "attributes"),
    ],
)
def test_nonsense_is_an_error(build: Build, code: dict[str, str], says: str) -> None:
    """A plugin that says something else than its Version cannot be resolved."""
    with pytest.raises(PluginUnreadable, match=says):
        ask_plugin(build(**code))


def test_what_is_no_plugin_is_an_error(tmp_path: Path) -> None:
    """Missing files, folders, text and other libraries are told apart in one line."""
    text = tmp_path / "text.so"
    text.write_text("not a library")
    for path, says in [
        (tmp_path / "missing.so", "no such file"),
        (tmp_path, "no such file"),
        (text, "cannot be loaded"),
    ]:
        with pytest.raises(PluginError, match=says) as caught:
            ask_plugin(path)
        assert str(path) in str(caught.value)
    with pytest.raises(PluginUnreadable, match="no such file"):
        ask_plugin("a\0b")


def test_another_library_is_no_plugin(tmp_path: Path) -> None:
    """A library without GetPjrtApi is no plugin."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler to build a library with")
    library = tmp_path / "other.so"
    command = [compiler, "-shared", "-fPIC", "-x", "c", "-", "-o", str(library)]
    subprocess.run(command, input=b"int x;", check=True)
    with pytest.raises(PluginUnreadable, match="exports no GetPjrtApi"):
        ask_plugin(library)
