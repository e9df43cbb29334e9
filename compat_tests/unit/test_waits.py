"""A signal ends what waits for a server, and lets what cleans up go on."""

import subprocess
import sys

import pytest

CODE = """
import os, signal, sys, time
from portable.system import waits

waits._AFTER_S, waits._LOOK_S = 0.4, 0.05
signal.signal(signal.SIGTERM, lambda *_: None)  # a library that waits lets Python see no signal

def signalled():
    os.kill(os.getpid(), signal.SIGTERM)

with waits.told(print):
    {}
print("came to its end")
"""
BODIES = {
    "a request from before": """
    with waits.waiting("a server", 60):
        signalled()
        time.sleep(30)""",
    "a request from after": """
    with waits.waiting("a server", 60):
        pass
    signalled()
    with waits.waiting("what cleans up", 60):
        time.sleep(2)""",
    "no request": """
    with waits.waiting("a server", 60):
        pass
    signalled()
    time.sleep(2)""",
}


@pytest.mark.parametrize(("body", "code"), [*zip(BODIES, (143, 0, 0), strict=True)])
def test_a_signal_ends_what_waited_before_it_came(body: str, code: int) -> None:
    """With 128 + signal; what begins after it, such as cleaning up, takes as long as it needs."""
    words = [sys.executable, "-c", CODE.format(BODIES[body].strip())]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=25)
    assert (done.returncode, "came to its end" in done.stdout) == (code, code == 0), done.stderr
