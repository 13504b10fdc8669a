from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

Tree = Callable[[Path, Mapping[str, str]], Path]


@pytest.fixture
def tree() -> Tree:
    """Writes files below a folder, by relative path."""

    def write(folder: Path, files: Mapping[str, str]) -> Path:
        for name, content in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
        return folder

    return write


@pytest.fixture
def house(tmp_path: Path, tree: Tree) -> Path:
    """A folder of recipes: `debian`, `base` on it, `office` and `media` on base."""
    return tree(
        tmp_path / "recipes",
        {
            "debian/image.toml": 'summary = "bare"\n',
            "debian/Dockerfile": "ARG PARENT\nFROM ${PARENT}\n",
            "base/image.toml": 'summary = "desk"\nparent = "debian"\n',
            "base/Dockerfile": "ARG PARENT\nFROM ${PARENT}\n",
            "office/image.toml": 'summary = "office"\nparent = "base"\n',
            "office/Dockerfile": "ARG PARENT\nFROM ${PARENT}\n",
            "media/image.toml": 'summary = "media"\nparent = "base"\n',
            "media/Dockerfile": "ARG PARENT\nFROM ${PARENT}\n",
        },
    )
