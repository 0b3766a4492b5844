"""Where the repository and the data sets lie."""
import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("ATOLL_DATA", ROOT.parent / "shared" / "data"))
