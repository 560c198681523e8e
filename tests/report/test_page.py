"""The page and the folder: complete, escaped, and nothing from elsewhere."""

from __future__ import annotations

import dataclasses
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from PIL import Image

from persona_evo.games import registry
from persona_evo.games.core import Level
from persona_evo.games.findings import Finding
from persona_evo.playtest import compare, records, require
from persona_evo.playtest.analysis import analyse, things
from persona_evo.playtest.metrics import EVERY, Bound, summarise
from persona_evo.playtest.require import Check
from persona_evo.report import folder, html, page
from persona_evo.report.page import Page, Picture
from persona_evo.report.tables import Table
from tests.playtest.makers import INFOS, drawn, group
from tests.report.test_pictures import LEVEL, TURNED, walked

EVIL = '<script>alert("1")</script>&\'x'
VOID = {"meta", "img", "br", "link"}


class Reader(HTMLParser):
    """Checks that every tag is closed in order, and collects tags, addresses and text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.addresses: list[str] = []
        self.ids: list[str] = []
        self.text = ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.addresses += [v or "" for k, v in attrs if k in ("src", "href")]
        self.ids += [v or "" for k, v in attrs if k == "id"]
        assert not any(k.startswith("on") for k, _ in attrs)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture
def full(tmp_path: Path) -> Page:
    """A page with something in every part, and a level, a player and texts of an evil name."""
    rows = group(EVIL, EVIL, 3, 12) + group(EVIL, "other", 12, 12, steps=40)
    rows += [r for i in range(4) for p in (EVIL, "other") for r in group(f"level {i}", p, 6, 12, steps=20 + i)]
    picture = tmp_path / "a b#1.png"
    Image.new("RGB", (40, 10)).save(picture)
    return Page(
        title=EVIL, subtitle=EVIL, summaries=summarise(rows, INFOS), infos=INFOS,
        findings=[Finding("impossible", "problem", EVIL, EVIL)], checks=[Check(EVIL, None, False, EVIL, EVIL)],
        pictures=[Picture(EVIL, "heatmap", picture, EVIL), Picture(EVERY, "chart", picture, "all")],
        baseline=compare.versus_baseline(rows, [(EVIL, "other")], INFOS), players=compare.between_players(rows, INFOS),
        versions=compare.compare_levels(group(EVIL, EVIL, 1, 12), group("b", EVIL, 12, 12), INFOS, (EVIL, "new")),
        correlations=compare.correlations({f"level {i}": {EVIL: float(i)} for i in range(4)}, rows, INFOS),
        facts={"seed": "42", EVIL: EVIL}, notes=[EVIL],
    )  # fmt: skip


def test_everything_is_escaped_and_closed(full: Page) -> None:
    read = Reader(page.render(full))
    assert "script" not in read.tags and EVIL in read.text
    assert len(full.correlations) > 0 and "Structure and results" in read.text
    for part in ("Requirements", "Findings", "Overview", "Comparison", "What differs", "How it was made"):
        assert part in read.text
    order = ["What differs", "Findings", "Overview"]
    assert [read.text.index(f"{part}\n") for part in order] == sorted(read.text.index(f"{part}\n") for part in order)


def test_links_lead_to_parts_that_exist(full: Page) -> None:
    read = Reader(page.render(full))
    targets = [a[1:] for a in read.addresses if a.startswith("#")]
    assert len(targets) >= 9 and set(targets) <= set(read.ids) and len(read.ids) == len(set(read.ids))


def test_nothing_comes_from_elsewhere(full: Page) -> None:
    text = page.render(full)
    read = Reader(text)
    pictures = [a for a in read.addresses if not a.startswith("#")]
    assert len(pictures) == 2 and all(a.startswith("data:image/png;base64,") for a in pictures)
    assert not re.search(r"https?://|url\(|@import", text)
    assert "default-src &#x27;none&#x27;" in text and "prefers-color-scheme: dark" in text
    assert 'width="40" height="10"' in text and '<figure class="wide">' in text


def test_pictures_can_be_named_instead(full: Page, tmp_path: Path) -> None:
    path = page.write(full, tmp_path / "sub.html", embed=False)
    assert 'src="a%20b%231.png"' in path.read_text(encoding="utf-8")


def test_an_empty_page_is_a_page() -> None:
    read = Reader(page.render(Page("nothing")))
    assert "section" not in read.tags and "nothing" in read.text
    calm = Reader(page.render(Page("calm", summarise(group("a", "x", 1, 2), INFOS), INFOS)))
    assert "No problems were found." in calm.text and "#comparison" not in calm.addresses


def test_sizes_of_pictures(tmp_path: Path) -> None:
    Image.new("RGB", (7, 9)).save(tmp_path / "a.gif")
    (tmp_path / "b.png").write_bytes(b"\x89PNG")
    assert html._size(tmp_path / "a.gif") == (7, 9) and html._size(tmp_path / "b.png") is None


def test_a_whole_folder_from_playthroughs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    game = registry.get("minidungeons2")
    level: Level = game.load(LEVEL, "tiny: <1>")
    level = dataclasses.replace(level, facts={**level.facts, "things": [("treasure", 2, 2)]})
    straight, round_about = ["E"] * 4, ["E", "W", "E", "E", "E", "E"]
    rows = [
        walked(game, level, actions, player=player, trial=trial, persona="runner")
        for player, actions in (("Runner", straight), ("runner", round_about), ("ucb1", straight))
        for trial in range(3)
    ]
    analysis = analyse(
        game, [level], rows, baselines={"Runner": "ucb1"}, priorities={"Runner": "TO"},
        bounds={("tiny: <1>", "runner"): Bound(0.96, True)}, requirements=require.parse_all(["*.win_rate >= 1"]),
    )  # fmt: skip
    assert analysis.passed and analysis.personas == ("Runner", "runner") and analysis.pairs == (("Runner", "ucb1"),)
    assert [f.kind for f in analysis.findings] == ["untouched_object"] and things(level)[0].kind == "treasure"
    told: list[str] = []
    written = folder.write(tmp_path / "out", game, [level], analysis, facts={"seed": "1"}, progress=told.append)
    assert written.notes == [] and told == ["tiny: <1>: Runner", "tiny: <1>: runner"]
    names = sorted(p.name for p in (tmp_path / "out" / "pictures").iterdir())
    assert len(names) == len({n.lower() for n in names}) == 5
    assert all(re.fullmatch(r"[\w.+-]+", n) for n in names)
    assert list(records.read(tmp_path / "out" / "traces.jsonl")) == rows
    assert {"summary.csv", "comparison.csv", "players.csv", "structure.csv", "findings.csv", "playthroughs.csv"} <= {
        p.name for p in (tmp_path / "out").iterdir()
    }
    read = Reader(written.page.read_text(encoding="utf-8"))
    assert "tiny: <1>" in read.text and sum(a.startswith("data:image/gif") for a in read.addresses) == 2
    monkeypatch.setattr(folder, "EMBED", 1000)
    linked = folder.write(tmp_path / "out", game, [level], analysis, replays=False)
    sources = [a for a in Reader(linked.page.read_text(encoding="utf-8")).addresses if a.startswith("pictures/")]
    assert len(sources) == len(linked.pictures) == 3


def test_a_level_that_changed_since_is_told_and_not_drawn(tmp_path: Path) -> None:
    game = registry.get("minidungeons2")
    level: Level = game.load(LEVEL, "tiny")
    rows = [walked(game, level, ["E"] * 4)]
    other: Level = game.load(TURNED, "tiny")
    analysis = analyse(game, [other], rows)
    written = folder.write(tmp_path, game, [other], analysis)
    assert any("does not replay" in note for note in written.notes)
    assert not list((tmp_path / "pictures").glob("*.gif"))
    silent = dataclasses.replace(game, draw=None)
    quiet = folder.write(tmp_path, silent, [level], analysis)
    assert len(quiet.notes) == 1 and "no replays" in quiet.notes[0] and game.title in quiet.notes[0]
    assert any(picture.kind == "heatmap" and picture.path.is_file() for picture in quiet.pictures)


def test_two_versions_begin_with_what_differs_and_the_heatmaps_side_by_side(tmp_path: Path) -> None:
    game = registry.get("minidungeons2")
    levels = [game.load(text, name) for text, name in ((LEVEL, "before"), (TURNED, "after"))]
    rows = [walked(game, level, list(level_moves), trial=k) for k in range(3)
            for level, level_moves in ((levels[0], "EEEE"), (levels[1], "E"))]  # fmt: skip
    versions = compare.compare_levels(rows[::2], rows[1::2], game.metrics, ("before", "after"))
    written = folder.write(tmp_path, game, levels, analyse(game, levels, rows), versions=versions, replays=False)
    text = written.page.read_text(encoding="utf-8")
    assert 0 < text.index('id="versions"') < text.index('class="gallery pair"') < text.index('id="findings"')
    assert text.count('class="gallery pair"') == 1 and 'class="gallery heatmap"' not in text
    assert (tmp_path / "comparison.csv").is_file()


def test_long_texts_wrap_and_numbers_do_not() -> None:
    words = "a sentence that is longer than any number would be"
    table = Table("t", ["n", "says", "value"], [["1", words, "46.2 ± 2.1 %"]], left=frozenset({1}))
    made = html.table(table)
    assert f'<td class="left prose">{words}</td>' in made and "<td>46.2\u00a0±\u00a02.1\u00a0%</td>" in made
    scroll = html.STYLE.partition(".scroll {")[2].partition("}")[0]
    assert Reader(made).open == [] and "local" in scroll, "a shadow at the edge beyond which there is more"


def test_a_grid_says_its_notes_once() -> None:
    made = html.grid([Table(name, ["", "x"], [["a", "1"]], ["the same note"]) for name in "abc"])
    assert made.count("the same note") == 1 and made.count("<table>") == 3 and Reader(made).open == []


def test_a_page_says_where_no_second_route_was_seen(tmp_path: Path) -> None:
    game = registry.get("minidungeons2")
    level: Level = game.load(LEVEL, "tiny")
    routes = {"runner": ["EEEE"] * 4, "killer": ["EEEE", "EWEEEE", "EEEE", "WEEEE"], "ucb1": ["EEEE"] * 4}
    rows = [
        walked(game, level, list(moves), player=player, trial=k, proven=player != "ucb1",
               search=0 if k and player != "ucb1" else None)
        for player, each in routes.items() for k, moves in enumerate(each)
    ]  # fmt: skip
    analysis = analyse(game, [level], rows, tolerances={"runner": 0.01, "killer": 0.01})
    written = folder.write(tmp_path, game, [level], analysis, replays=False)
    said = Reader(written.page.read_text(encoding="utf-8")).text
    assert "runner: all 4 trials show the same route: no other within 1 % of the best was seen" in said
    assert said.count("show the same route") == 1, "several routes are none, and UCB1 draws none"
    captions = [p.caption for p in written.pictures if p.kind == "heatmap"]
    assert captions == [
        "runner: where it walks, 4 routes within 1 % of the best plan (all the same)",
        "killer: where it walks, 4 routes within 1 % of the best plan (3 of them different)",
        "ucb1: where it walks, 4 playthroughs",
    ]
    assert "proven, one search" in said


def test_routes_are_put_into_words() -> None:
    from persona_evo.playtest import routes

    one = drawn("one", "runner", 3)
    assert routes.alike(one, 0.0) == "all 3 trials show the same route: no other as good as the best was seen"
    assert routes.alike(one[:1], 0.01) == "" and routes.alike([], 0.01) == ""
    assert routes.shown(group("one", "runner", 2, 2), 0.005) == (
        "2 routes within 0.5 % of the best plan of each search (all the same)"
    )
    assert routes.shown(one[:1], 0.01) == "1 route within 1 % of the best plan"
