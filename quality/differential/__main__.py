"""Runs a series and prints its report.

`python -m quality.differential CASES [SEED] [JSON FILE] [CORE]`
"""

import sys
from pathlib import Path

from quality.differential import run
from quality.differential.cores import CORES, M4

core = CORES[sys.argv[4]] if len(sys.argv) > 4 else M4
report = run(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1, core)
if len(sys.argv) > 3:
    Path(sys.argv[3]).write_text(report.as_json())
print(report.as_text())
sys.exit(1 if report.divergences or report.untested() else 0)
