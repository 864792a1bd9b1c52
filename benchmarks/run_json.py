"""Reads the files as JSON, one after the other, and does nothing with them."""

from __future__ import annotations

import json
import sys
from pathlib import Path

if __name__ == "__main__":
    for path in sys.argv[1:]:
        with Path(path).open(encoding="utf-8") as file:
            json.load(file)
