"""`evenhand --version` against a bare `python -c pass`, and the size of the default install.

Goals: at most 10 times; at most 310 MB beyond an empty environment.
"""

import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]


def main() -> None:
    bare = _best([sys.executable, "-c", "pass"])
    ours = _best([str(Path(sys.executable).parent / "evenhand"), "--version"])
    print(f"python -c pass      {bare * 1000:6.1f} ms")
    print(f"evenhand --version  {ours * 1000:6.1f} ms   ratio {ours / bare:.1f} (goal: at most 10)")
    whole, rjieba = _install_size()
    print(f"default install     {whole:6.1f} MB beyond an empty environment (goal: at most 310)")
    print(f"  Chinese words     {rjieba:6.1f} MB of it")


def _best(command: list[str]) -> float:
    times: list[float] = []
    for _ in range(15):
        start = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        times.append(time.perf_counter() - start)
    return min(times)


def _install_size() -> tuple[float, float]:
    folder = Path(tempfile.mkdtemp())
    try:
        subprocess.run([sys.executable, "-m", "venv", str(folder / "venv")], check=True)
        before = _size(folder)
        pip = [str(folder / "venv/bin/python"), "-m", "pip", "install", "--quiet", "--no-warn-script-location"]
        subprocess.run([*pip, "--disable-pip-version-check", str(ROOT)], check=True)
        rjieba = sum(_size(package) for package in folder.glob("venv/lib/*/site-packages/rjieba*"))
        return (_size(folder) - before) / 1e6, rjieba / 1e6
    finally:
        shutil.rmtree(folder)


def _size(folder: Path) -> int:
    return sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink())


if __name__ == "__main__":
    main()
