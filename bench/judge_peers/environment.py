"""An environment of their own for the tools compared with, so that Evenhand's stays free of them."""

import json
import subprocess
import sys
from pathlib import Path

PINNED = {
    "deepeval": "4.3.1",
    "inspect-ai": "0.3.285",
    "openai": "3.49.0",
    "pydantic-ai-slim": "2.62.0",
    "pydantic-evals": "2.62.0",
}
EXTRAS = {"pydantic-ai-slim": "[openai]"}
INSTALLED = """
import json, sys
from importlib.metadata import distributions
print(json.dumps({found.metadata["Name"].lower().replace("_", "-"): found.version for found in distributions()}))
"""


def python_with_peers(folder: Path) -> Path | None:
    """The Python of an environment with the pinned tools, made if it is not there; None where it cannot be made."""
    python = folder / "bin" / "python"
    if _complete(python):
        return python
    print(f"making {folder} with {', '.join(f'{name} {version}' for name, version in PINNED.items())}", flush=True)
    wanted = [f"{name}{EXTRAS.get(name, '')}=={version}" for name, version in PINNED.items()]
    for command in (
        [sys.executable, "-m", "venv", str(folder)],
        [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *wanted],
    ):
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            said = (done.stderr or done.stdout).strip().splitlines()
            print(f"the tools to compare with could not be installed: {said[-1] if said else 'no reason given'}")
            return None
    (folder / ".gitignore").write_text("*\n", encoding="utf-8")
    return python if _complete(python) else None


def _complete(python: Path) -> bool:
    if not python.exists():
        return False
    done = subprocess.run([str(python), "-c", INSTALLED], capture_output=True, text=True)
    return done.returncode == 0 and PINNED.items() <= json.loads(done.stdout).items()
