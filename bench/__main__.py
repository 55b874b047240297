"""`make bench`: every benchmark, or those named; each prints ratios measured in one run.

python -m bench [NAME]…, or python -m bench NAME --option… for a benchmark that takes options
"""

import importlib
import pkgutil
import sys
from itertools import takewhile

import bench


def main() -> None:
    modules = {module.name for module in pkgutil.iter_modules(bench.__path__) if not module.name.startswith("_")}
    # judge_server is a part of judge and no benchmark of its own.
    known = sorted(name for name in modules if name.partition("_")[0] == name)
    named = list(takewhile(lambda argument: not argument.startswith("-"), sys.argv[1:]))
    options = sys.argv[1 + len(named) :]
    if options and len(named) != 1:
        sys.exit("options follow the name of one benchmark: python -m bench judge --quick")
    for name in named:
        if name not in known:
            sys.exit(f"no benchmark {name!r}; there are {', '.join(known)}")
    for name in named or known:
        print(f"== {name}", flush=True)
        sys.argv[1:] = options
        importlib.import_module(f"bench.{name}").main()


if __name__ == "__main__":
    main()
