"""Tests personas: the catalog, staged utilities, files with mistakes, the template and the explanation."""

from __future__ import annotations

import unicodedata
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from persona_evo.errors import FormulaError, InputError, PersonaError
from persona_evo.formula import parse
from persona_evo.games import registry
from persona_evo.games.core import Game, Metric
from persona_evo.names import file_name, is_name
from persona_evo.personas import Persona, Stage, catalog, combine, doubts, extremes, load, rates, resolve, template

pytestmark = pytest.mark.quick


def _never(*_: Any) -> Any:
    raise AssertionError("a persona must not need the rules of its game")


TOY = Game(
    name="toy",
    title="Toy",
    version=1,
    rules=_never,
    load=_never,
    action_name=_never,
    parse_action=_never,
    horizon=50,
    metrics=(
        Metric("ST", "steps", "steps so far", "steps", better="lower", clock=True),
        Metric("GOLD", "gold", "share of the gold", high=1, better="higher", ratio=True),
        Metric("HITS", "hits", "blows taken", "times", better="lower"),
        Metric("DEAD", "dead", "1 when dead", high=1, better="lower"),
    ),
)

PLAIN = """\
game = "toy"
title = "Miser"
priority = "GOLD"
utility = "GOLD - 0.01 * ST - 5 * DEAD"
"""

STAGED = """\
game = "toy"
priority = "GOLD"
always = "-5 * DEAD"

[[stages]]
title = "collect"
utility = "GOLD"
until = "GOLD >= 0.5"

[[stages]]
title = "hurry"
utility = "1 - 0.01 * ST"
"""


def persona(folder: Path, text: str, name: str = "miser.toml") -> Persona:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return load(path, TOY)


def test_the_papers_four_have_its_utilities() -> None:
    four = {p.short: p for p in catalog("minidungeons2") if p.set == "paper"}
    assert list(four) == ["R", "MK", "TC", "C"]
    assert [p.priority for p in four.values()] == ["PE", "MS", "TO", "IC"]
    state = {"PE": 0.5, "ST": 20.0, "MS": 0.25, "TO": 0.75, "IC": 0.4, "DEAD": 0.0}
    values = [p.utility.evaluate(state) for p in four.values()]
    assert values == pytest.approx([0.3, 0.325, 0.675, 0.43])
    dead = [p.utility.evaluate({**state, "DEAD": 1.0}) for p in four.values()]
    assert dead == pytest.approx([v - 5 for v in values])


def test_every_persona_of_the_catalog_says_what_it_is() -> None:
    for p in catalog():
        assert p.title and p.short and p.description and p.set
        assert load(p.name, p.game) == p == load(p.short.lower(), p.game)


def test_names_sets_and_all() -> None:
    assert [p.short for p in resolve(["all"], "minidungeons2")] == ["R", "MK", "TC", "C"]
    assert [p.name for p in resolve(["staged", "R", "runner"], "minidungeons2")] == ["looter_then_runner", "runner"]


def test_a_file_is_found_by_path_and_by_name_in_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    p = persona(tmp_path, "\ufeff" + PLAIN)
    assert (p.name, p.title, p.short, p.game) == ("miser", "Miser", "miser", "toy")
    monkeypatch.chdir(tmp_path)
    assert load("miser", TOY).utility == p.utility == load("miser.toml", TOY).utility


def test_stages_count_what_is_done_and_the_present_goal() -> None:
    a, b, c = parse("GOLD"), parse("1 - 0.01 * ST"), parse("0.5")
    utility = combine([Stage("a", a, parse("GOLD - 0.5")), Stage("b", b, parse("ST >= 10")), Stage("c", c)])
    assert utility.evaluate({"GOLD": 0.5, "ST": 99}) == pytest.approx(0.5 / 3)
    assert utility.evaluate({"GOLD": 0.75, "ST": 5}) == pytest.approx((1 + 0.95) / 3)
    assert utility.evaluate({"GOLD": 0.75, "ST": 10}) == pytest.approx((2 + 0.5) / 3)


def test_a_staged_persona_from_a_file(tmp_path: Path) -> None:
    p = persona(tmp_path, STAGED)
    assert [s.title for s in p.stages] == ["collect", "hurry"]
    state = {"GOLD": 0.25, "ST": 10.0, "HITS": 0.0, "DEAD": 1.0}
    assert p.stage(state) == 0 and p.utility.evaluate(state) == pytest.approx(0.25 / 2 - 5)
    state["GOLD"] = 0.5
    assert p.stage(state) == 1 and p.utility.evaluate(state) == pytest.approx(1.9 / 2 - 5)


def test_lists_of_a_persona_are_read_in_their_order(tmp_path: Path) -> None:
    text = (
        STAGED
        + """
[[lists]]
score = "UTILITY - 0.001 * ST"
weight = 2
novel = true

[[lists]]
score = "0.1 * OWN + CARE + CEILING - D"
"""
    )
    first, second = persona(tmp_path, text).lists
    assert (first.score.text, first.weight, first.novel) == ("UTILITY - 0.001 * ST", 2, True)
    assert (second.weight, second.novel) == (1.0, False)
    assert first.text == "UTILITY - 0.001 * ST (weight 2, novel states first)" and second.text == second.score.text
    assert persona(tmp_path, PLAIN).lists == ()


MISTAKES = [
    ("", PersonaError, "miser.toml:1: game is missing"),
    ('game = "toy"\npriority = GOLD\n', PersonaError, "miser.toml:2:12: not TOML"),
    (PLAIN.replace("GOLD -", "GOLDEN -"), FormulaError, "miser.toml:4:12: unknown symbol"),
    (PLAIN.replace("GOLD -", "GOLDEN -"), FormulaError, "did you mean 'GOLD'?"),
    (PLAIN.replace('"GOLD - 0.01', '"""\nGOLD -\n  0.01.').replace('DEAD"', 'DEAD"""'), FormulaError, "miser.toml:6:7"),
    (PLAIN.replace("priority", "priorty"), PersonaError, "did you mean 'priority'?"),
    (PLAIN.replace('"GOLD"', '"GOLF"'), PersonaError, "miser.toml:3:1: the priority is not a metric"),
    (PLAIN.replace('"toy"', '"minidungeons2"'), PersonaError, "miser.toml:1:1: the persona is for another game"),
    (PLAIN.replace('"Miser"', "3"), PersonaError, "miser.toml:2:9: title is not text"),
    (PLAIN + 'always = "1"\n', PersonaError, "miser.toml:5:1: `always` is only for personas with stages"),
    (PLAIN + 'name = "a b"\n', PersonaError, "miser.toml:5:1: not a name"),
    (PLAIN + "[[stages]]\nutility = 'ST'\n", PersonaError, "miser.toml:4:1: a persona has either"),
    (STAGED + 'until = "ST"\n', PersonaError, "miser.toml:13:1: the last stage has no end"),
    (STAGED.replace('until = "GOLD >= 0.5"\n', ""), PersonaError, "miser.toml:5:1: until is missing"),
    (STAGED.replace("ST", "STP"), FormulaError, "miser.toml:12:23: unknown symbol"),
    (STAGED.replace("until", "untill"), PersonaError, "miser.toml:8:1: unknown key"),
    ('game = "toy"\npriority = "GOLD"\nstages = 3\n', PersonaError, "miser.toml:3:1: stages is not a list"),
    ('game = "toy"\npriority = "GOLD"\nstages = []\n', PersonaError, "utility is missing"),
    (PLAIN + "lists = 3\n", PersonaError, "miser.toml:5:1: lists is not a list of tables"),
    (PLAIN + 'lists = ["GOLD"]\n', PersonaError, "expected: [[lists]]"),
    (PLAIN + "lists = []\n", PersonaError, "miser.toml:5:1: the number of open lists is out of range"),
    (PLAIN + '[[lists]]\nscore = "GOLD"\n' * 17, PersonaError, "found: 17 lists"),
    (PLAIN + "[[lists]]\nweight = 2\n", PersonaError, "miser.toml:5:1: score is missing"),
    (PLAIN + '[[lists]]\nscore = "GOLD + R"\n', FormulaError, "miser.toml:6:17: unknown symbol"),
    (PLAIN + '[[lists]]\nscore = "GOLD"\n[[lists]]\nscore = "UTILTY"\n', FormulaError, "did you mean 'UTILITY'?"),
    (PLAIN + '[[lists]]\nscore = "GOLD"\nwieght = 1\n', PersonaError, "miser.toml:7:1: unknown key"),
    (PLAIN + '[[lists]]\nscore = "GOLD"\nnovel = 1\n', PersonaError, "miser.toml:7:1: `novel` of an open list"),
    *(
        (
            PLAIN + f'[[lists]]\nscore = "GOLD"\nweight = {weight}\n',
            PersonaError,
            "miser.toml:7:1: the weight of an open list",
        )
        for weight in ("0", "-1", "nan", "inf", '"2"', "true", "1e7", "0x" + "f" * 900)
    ),
]


@pytest.mark.parametrize(("text", "kind", "message"), MISTAKES)
def test_mistakes_are_told_with_their_place(tmp_path: Path, text: str, kind: type[InputError], message: str) -> None:
    with pytest.raises(kind) as e:
        persona(tmp_path, text)
    assert message in str(e.value)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "bad.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(PersonaError, match="not UTF-8"):
        load(tmp_path / "bad.toml")
    with pytest.raises(PersonaError, match="no such persona file"):
        load(tmp_path / "none.toml")
    with pytest.raises(PersonaError, match="did you mean 'runner'"):
        load("runer", "minidungeons2")


def test_an_unknown_game_is_answered_with_the_known_ones(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_text(PLAIN.replace("toy", "minidungeon2"))
    with pytest.raises(PersonaError, match="did you mean 'minidungeons2'") as e:
        load(path)
    assert e.value.place is not None and e.value.place.line == 1


@pytest.mark.parametrize("name", ["my_player", "x"])
def test_the_template_loads_as_it_is_and_with_its_stages(tmp_path: Path, name: str) -> None:
    text = template.text(name, TOY)
    p = persona(tmp_path, text, f"{name}.toml")
    assert p.priority == "GOLD" and "DEAD" in p.utility.symbols
    assert all(f"{m.symbol} " in text and m.meaning in text for m in TOY.metrics)
    head, _, stages = text.partition("# always")
    lines = [line for line in head.splitlines() if not line.startswith("utility")]
    lines += [line.removeprefix("# ").removeprefix("#") for line in ("# always" + stages).splitlines()]
    whole = persona(tmp_path, "\n".join(lines), "staged.toml")
    assert len(whole.stages) == 2 and [one.novel for one in whole.lists] == [True, False]


def test_only_games_that_are_planned_have_lists_in_their_template() -> None:
    assert "[[lists]]" in template.text("x", TOY)
    assert "[[lists]]" not in template.text("x", replace(TOY, players=2))


def test_samples_come_from_the_ranges(tmp_path: Path) -> None:
    p = persona(tmp_path, PLAIN)
    found = {s.label: s.values for s in template.samples(TOY, p)}
    assert found["best case"] == {"ST": 0, "GOLD": 1, "HITS": 0, "DEAD": 0}
    assert found["only ST high"]["ST"] == TOY.horizon
    assert found["best case, but DEAD high"] == {"ST": 0, "GOLD": 1, "HITS": 0, "DEAD": 1}
    assert not any("HITS" in label for label in found)
    assert {s.values["HITS"] for s in template.samples(TOY)} == {0.0, template.COUNT}


def test_a_scale_is_doubted_only_where_it_is_known(tmp_path: Path) -> None:
    def doubted(utility: str) -> bool:
        own = persona(tmp_path, PLAIN.replace("GOLD - 0.01 * ST - 5 * DEAD", utility))
        return "hardly notices" in "".join(doubts.warnings(TOY, own))

    assert doubted("0.1 * GOLD") and not doubted("0.001 * HITS"), "nobody knows how many hits there can be"
    assert template.assumed(TOY, parse("GOLD + HITS")) == {"HITS": template.COUNT}


def test_explanations_add_up(tmp_path: Path) -> None:
    p = persona(tmp_path, PLAIN)
    for row in template.explain(p, template.samples(TOY, p)):
        assert row.utility == pytest.approx(sum(value for _, value in row.parts))
        assert [term for term, _ in row.parts] == ["GOLD", "-0.01 * ST", "-5 * DEAD"]
    staged = persona(tmp_path, STAGED)
    for row in template.explain(staged, template.samples(TOY, staged)):
        assert row.utility == pytest.approx(sum(value for _, value in row.parts))
    stages = {row.label: row.stage for row in template.explain(staged, template.samples(TOY, staged))}
    assert stages["all metrics low"] == "collect" and stages["best case"] == "hurry"


def test_the_best_case_is_the_highest_that_there_is(tmp_path: Path) -> None:
    for utility, best in (
        ("0.6 * GOLD + 0.2 * HITS - 2 * DEAD", 0.6 + 0.2 * template.COUNT),
        ("1 - abs(GOLD - 0.25) - DEAD", 1.0),
        ("if(HITS >= 3, 0, GOLD) - 0.01 * ST", 1.0),
        ("GOLD * (1 - GOLD * DEAD)", 1.0),
    ):
        p = persona(tmp_path, PLAIN.replace("GOLD - 0.01 * ST - 5 * DEAD", utility))
        rows = template.explain(p, template.samples(TOY, p))
        (found,) = [row.utility for row in rows if row.label == "best case"]
        assert found == pytest.approx(best) and found >= max(row.utility for row in rows)


def test_the_best_case_of_many_metrics_is_climbed_to() -> None:
    symbols = [f"M{i}" for i in range(12)]
    utility = parse(" + ".join(f"({i % 3 - 1}) * {s}" for i, s in enumerate(symbols)) + " + M0 * M11")
    state = extremes.highest(utility, dict.fromkeys(symbols, (0.0, 1.0)), dict.fromkeys(symbols, 0.0))
    assert utility.evaluate(state) == 4.0


@pytest.mark.parametrize(
    ("utility", "said"),
    [
        ("GOLD - 5 * DEAD", []),
        ("60 * GOLD - 2 * DEAD", ["death may not matter", "worth 60"]),
        ("GOLD", ["does not read DEAD"]),
        ("0.1 * GOLD - DEAD", ["differ by 0.1"]),
        ("GOLD - 0.5 * DEAD", ["death may not matter: a state in which the player is dead can be worth 0.5"]),
    ],
)
def test_doubtful_utilities_are_told(tmp_path: Path, utility: str, said: list[str]) -> None:
    found = doubts.warnings(TOY, persona(tmp_path, PLAIN.replace("GOLD - 0.01 * ST - 5 * DEAD", utility)))
    assert len(found) == len(said) and all(part in text for part, text in zip(said, found, strict=True))


def test_no_persona_of_the_catalog_is_doubtful_but_one_that_is_a_published_reward() -> None:
    found = [(p.name, w) for p in catalog() for w in doubts.warnings(registry.get(p.game), p)]
    assert found == [("thesis", "the utility does not read DEAD, so death costs this player nothing")]


def test_a_persona_of_a_connected_game_is_told_how_to_name_it(tmp_path: Path) -> None:
    file = tmp_path / "hasty.toml"
    file.write_text('game = "crypt"\npriority = "GOLD"\nutility = "GOLD"\n', encoding="utf-8")
    with pytest.raises(PersonaError) as caught:
        load(str(file), registry.get(registry.DEFAULT))
    assert "add --game FILE.toml" in str(caught.value)
    assert "FILE.py:GAME" in str(caught.value) and "the default game" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("utility = 'GOLD / (ST - ST) - 5 * DEAD'", "GOLD / (ST - ST) divides by 0"),
        ("utility = 'GOLD / 0 - 5 * DEAD'", "GOLD / 0 divides by 0"),
        ("utility = 'GOLD + 100 * ST - 5 * DEAD'", "rises with ST (steps), although lower is better: 100 * ST"),
        ("utility = '1 - (0 - HITS) - 50 * DEAD'", "rises with HITS (hits)"),
    ],
)
def test_mistakes_of_a_utility_are_told(tmp_path: Path, text: str, said: str) -> None:
    found = doubts.warnings(TOY, persona(tmp_path, f'game = "toy"\npriority = "GOLD"\n{text}\n'))
    assert any(said in line for line in found), found


@pytest.mark.parametrize(
    "condition",
    [
        "GOLD >= 0.5",
        "(GOLD > 0.5) * (HITS > 1)",
        "max(GOLD > 0.5, ST > 9)",
        "1 - (GOLD < 0.5)",
        "if(HITS > 1, GOLD > 0.5, 0)",
    ],
)
def test_conditions_of_stages_are_no_mistakes(tmp_path: Path, condition: str) -> None:
    p = persona(tmp_path, STAGED.replace("GOLD >= 0.5", condition))
    assert not [line for line in doubts.warnings(TOY, p) if "stage" in line]


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (
            '"GOLD >= 0.5"',
            '"GOLD"',
            "is a number, not a condition: GOLD; the stage ends as soon as the number is above 0; a "
            "condition is a comparison, such as GOLD >= 1",
        ),
        ('"GOLD >= 0.5"', '"GOLD - 0.5"', "such as (GOLD - 0.5) >= 0.5"),
        ('"GOLD >= 0.5"', '"GOLD > 1"', "is never true within the ranges"),
        ('"GOLD >= 0.5"', '"2 > 1"', "the stage is never entered"),
        ('"GOLD >= 0.5"', '"1 > 2"', "the stage never ends"),
        ('utility = "GOLD"', 'utility = "100 * GOLD"', "stage 'collect' can be worth 100, but moving on to the next"),
    ],
)
def test_mistakes_of_stages_are_told(tmp_path: Path, before: str, after: str, said: str) -> None:
    found = doubts.warnings(TOY, persona(tmp_path, STAGED.replace(before, after)))
    assert any(said in line for line in found), found


@pytest.mark.parametrize(
    ("formula", "hint"),
    [
        ("GOLD > 0.5 and ST > 1", "and is written min(a > 1, b > 2)"),
        ("GOLD > 0.5 OR ST > 1", "or is written max("),
        ("GOLD > 0.5 && ST > 1", "and is written"),
        ("GOLD > 0.5 || ST > 1", "or is written"),
        ("not GOLD", "not is written 1 - "),
        ("and(GOLD, ST)", "and is written"),
        ("!GOLD", "not is written"),
        ("GOLD \u2265 1", "write >="),
        ("GOLD > 0.5 > ST", "write (a > b) * (b > c) for both together"),
    ],
)
def test_how_to_write_and_or_and_not_is_told(formula: str, hint: str) -> None:
    with pytest.raises(FormulaError) as caught:
        parse(formula, ("GOLD", "ST"))
    assert hint in str(caught.value)


LEVELS = {
    "one": [{"ST": float(i), "GOLD": 0.2 * (i // 5), "HITS": float(i % 3), "DEAD": 0.0} for i in range(20)],
    "two": [{"ST": 0.0, "GOLD": 0.0, "HITS": 0.0, "DEAD": 1.0}],
}


def test_terms_have_exchange_rates() -> None:
    assert rates.rates(parse("0.7 * GOLD - 0.01 * ST - 5 * DEAD"), TOY, LEVELS) == [
        "DEAD (dead) costs as much as 500 steps",
        "10 % of gold (GOLD) is worth 7 steps",
    ]
    assert rates.rates(parse("0.8 * GOLD - 4 * DEAD"), TOY, LEVELS) == [
        "DEAD (dead) costs as much as 5 times all of gold (GOLD)"
    ]
    counted = replace(TOY, metrics=(replace(TOY.metrics[1], name="coins found"), *TOY.metrics[:1], *TOY.metrics[2:]))
    assert rates.rates(parse("0.7 * GOLD - 0.01 * ST"), counted, LEVELS) == [
        "one coin found (of 5 in one) is worth 14 steps"
    ]
    (line,) = rates.rates(parse("GOLD - 0.5 * HITS"), counted, LEVELS)
    assert line == "one hit costs as much as 2.5 times one coin found (of 5 in one)"
    (bent,) = rates.rates(parse("GOLD * GOLD - 0.01 * ST"), counted, LEVELS)
    assert bent.endswith("steps, in a typical state (it differs between states)")
    assert rates.rates(parse("GOLD"), TOY, LEVELS) == rates.rates(parse("GOLD - ST"), TOY, {}) == []
    assert [rates.singular(name) for name in ("interactive objects consumed", "supplies used", "health left")] == [
        "interactive object consumed",
        "supply used",
        "health left",
    ]


@pytest.mark.parametrize(
    "name",
    [
        "Schatzsucher_ä",
        "\u03b8\u03b7\u03c3\u03b1\u03c5\u03c1\u03cc\u03c2",
        "\u5b9d\u63a2\u3057",
        "\u0939\u093f\u0928\u094d\u0926\u0940-2",
    ],
)
def test_names_have_letters_of_any_script(tmp_path: Path, name: str) -> None:
    p = persona(tmp_path, PLAIN + f'name = "{name}"\n', f"{name}.toml")
    assert p.name == name and persona(tmp_path, PLAIN, f"{name}.toml").name == name
    run = file_name(f"{name}/..:*?")
    assert name in run and not set(run) & set('/\\:*?"<>|')
    decomposed = unicodedata.normalize("NFD", name)
    assert persona(tmp_path, PLAIN + f'name = "{decomposed}"\n').name == name


@pytest.mark.parametrize("name", ["", "a b", "1st", "_x", "../x", "a/b", "x\u202ey", "\u5b9d" * 40, "smile\U0001f600"])
def test_what_is_no_name(name: str) -> None:
    assert not is_name(name)
