"""The shape of the source tree: sizes, names and import cycles.

A newcomer finds things by their names, so each name means one thing: no folder has more than a dozen modules, no two
modules below one top-level package share a name, and no class name occurs in two modules. Within the layers that
import-linter checks, no modules import each other in a cycle.
"""

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import grimp

PACKAGE = Path(__file__).parents[1] / "src" / "evenhand"

MODULES_PER_FOLDER = 12
MOST_PYTHON_LINES = 39_022
"""A ratchet: lower it when the tree has become smaller."""
MOST_MODULES = 240
"""A ratchet, too."""
MOST_JAVASCRIPT_LINES = 4_300


def modules() -> list[Path]:
    """Every Python module of the package but `__init__`, relative to it."""
    return [path for path in _files("*.py") if path.name != "__init__.py"]


def sizes() -> Iterator[tuple[str, int, int]]:
    """What is limited, how much there is, and the limit."""
    yield "lines of Python", _lines("*.py"), MOST_PYTHON_LINES
    yield "modules", len(_files("*.py")), MOST_MODULES
    yield "lines of JavaScript", _lines("*.js"), MOST_JAVASCRIPT_LINES


def problems() -> Iterator[str]:
    for what, found, most in sizes():
        if found > most:
            yield f"{found:,} {what}, at most {most:,}"
    yield from _crowded_folders()
    yield from _repeated("module name", _modules_by_name())
    yield from _repeated("class", _modules_by_class())
    for cycle in _cycles():
        yield f"import cycle: {' → '.join(cycle)}"


def _files(pattern: str) -> list[Path]:
    return sorted(path.relative_to(PACKAGE) for path in PACKAGE.rglob(pattern))


def _lines(pattern: str) -> int:
    return sum((PACKAGE / path).read_text(encoding="utf-8").count("\n") for path in _files(pattern))


def _crowded_folders() -> Iterator[str]:
    scripts = [path for path in _files("*.js") if path.name != "__init__.py"]
    for kind, paths in (("modules", modules()), ("scripts", scripts)):
        folders: dict[Path, int] = defaultdict(int)
        for path in paths:
            folders[path.parent] += 1
        for folder, count in folders.items():
            if count > MODULES_PER_FOLDER and folder != Path():
                yield f"{folder}: {count} {kind} in one folder, at most {MODULES_PER_FOLDER}"


def _modules_by_name() -> Mapping[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for path in modules():
        found[f"{path.parts[0]}: {path.stem}"].append(str(path))
    return found


def _modules_by_class() -> Mapping[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for path in modules():
        tree = ast.parse((PACKAGE / path).read_text(encoding="utf-8"))
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                found[node.name].append(str(path))
    return found


def _repeated(what: str, places: Mapping[str, Sequence[str]]) -> Iterator[str]:
    for name, paths in places.items():
        if len(paths) > 1:
            yield f"{what} {name!r} occurs in {', '.join(paths)}"


def _cycles() -> list[list[str]]:
    """One cycle for each group of modules that import each other."""
    graph = grimp.build_graph("evenhand", cache_dir=None)
    imports = {name: sorted(graph.find_modules_directly_imported_by(name)) for name in sorted(graph.modules)}
    done: set[str] = set()
    cycles: list[list[str]] = []

    def visit(name: str, path: list[str]) -> None:
        if name in path:
            cycles.append([*path[path.index(name) :], name])
            return
        if name in done:
            return
        for imported in imports[name]:
            visit(imported, [*path, name])
        done.add(name)

    for name in imports:
        visit(name, [])
    return cycles
