"""Tests the page and the folder: complete, escaped, self-contained, with numbered findings on the maps."""

from __future__ import annotations

import dataclasses
import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import quote

import pytest
from PIL import Image

from persona_evo.games import registry
from persona_evo.games.core import Level
from persona_evo.games.findings import Finding
from persona_evo.playtest import compare, compare_versions, require, versions
from persona_evo.playtest.analysis import analyse, things
from persona_evo.playtest.answer import answer
from persona_evo.playtest.correlations import correlations
from persona_evo.playtest.metrics import Bound
from persona_evo.playtest.records import Playthrough
from persona_evo.playtest.requirement import Check
from persona_evo.playtest.summaries import summarise
from persona_evo.report import charts, folder, maps, page, pages
from persona_evo.report import versions as drawn_versions
from persona_evo.report.page_content import Page, Picture
from persona_evo.report.pages import Document, Facts, Figure, Folded, Grid, Lines, Section, Text
from persona_evo.report.tables import Table
from tests.playtest.makers import INFOS, drawn, group, reading
from tests.report.test_pictures import LEVEL, TURNED, walked

EVIL = '<script>alert("1")</script>&\'x'
VOID = {"meta", "img", "br", "link", "line", "circle", "path", "rect", "polyline", "polygon"}


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

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in VOID
        self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, tag

    def handle_data(self, data: str) -> None:
        self.text += data


def rendered(content: Page) -> str:
    return pages.render(page.document(content))


@pytest.fixture
def full(tmp_path: Path) -> Page:
    """Return a page with something in every part, and a level, a player and texts of an evil name."""
    rows = group(EVIL, EVIL, 3, 12) + group(EVIL, "other", 12, 12, steps=40)
    rows += [r for i in range(4) for p in (EVIL, "other") for r in group(f"level {i}", p, 6, 12, steps=20 + i)]
    picture = tmp_path / "a b#1.png"
    Image.new("RGB", (40, 10)).save(picture)
    return Page(
        title=EVIL,
        subtitle=EVIL,
        summaries=summarise(rows, INFOS),
        infos=INFOS,
        findings=[
            Finding("lethal_start", "problem", EVIL, EVIL, ((1, 6), (2, 6)), (EVIL,), look=EVIL, trace=3),
            Finding("deaths", "notice", "level 1", "worth a look"),
        ],
        accepted=[(Finding("shortcut", "notice", "level 2", "a portal"), EVIL)],
        gone=[f"gone: {EVIL}"],
        health={EVIL: charts.Plot([charts.Series(EVIL, [(0, 1), (1, 0)])], charts.Axis(), charts.Axis(EVIL))},
        checks=[Check(EVIL, None, False, EVIL, EVIL)],
        most={EVIL: 1.5},
        pictures=[Picture(EVIL, "map", picture, EVIL), Picture("level 1", "replay", picture, "a replay")],
        baseline=compare.versus_baseline(rows, [(EVIL, "other")], INFOS),
        players=compare.between_players(rows, INFOS),
        correlations=correlations({f"level {i}": {EVIL: float(i)} for i in range(4)}, rows, INFOS),
        facts={"seed": "42", EVIL: EVIL},
        notes=[EVIL],
    )


def test_everything_is_escaped_and_closed(full: Page) -> None:
    read = Reader(rendered(full))
    assert "script" not in read.tags and EVIL in read.text
    assert len(full.correlations) > 0 and "Level structure and results" in read.text
    assert "Requirements" in read.text and "Structure" not in read.ids
    order = ["findings", "requirements", "level0", "overview", "comparison", "structure", "made"]
    assert [read.ids.index(part) for part in order] == sorted(read.ids.index(part) for part in order)


def test_findings_are_numbered_and_say_where_and_who(full: Page) -> None:
    read = Reader(rendered(full))
    said = " ".join(read.text.split())
    for words in ("places 7:2 and 7:3", "row:column", "shown by playthrough 3", "--trace NUMBER"):
        assert words in said
    assert said.index("problem") < said.index("Worth a look") < said.index("Accepted findings (1)")
    assert {"finding1", "finding2"} <= set(read.ids) and {"#finding1", "#finding2"} <= set(read.addresses)
    assert f"Accepted: {EVIL}" in read.text and f"gone: {EVIL}" in read.text


def test_links_lead_to_parts_that_exist(full: Page) -> None:
    read = Reader(rendered(full))
    targets = [a[1:] for a in read.addresses if a.startswith("#")]
    assert len(targets) >= 9 and set(targets) <= set(read.ids) and len(read.ids) == len(set(read.ids))


def test_nothing_comes_from_elsewhere(full: Page) -> None:
    text = rendered(full)
    read = Reader(text)
    pictures = [a for a in read.addresses if not a.startswith("#")]
    assert [a.partition(",")[0] for a in pictures if a.startswith("data:")] == ["data:image/png;base64"] * 2
    beside = quote(full.pictures[0].path.parent.name)
    assert [a for a in pictures if not a.startswith("data:")] == [f"{beside}/a%20b%231.png"], "the map in full size"
    assert not re.search(r"https?://|url\(|@import", text)
    assert "default-src &#39;none&#39;" in text and "script" not in read.tags
    assert 'width="40" height="10"' in text and '<figure class="wide">' in text


def test_charts_follow_dark_mode(full: Page) -> None:
    text = rendered(full)
    light, _, dark = text.partition("prefers-color-scheme: dark")
    for name in ("--ink", "--series0", "--line", "--card"):
        assert f"{name}:" in light and f"{name}:" in dark
    drawn = re.findall(r"<svg.*?</svg>", text, re.DOTALL)
    assert drawn and not any(re.search(r"(fill|stroke)=|#[0-9a-f]{3,6}\b", svg) for svg in drawn)
    assert "font: 12.5px" in text


def test_long_names_below_a_chart_are_whole_or_marked_as_cut() -> None:
    names = ["regular / greedy", "monochromester / greedy", "x" * 60]
    plot = charts.Plot([charts.Series("", [(0, 1)], "dots")], charts.Axis(names=names), charts.Axis(), width=300)
    text = plot.svg()
    assert ">monochromester / greedy</text>" in text and f"<title>{'x' * 60}</title>" in text
    shown = re.findall(r"</title>([^<]*)</text>", text)
    assert shown[2].endswith("…") and len(shown[2]) <= charts.MOST_LETTERS
    (height,) = re.findall(r'^<svg class="drawn" width="300" height="(\d+)"', text)
    assert plot.up.pixels[0] + 16 + max(map(len, shown)) * charts.LETTER * charts.RISE <= int(height)
    assert all(
        len(name) * charts.LETTER * charts.RUN <= tick.at for name, tick in zip(shown, plot.across.ticks, strict=True)
    )


def test_pictures_can_be_named_instead(full: Page, tmp_path: Path) -> None:
    page.write(full, tmp_path / "sub.html", embed=False)
    written = [path.read_text(encoding="utf-8") for path in (tmp_path / "levels").iterdir()]
    assert sum('src="../a%20b%231.png"' in text for text in written) == 2
    few = dataclasses.replace(full, summaries=[s for s in full.summaries if s.level == EVIL])
    path = page.write(few, tmp_path / "few.html", embed=False)
    assert 'src="a%20b%231.png"' in path.read_text(encoding="utf-8")


def test_an_empty_page_is_a_page() -> None:
    read = Reader(rendered(Page("nothing")))
    assert "section" not in read.tags and "nothing" in read.text
    calm = Reader(rendered(Page("calm", summarise(group("a", "x", 1, 2), INFOS), INFOS)))
    assert "No problems were found." in calm.text and "#comparison" not in calm.addresses


def test_a_page_without_problems_says_which_levels_nobody_wins() -> None:
    rows = group("a", "x", 0, 3) + group("b", "x", 1, 2)
    text = Reader(rendered(Page("hard", summarise(rows, INFOS), INFOS))).text
    assert "Nobody wins a, and nothing was found" in text and "No problems" not in text, text


def test_sizes_of_pictures(tmp_path: Path) -> None:
    Image.new("RGB", (7, 9)).save(tmp_path / "a.gif")
    (tmp_path / "b.png").write_bytes(b"\x89PNG")
    assert pages.size(tmp_path / "a.gif") == (7, 9) and pages.size(tmp_path / "b.png") is None
    assert pages.width_of(tmp_path / "b.png") == 0
    shown = maps.figure(tmp_path / "a.gif", "x")
    assert shown.enlarge and shown.size == (5, 6) and Figure(tmp_path / "a.gif", "x").size == (7, 9)


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
        game,
        [level],
        rows,
        baselines={"Runner": "ucb1"},
        priorities={"Runner": "TO"},
        bounds={("tiny: <1>", "runner"): Bound(0.96, True)},
        requirements=require.parse_all(["*.win_rate >= 1"]),
    )
    assert analysis.passed and analysis.personas == ("Runner", "runner") and analysis.pairs == (("Runner", "ucb1"),)
    assert [f.kind for f in analysis.findings] == ["untouched_object"] and things(level)[0].kind == "treasure"
    told: list[str] = []
    written = folder.write(tmp_path / "out", game, [level], analysis, facts={"seed": "1"}, progress=told.append)
    assert written.notes == [] and told[0] == "writing tables" and told[-1] == "writing the page"
    assert told[1:-1] == [
        f"drawing {n} of 6 pictures: {player} in tiny: <1>"
        for n, player in enumerate(["Runner"] * 3 + ["runner"] * 2 + ["ucb1"], 1)
    ]
    names = sorted(p.name for p in (tmp_path / "out" / "pictures").iterdir() if p.suffix != ".json")
    assert len(names) == len({n.lower() for n in names}) == 6, names
    assert all(re.fullmatch(r"[\w.+-]+", n) for n in names)
    assert reading(tmp_path / "out" / "traces.jsonl") == rows
    assert {"summary.csv", "comparison.csv", "players.csv", "structure.csv", "findings.csv", "playthroughs.csv"} <= {
        p.name for p in (tmp_path / "out").iterdir()
    }
    read = Reader(written.page.read_text(encoding="utf-8"))
    assert "tiny: <1>" in read.text and sum(a.startswith("data:image/gif") for a in read.addresses) == 3
    assert "Runner (median, best and worst): won in 4 steps" in read.text and "ucb1 (baseline, median)" in read.text
    full_size = [a for a in read.addresses if a.startswith("pictures/")]
    assert len(full_size) == 3 and all((tmp_path / "out" / a).is_file() for a in full_size), "maps lead to their files"
    monkeypatch.setattr(folder, "EMBED", 1000)
    linked = folder.write(tmp_path / "out", game, [level], analysis, replays=False)
    sources = [a for a in Reader(linked.page.read_text(encoding="utf-8")).addresses if a.startswith("pictures/")]
    assert len(sources) == 2 * len(linked.pictures) == 6 and all((tmp_path / "out" / a).is_file() for a in sources)


def test_pictures_are_drawn_again_only_where_they_would_differ(tmp_path: Path) -> None:
    game = registry.get("minidungeons2")
    level: Level = game.load(LEVEL, "tiny")

    def drawn(rows: list[Playthrough]) -> list[str]:
        told: list[str] = []
        folder.write(tmp_path, game, [level], analyse(game, [level], rows), progress=told.append)
        return [text for text in told if text.startswith("drawing")]

    rows = [walked(game, level, ["E"] * 4, trial=trial) for trial in range(2)]
    assert len(drawn(rows)) == 2
    picture = next((tmp_path / "pictures").glob("*.png"))
    content = picture.read_bytes()
    assert drawn(rows) == []
    picture.write_bytes(content[:-1])
    assert drawn(rows) == ["drawing 1 of 1 picture: runner in tiny"] and picture.read_bytes() == content
    picture.unlink()
    assert len(drawn(rows)) == 1 and picture.read_bytes() == content
    other = [walked(game, level, ["E", "W", "E", "E", "E", "E"], trial=trial) for trial in range(2)]
    assert len(drawn(other)) == 2 and picture.read_bytes() != content
    (tmp_path / "pictures" / "drawn.json").write_text("[1", encoding="utf-8")
    assert len(drawn(other)) == 2, "a damaged list counts as none"


def test_many_levels_have_a_page_each(tmp_path: Path) -> None:
    game = registry.get("minidungeons2")
    levels = [game.load(LEVEL, name) for name in ("a", "a b", "A", "d")]
    facts = {"things": [("treasure", 2, 2)]}
    levels = [dataclasses.replace(level, facts={**level.facts, **facts}) for level in levels]
    rows = [walked(game, level, ["E"] * 4, trial=trial) for level in levels for trial in range(2)]

    def page(count: int, where: Path) -> Reader:
        own = [r for r in rows if r.level in [v.name for v in levels[:count]]]
        written = folder.write(where, game, levels[:count], analyse(game, levels[:count], own), replays=False)
        return Reader(written.page.read_text(encoding="utf-8"))

    few = page(3, tmp_path / "few")
    assert {"level0", "level1", "level2"} <= set(few.ids) and not (tmp_path / "few" / "levels").exists()
    many = page(4, tmp_path / "many")
    assert not any(name.startswith("level0") for name in many.ids) and not any("data:" in a for a in many.addresses)
    linked = {a for a in many.addresses if a.startswith("levels/")}
    assert linked == {"levels/a.html", "levels/a_b.html", "levels/A-2.html", "levels/d.html"}
    for address in linked:
        read = Reader((tmp_path / "many" / address).read_text(encoding="utf-8"))
        assert "../index.html" in read.addresses and sum(a.startswith("data:image/png") for a in read.addresses) == 1
        assert all((tmp_path / "many" / "levels" / a).is_file() for a in read.addresses if a.startswith("../"))


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
    assert len(quiet.notes) == 1 and "There are no replays" in quiet.notes[0] and game.title in quiet.notes[0]
    assert any(picture.kind == "map" and picture.path.is_file() for picture in quiet.pictures)


def test_two_versions_begin_with_what_differs_and_the_maps_side_by_side(tmp_path: Path) -> None:
    game = registry.get("minidungeons2")
    levels = [game.load(text, name) for text, name in ((LEVEL, EVIL), (TURNED, "after"))]
    rows = [r for k, moves in ((0, "EEEE"), (1, "WWWW")) for r in [walked(game, levels[k], list(moves))] * 6]
    told = compare_versions.compare_levels(rows[:6], rows[6:], game.metrics)
    changes = versions.changes(game, *levels)
    (tmp_path / "pictures").mkdir()
    paths = (tmp_path / "pictures" / "a.png", tmp_path / "pictures" / "b.png")
    both = drawn_versions.changed_maps(game, *levels, changes, paths)
    shown = drawn_versions.Versions(
        answer(told, changes, versions.difference(game, *levels)),
        told,
        changes,
        both,
        drawn_versions.health_charts(rows, [EVIL, "after"], ["runner"]),
    )
    analysis = analyse(game, levels, rows)
    written = folder.write(tmp_path, game, levels, analysis, versions=shown, replays=False)
    text = written.page.read_text(encoding="utf-8")
    read = Reader(text)
    assert 0 < text.index('id="versions"') < text.index("Changed tiles") < text.index('id="findings"')
    assert shown.answer.lines[0] in read.text and "->" not in read.text
    assert read.text.count(changes.words.replace("->", "→")) == 1
    assert f"A = {EVIL}: changed tiles are framed" in read.text
    assert 'class="s0"' in text and 'class="s1"' in text, "A and B have a colour each"
    assert "<summary>All measures, one by one</summary>" in text and "script" not in read.tags
    assert "all levels" not in read.text and "comparison" not in read.ids, "nothing is told of both versions together"
    assert (tmp_path / "comparison.csv").is_file() and len(both) == 2


def shown(*blocks: object) -> str:
    return pages.render(Document("t", "", [Section("s", "S", blocks)]))


def test_long_texts_wrap_and_numbers_do_not() -> None:
    words = "a sentence that is longer than any number would be"
    table = Table("t", ["n", "says", "value"], [["1", words, "46.2 ± 2.1 %"]], left=frozenset({1}))
    made = shown(table)
    assert f'<td class="left prose">{words}</td>' in made and "<td>46.2\u00a0±\u00a02.1\u00a0%</td>" in made
    scroll = made.partition(".scroll {")[2].partition("}")[0]
    assert Reader(made).open == [] and "local" in scroll, "a shadow at the edge beyond which there is more"
    assert "overflow-wrap: anywhere" not in made.partition("@media (max-width: 600px)")[2], "no word is broken"


def test_a_grid_says_its_notes_once() -> None:
    made = shown(Grid([Table(name, ["", "x"], [["a", "1"]], ["the same note"]) for name in "abc"]))
    assert made.count("the same note") == 1 and made.count("<table>") == 3 and Reader(made).open == []


def test_empty_blocks_and_sections_are_left_out() -> None:
    empty = Section("e", "Empty", [Lines([]), Facts({}), Folded("f", [None]), None])
    made = pages.render(Document("t", "", [empty, Section("s", "Some", [Text("words", "dim")], "some")]))
    read = Reader(made)
    assert read.ids == ["s"] and read.addresses == ["#s"] and "Empty" not in read.text


def test_facts_of_several_lines_are_a_list() -> None:
    made = shown(Facts({"seed": "1", "policies": "a: x\nb: <y>"}))
    assert made.count("<dt>") == 2 and made.count("<dd>") == 3 and "<dd>b: &lt;y&gt;</dd>" in made


def test_a_page_says_where_no_second_route_was_seen(tmp_path: Path) -> None:
    game = registry.get("minidungeons2")
    level: Level = game.load(LEVEL, "tiny")
    routes = {"runner": ["EEEE"] * 4, "killer": ["EEEE", "EWEEEE", "EEEE", "WEEEE"], "ucb1": ["EEEE"] * 4}
    rows = [
        walked(
            game,
            level,
            list(moves),
            player=player,
            trial=k,
            proven=player != "ucb1",
            search=0 if k and player != "ucb1" else None,
        )
        for player, each in routes.items()
        for k, moves in enumerate(each)
    ]
    analysis = analyse(game, [level], rows, tolerances={"runner": 0.01, "killer": 0.01})
    written = folder.write(tmp_path, game, [level], analysis, replays=False)
    said = Reader(written.page.read_text(encoding="utf-8")).text
    assert "runner: all 4 trials show the same route: no other one within 1 % of the best was found" in said
    assert said.count("show the same route") == 1, "several routes are none, and UCB1 draws none"
    captions = [p.caption for p in written.pictures if p.kind == "map"]
    assert "the most frequent route" not in said and "findings" not in said.partition("visits in")[2][:200]
    assert captions == [
        "runner: won 4 of 4 playthroughs; 1 route within 1 % of the best plan",
        "killer: won 4 of 4 playthroughs; 3 different routes within 1 % of the best plan",
        "ucb1: won 4 of 4 playthroughs",
    ]
    assert "proven, one search" in said


def test_routes_are_put_into_words() -> None:
    from persona_evo.playtest import routes

    one = drawn("one", "runner", 3)
    assert (
        routes.alike(one, 0.0)
        == "all 3 trials show the same route: others are looked for only with a tolerance above 0"
    )
    assert routes.alike(one[:1], 0.01) == "" and routes.alike([], 0.01) == ""
    assert routes.shown(group("one", "runner", 2, 2), 0.005) == ("1 route within 0.5 % of the best plan of each search")
    assert routes.shown(one[:1], 0.01) == "1 route within 1 % of the best plan"
