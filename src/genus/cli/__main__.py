"""`python -m genus.cli`, where the `genus` script is not on the path."""

import sys

from genus.cli import main

sys.exit(main())
