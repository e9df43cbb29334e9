"""`python -m portable`."""

import sys

from portable.cli import main

sys.exit(main())
