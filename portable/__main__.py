"""`python -m portable`, which Python starts with the working directory on its path."""

import os
import sys

try:
    if os.path.realpath(sys.path[0]) == os.path.realpath(os.curdir):
        del sys.path[0]  # nothing is imported from where the data is
except OSError:
    pass  # the working directory has been removed

from portable.cli import main

sys.exit(main())
