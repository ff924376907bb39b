import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "infra"))
os.environ.setdefault("SAM_CLI_TELEMETRY", "0")
