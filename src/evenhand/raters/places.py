"""Where in a JSON text each value begins: what a parser of values does not tell."""

import json
import re
from collections.abc import Mapping

_TOKEN = re.compile(r'[{}\[\]:,]|"[^"\\]*+(?:\\.[^"\\]*+)*+"|[^\s{}\[\]:,"]+', re.DOTALL)

Path = tuple[str, ...]


def value_places(text: str, start: int) -> Mapping[Path, int]:
    """The offset of each value of the object that begins at `start`, by the keys that lead to it.

    The object must be JSON. What stands in lists is left out.
    """
    places: dict[Path, int] = {}
    path: list[str] = []
    in_list = 0
    key: str | None = None
    for match in _TOKEN.finditer(text, start):
        token = match[0]
        if token == "[":
            in_list += 1
        elif token == "]":
            in_list -= 1
        if in_list or token in ("]", ":"):
            if token == "[" and in_list == 1 and key is not None:
                places[*path, key] = match.start()
                key = None
        elif token == "{":
            if key is not None:
                places[*path, key] = match.start()
                path.append(key)
                key = None
        elif token == "}":
            if not path:
                break
            path.pop()
        elif token == ",":
            continue
        elif key is None:
            key = json.loads(token, strict=False) if "\\" in token else token[1:-1]
        else:
            places[*path, key] = match.start()
            key = None
    return places
