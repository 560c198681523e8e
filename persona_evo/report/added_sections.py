"""Sections that other packages add to pages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from persona_evo import extensions
from persona_evo.arguments import checked_fields
from persona_evo.errors import SettingsError, raised
from persona_evo.extensions import Extension
from persona_evo.report.page_content import Page
from persona_evo.report.pages import (
    Section,
    Text,
)


@checked_fields()
@dataclass(frozen=True)
class ReportSection(Extension):
    """A section that another package adds to the pages of playtests and comparisons.

    Its id on the page is its name with the prefix "added-".

    Attributes:
        make: creates the section for a page from the blocks of `persona_evo.report.pages`; None or a section without
            content is left out. It must not play anything or change the page.
        help: one line that says what the section shows.
    """

    group: ClassVar[str] = "persona_evo.report_sections"
    noun: ClassVar[str] = "report section"

    make: Callable[[Page], Section | None]
    help: str = ""


def added(page: Page) -> Iterator[Section]:
    """Yield the sections of other packages by name; a warning replaces one that fails, so the page is still written."""
    for name in extensions.names(ReportSection.group):
        try:
            section = extensions.load(ReportSection, name).make(page)
            if section is not None and not isinstance(section, Section):
                raise TypeError(f"expected a Section, found {type(section).__name__}")
            if section:
                yield replace(section, name=f"added-{name}")
        except SettingsError as e:
            yield Section(f"added-{name}", name, [Text(str(e), "tag")])
        except Exception as e:
            text = f"The report section {name!r} fails at {raised(e)}: {type(e).__name__}: {e}"
            yield Section(f"added-{name}", name, [Text(text, "tag")])
