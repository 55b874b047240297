"""What the process imports and makes from which those of the tests are forked, so that they need not."""

from importlib import import_module

from evenhand.cli import COMMANDS
from evenhand.web.app import make_app
from evenhand.web.config import Config

for module in ("evenhand.study", "evenhand.run.judge", "uvicorn", "uvicorn.protocols.http.h11_impl", "pytest"):
    import_module(module)
for command in COMMANDS.values():
    import_module(f"evenhand.cli.{command[0]}")
# The models of all requests and answers are made when the first one is needed.
make_app(Config("study.db")).openapi()
