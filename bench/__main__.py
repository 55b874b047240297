"""`make bench`: every benchmark, or those named; each prints ratios measured in one run."""

import importlib
import pkgutil
import sys

import bench


def main() -> None:
    known = sorted(module.name for module in pkgutil.iter_modules(bench.__path__) if not module.name.startswith("_"))
    wanted = sys.argv[1:] or known
    for name in wanted:
        if name not in known:
            sys.exit(f"no benchmark {name!r}; there are {', '.join(known)}")
    for name in wanted:
        print(f"== {name}", flush=True)
        sys.argv[1:] = []
        importlib.import_module(f"bench.{name}").main()


if __name__ == "__main__":
    main()
