"""Hooks of MkDocs: pages that are kept elsewhere in the repository, and tables that are made from the code.

A line `<!-- table: NAME -->` of a page is replaced by what `TABLES[NAME]` returns. The line after it, in italics, says
where to find the same when the page is read in the repository; the site leaves it out.
"""

from __future__ import annotations

import argparse
import importlib
import os
import posixpath
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

import persona_evo
from persona_evo.cli import main
from persona_evo.formula.primitives import TABLE
from persona_evo.games import registry
from persona_evo.games.core import Metric
from persona_evo.personas import catalog, template
from persona_evo.personas.lists import LIST_VARIABLES
from persona_evo.search.tree_policy import MOVE_VARIABLES, SEARCH_VARIABLES

ROOT = Path(__file__).resolve().parents[1]
PAGES = "docs/pages"

ELSEWHERE = {
    "changelog.md": "CHANGELOG.md",
    "contributing.md": "CONTRIBUTING.md",
    "guides/csharp.md": "unity_support/README.md",
    "guides/unity_package.md": "unity_support/package/Documentation~/index.md",
    "guides/unity_roguelike.md": "unity_support/package/Documentation~/2d-roguelike.md",
    "reference/policies.md": "policies/README.md",
    "reference/protocol.md": "unity_support/PROTOCOL.md",
    "reference/runs.md": "runs/README.md",
    **{
        f"reference/games/{name}.md": f"persona_evo/games/catalog/{name}/README.md"
        for name in ("colosseum", "its_alive", "minidungeons2", "puyo", "roguelike2d")
    },
}
"""Page of the site -> the file in the repository that it shows."""

_LINK = re.compile(r"(?<=\]\()(?![a-z]+:|#)([^)#\s]+)")
_TABLE = re.compile(r"^<!-- table: (\S+) -->\n\*.+\*$", re.MULTILINE)
_UNMATCHED = re.compile(r"^<!-- table: .*$", re.MULTILINE)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are kept elsewhere."""
    for page, source in ELSEWHERE.items():
        files.append(File.generated(config, page, abs_src_path=str(ROOT / source)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Fill in the tables, and let links between files of the repository lead to their pages."""
    where = page.file.src_uri
    source = ELSEWHERE.get(where)
    if source is not None:
        markdown = _LINK.sub(lambda link: _to_page(link[1], source, where), markdown)
    filled = _TABLE.sub(lambda mark: _table(mark[1], where), markdown)
    if unmatched := _UNMATCHED.search(filled):
        raise PluginError(f"{where}: after {unmatched[0]} a line in italics says where to look in the repository")
    return filled


def _to_page(link: str, source: str, page: str) -> str:
    """A link in the file `source`, as the page that shows this file needs it."""
    target = posixpath.normpath(posixpath.join(posixpath.dirname(source), link))
    shown = {file: name for name, file in ELSEWHERE.items()}
    found = shown.get(target) or (target.removeprefix(f"{PAGES}/") if target.startswith(f"{PAGES}/") else None)
    return link if found is None else posixpath.relpath(found, posixpath.dirname(page) or ".")


def _table(name: str, page: str) -> str:
    if name not in TABLES:
        raise PluginError(f"{page}: there is no table {name!r}; docs/hooks.py has {', '.join(TABLES)}")
    return TABLES[name]()


def _rows(head: str, rows: Iterable[tuple[str, ...]]) -> str:
    """A Markdown table; head: the titles of the columns with | between them."""
    lines = [f"| {head} |", "|" + "---|" * len(head.split("|"))]
    lines += ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join(lines)


def layers() -> str:
    """The layers that lint-imports checks, from the top."""
    contract = next(c for c in _contracts() if c["type"] == "layers")
    rooms = [layer.split(" | ") for layer in contract["layers"]]
    return _rows("rooms | what they hold", [(_names(layer), " ".join(map(_summary, layer))) for layer in rooms])


def import_rules() -> str:
    """The other contracts of lint-imports."""
    return "\n".join(f"- {c['name']}." for c in _contracts() if c["type"] != "layers")


def _contracts() -> list[dict[str, Any]]:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    found: list[dict[str, Any]] = settings["tool"]["importlinter"]["contracts"]
    return found


def _names(layer: list[str]) -> str:
    return ", ".join(f"`{name.removeprefix('persona_evo.')}`" for name in layer)


def _summary(module: str) -> str:
    return (importlib.import_module(module).__doc__ or "").partition("\n")[0]


def operators() -> str:
    """All operations of formulas."""
    rows = [(f"`{_written(p.name, p.arity, p.infix)}`", p.meaning, p.guard) for p in TABLE]
    return _rows("written | value | limits", rows)


def _written(name: str, arity: int, infix: bool) -> str:
    operands = {1: "x", 2: "ab", 3: "cab"}[arity]
    return f"a {name} b" if infix else "-x" if name == "neg" else f"{name}({', '.join(operands)})"


def variables() -> str:
    """The variables of a search."""
    return _rows("variable | what", [(f"`{k}`", v) for k, v in {**SEARCH_VARIABLES, **MOVE_VARIABLES}.items()])


def functions() -> str:
    """The functions of `import persona_evo`, each as mkdocstrings shows it."""
    return _described(name for name in persona_evo.__all__ if name.islower())


def classes() -> str:
    """Its classes."""
    return _described(name for name in persona_evo.__all__ if not name.islower())


def _described(names: Iterable[str]) -> str:
    options = "    options:\n      show_root_heading: true\n      show_root_toc_entry: true\n      heading_level: 3"
    return "\n\n".join(f"::: persona_evo.api.{name}\n{options}" for name in names)


def list_variables() -> str:
    """The variables that plans of whole levels have beyond these."""
    return _rows("variable | what", [(f"`{k}`", v) for k, v in LIST_VARIABLES.items() if k not in SEARCH_VARIABLES])


def metrics() -> str:
    """The metrics of all games of the catalog."""
    parts = []
    for name in registry.CATALOG:
        game = registry.get(name)
        if name == "puyo_hidden":
            continue
        rows = [(f"`{m.symbol}`", m.meaning, _range(m), m.better, ", ".join(_marks(m))) for m in game.metrics]
        head = "symbol | meaning | range | better | notes"
        parts.append(f"## {game.title} {{ #{name} }}\n\n{_rows(head, rows)}")
    return "\n\n".join(parts)


def _range(metric: Metric) -> str:
    return f"{metric.low:g} and more" if metric.high == float("inf") else f"{metric.low:g} to {metric.high:g}"


def _marks(metric: Metric) -> Iterator[str]:
    for name in ("main", "clock", "ratio", "costly", "added"):
        if getattr(metric, name):
            yield name


def personas() -> str:
    """The personas that ship."""
    titles = {name: registry.get(name).title for name in registry.CATALOG}
    rows = [(f"`{p.name}`", titles[p.game], p.description, f"`{_line(p.utility.text)}`") for p in catalog()]
    return _rows("persona | game | what it wants | utility", rows)


def _line(text: str, most: int = 80) -> str:
    return text if len(text) <= most else "(several stages)"


def persona_file() -> str:
    """The file that `persona new` writes."""
    return f"```toml\n{template.text('collector', registry.get(registry.DEFAULT)).strip()}\n```"


def commands() -> str:
    """The help of every command."""
    os.environ["COLUMNS"] = "88"
    return "\n\n".join(_help(main.parser(), 1))


def _help(parser: argparse.ArgumentParser, level: int) -> Iterator[str]:
    if level > 1:
        yield f"{'#' * level} {parser.prog.removeprefix('persona-evo ')}"
    yield f"```text\n{parser.format_help().strip()}\n```"
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for child in dict.fromkeys(action.choices.values()):
                yield from _help(child, level + 1)


TABLES: dict[str, Callable[[], str]] = {
    "classes": classes,
    "commands": commands,
    "functions": functions,
    "import-rules": import_rules,
    "layers": layers,
    "list-variables": list_variables,
    "metrics": metrics,
    "operators": operators,
    "persona-file": persona_file,
    "personas": personas,
    "variables": variables,
}
