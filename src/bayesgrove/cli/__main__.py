"""`python -m bayesgrove.cli` is the command line."""

import sys

from bayesgrove.cli.main import main

sys.exit(main())
