"""Files that commands take: anything but a URL, which may hold a password and is not to be repeated in messages."""

from pathlib import Path

import click


class FilePath(click.Path):
    """The path of a file."""

    def __init__(self, instead: str = "give the path of a file") -> None:
        super().__init__(path_type=Path)
        self._instead = instead

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        if isinstance(value, str) and "://" in value:
            self.fail(f"this is a URL; {self._instead}", param, ctx)
        return Path(str(value))


FILE = FilePath()
