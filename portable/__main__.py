"""The process: the command `portable`, and `python -m portable`.

The latter Python starts with the working directory on its path.
"""

import os
import sys

try:
    if os.path.realpath(sys.path[0]) == os.path.realpath(os.curdir):
        del sys.path[0]  # nothing is imported from where the data is
except OSError:
    pass  # the working directory has been removed

import signal

if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    # Until `main` takes it, without a traceback; whoever ignores it goes on doing so.
    signal.signal(signal.SIGINT, signal.SIG_DFL)

from portable.cli import main

if __name__ == "__main__":
    sys.exit(main())
