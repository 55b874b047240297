"""The shape of the package: public names, file names, sizes of what a reader has to hold in mind."""

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import evenhand

PACKAGE = Path(evenhand.__file__).parent
SOURCES = sorted(PACKAGE.rglob("*.py"))
BANNED = {"utils", "util", "helpers", "helper", "common", "misc", "manager", "core", "base_utils", "tools"}

PUBLIC = [
    "AgreementResult",
    "Answer",
    "CalibrationResult",
    "Claim",
    "ComparisonResult",
    "EvaluateModel",
    "EvenhandError",
    "GenerationResult",
    "Generator",
    "ImportResult",
    "InputError",
    "Item",
    "ItemSource",
    "Kind",
    "MeasuresResult",
    "Protocol",
    "ProtocolError",
    "Question",
    "RaterFailure",
    "RaterRef",
    "Rating",
    "ReportResult",
    "RunEstimate",
    "RunResult",
    "Span",
    "Status",
    "Study",
    "StudyError",
    "Triple",
    "TrustResult",
    "Unit",
    "UserError",
    "__version__",
    "available",
    "available_generators",
    "generate",
    "guideline",
    "items_from_frame",
    "load_generator",
    "load_protocol",
    "read_items",
    "read_protocol",
]


def test_the_public_names_are_these():
    assert evenhand.__all__ == PUBLIC
    assert dir(evenhand) == PUBLIC


def test_every_public_name_is_the_one_its_module_defines():
    for name in PUBLIC:
        if name != "__version__":
            thing = getattr(evenhand, name)
            assert getattr(import_module(thing.__module__), name) is thing


def test_no_module_is_a_drawer_for_anything():
    assert [path for path in SOURCES if path.stem in BANNED or path.parent.name in BANNED] == []


def test_nothing_inside_imports_the_facade():
    offenders = [
        f"{path.relative_to(PACKAGE)}:{node.lineno}"
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and node.module == "evenhand"
    ]
    assert offenders == []


def test_imports_inside_functions_are_optional_packages_only():
    optional = {"opentelemetry", "psycopg", "pyarrow", "rouge_score", "sacrebleu", "spacy", "torch", "transformers"}
    # Not optional, but slow to import: one reads its dictionary, the other brings an HTTP client of its own.
    optional |= {"rjieba", "genai_prices"}
    offenders: list[str] = []
    for path in SOURCES:
        for function in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            for node in ast.walk(function):
                names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
                names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
                offenders += [f"{path.name}: {name}" for name in names if name.split(".")[0] not in optional]
    assert offenders == []


def test_the_command_line_starts_without_the_heavy_parts():
    code = "import sys, evenhand.cli; print(sorted({name.split('.')[0] for name in sys.modules}))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    for heavy in ("pydantic", "sqlalchemy", "yaml", "xlsxwriter", "narwhals", "numpy"):
        assert f"'{heavy}'" not in loaded
