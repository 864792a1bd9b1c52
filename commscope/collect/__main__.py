"""``python -m commscope.collect``, and what ``commscope-collect.pyz`` runs."""

import sys

from commscope.collect.main import main

if __name__ == "__main__":
    sys.exit(main())
