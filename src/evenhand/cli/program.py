"""How this program was called, for commands that are printed to be copied."""

import shlex
import shutil
import sys
from pathlib import Path

NAME = "evenhand"


def program() -> str:
    """`evenhand` where the shell finds it under that name, otherwise the way it was called this time."""
    if shutil.which(NAME):
        return NAME
    called = Path(sys.argv[0])
    if called.stem == NAME and called.is_file():
        return shlex.quote(str(called))
    return f"{shlex.quote(sys.executable)} -m {NAME}"
