"""`python -m checks`: the checks of our own that `make check` runs after the linters."""

import sys

from checks import structure, wording


def main() -> int:
    for what, found, most in structure.sizes():
        print(f"{what}: {found:,} of at most {most:,}")
    found = [*structure.problems(), *wording.problems()]
    for problem in found:
        print(problem)
    print(f"{len(found)} problems" if found else "structure and wording: no problems")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
