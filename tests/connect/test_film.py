"""Tests film strips: pictures that a game draws of itself, from the game to the page, and what is no picture."""

import io
import json
import os
import re
import signal
import struct
import subprocess
import sys
import time

import pytest
from PIL import Image

from persona_evo.cli.say import StatusLine
from persona_evo.connect import film
from persona_evo.connect import protocol as p
from persona_evo.connect.description_file import read
from persona_evo.connect.film import Camera
from persona_evo.connect.level_names import LevelName
from persona_evo.connect.pictures import MOST_BYTES, MOST_SIDE, decode_picture, png, size_of_png
from persona_evo.errors import ConnectError, ProtocolError
from persona_evo.games.outside import MOST_SHOTS, moments
from tests.cli.tool import run
from tests.connect.driving import describe, none_left

CLIMBER = 'name = "climber"\ngame = "ladder"\nutility = "HEIGHT - 5 * FELL"\npriority = "HEIGHT"\n'
WORDS = ("--policy", "ucb1", "--trials", 2, "--iterations", 12, "--seed", 3, "--bound-seconds", 0, "--jobs", 1)

HOSTILE = """
from persona_evo.connect import protocol as p
import struct
def show(client, order):
    depth, data = client._made, picture([0], 6)
    {fault}
    client._driver.send(p.frame(p.Kind.PICTURE, struct.pack("<QI", order.id, depth) + data))
Client._show = show
"""


def climbing(folder, top="", fault=""):
    """A game that sends pictures, or what `fault` makes of them, and its persona."""
    file = describe(folder, top=f'arguments = ["pictures"]\n{top}')
    (folder / "climber.toml").write_text(CLIMBER, encoding="utf-8")
    if fault:
        source = folder / "ladder.py"
        text = source.read_text(encoding="utf-8")
        changed = text.replace("\ndef main():", HOSTILE.format(fault=fault) + "\n\ndef main():", 1)
        assert changed != text
        source.write_text(changed, encoding="utf-8")
    return file


def playtest(capsys, file, out, *levels, more=()):
    """Run a small playtest by its command; return what it printed."""
    personas = ("--game", file, "--personas", file.parent / "climber.toml")
    return run(capsys, "playtest", *levels, *personas, *WORDS, "--out", out, *more)


def strips(out):
    """The captions of the pictures on a page, by the caption of their strip."""
    page = (out / "index.html").read_text(encoding="utf-8")
    found = {}
    for block in re.findall(r'<div class="strip">\n<p>(.*?)</p>(.*?)</div>\n</div>', page, re.S):
        found[block[0]] = re.findall(r"<figcaption>(.*?)</figcaption>", block[1])
        assert block[1].count("data:image/png;base64,") == len(found[block[0]])
    return found


def records(out):
    """The playthroughs of a playtest, without what the clock says."""
    lines = (out / "traces.jsonl").read_text(encoding="utf-8").splitlines()
    return [{k: v for k, v in json.loads(line).items() if k not in ("seconds", "crc")} for line in lines]


def test_the_page_of_a_playtest_has_film_strips_and_its_results_are_the_same_without(tmp_path, capsys):
    file = climbing(tmp_path)
    told = playtest(capsys, file, tmp_path / "out", "short@2", "long@1")
    assert told.code == 0, told.err
    found = strips(tmp_path / "out")
    assert len(found) >= 2 and all(re.match(r"climber \((best|median|worst|shortest)", name) for name in found)
    lengths = {len(captions) for captions in found.values()}
    assert lengths == {4, MOST_SHOTS}, "a short game is shown whole, a long one by twelve moments"
    for captions in found.values():
        assert captions[0] == "0 of 3 · height climbed 0" or captions[0] == "0 of 40 · height climbed 0"
        assert re.fullmatch(r"(\d+) of \1 · height climbed \d+ · score -?\d+", captions[-1])
    files = sorted((tmp_path / "out" / "strips").rglob("*.png"))
    assert len(files) == sum(map(len, found.values()))
    for path in files:
        with Image.open(path) as image:
            assert max(image.size) >= 160
    unfilmed = tmp_path / "unfilmed.toml"
    unfilmed.write_text(f'name = "ladder"\nfilm = []\n{file.read_text(encoding="utf-8")}', encoding="utf-8")
    plain = playtest(capsys, unfilmed, tmp_path / "plain", "short@2", "long@1")
    assert plain.code == 0 and not strips(tmp_path / "plain") and not (tmp_path / "plain" / "strips").exists()
    assert records(tmp_path / "plain") == records(tmp_path / "out")
    assert none_left(tmp_path)


def test_players_who_make_mistakes_have_film_strips_too(tmp_path, capsys):
    file = climbing(tmp_path)
    words = ("--personas", file.parent / "climber.toml", "--policy", "ucb1", "--skill", "novice", "--trials", 3)
    told = run(
        capsys, "playtest", "short@2", "--game", file, *words, "--seed", 3, "--jobs", 1, "--out", tmp_path / "out"
    )
    assert told.code == 0, told.err
    found = strips(tmp_path / "out")
    assert found and all(name.startswith("climber (novice) (") for name in found), found
    assert all(re.match(r"3 of 3 · .*score", captions[-1]) for captions in found.values()) and none_left(tmp_path)


def test_a_playtest_that_is_killed_between_two_pictures_asks_only_for_the_others(tmp_path, capsys):
    file = climbing(tmp_path)
    source = tmp_path / "ladder.py"
    slow = source.read_text().replace("    cells = [[SKY]", "    import time; time.sleep(0.15)\n    cells = [[SKY]")
    assert slow != source.read_text()
    source.write_text(slow, encoding="utf-8")
    out = tmp_path / "out"
    words = ["playtest", "default@1", "default@4", "--game", file, "--personas", tmp_path / "climber.toml", *WORDS]
    command = [sys.executable, "-m", "persona_evo", *map(str, words), "--out", str(out)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        end = time.monotonic() + 60
        while not list(out.rglob("strip.json")) and time.monotonic() < end and process.poll() is None:
            time.sleep(0.02)
        os.kill(process.pid, signal.SIGKILL)
    done = {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in out.rglob("strip.json")}
    assert done and not (out / "index.html").exists()
    assert none_left(tmp_path)
    source.write_text(slow.replace("0.15", "0.0"), encoding="utf-8")
    told = run(capsys, "playtest", "--resume", out)
    assert told.code == 0, told.err
    assert len(list(out.rglob("strip.json"))) > len(done) and len(strips(out)) == len(list(out.rglob("strip.json")))
    assert {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in done} == done
    some = next(out.rglob("00.png"))
    whole = some.read_bytes()
    some.write_bytes(whole[:-1])
    assert run(capsys, "playtest", "--resume", out).code == 0
    assert some.read_bytes() == whole, "a damaged picture is drawn again"


FAULTS = {
    "data = b'no picture'": "a picture is not a PNG file",
    "data = data[:-3]": "a picture is a damaged PNG file",
    "data = data[:40] + b'x' + data[41:]": "a picture is a damaged PNG file",
    "data += bytes(2**20)": "a frame is too large",
    "data = png(2049, 1, bytes(3 * 2049))": "a picture has too many pixels",
    "depth = 7": "pictures came in the wrong order, or too many of them",
    "depth = 6 - depth": "pictures came in the wrong order, or too many of them",
    "depth = 0": "pictures came in the wrong order, or too many of them",
    "order = order._replace(id=order.id + 1)": "the game sent a PICTURE that no ROLLOUT under way asks for",
}


@pytest.mark.parametrize(("fault", "said"), FAULTS.items())
def test_what_is_no_picture_is_told(tmp_path, fault, said):
    camera = Camera(read(climbing(tmp_path, fault=fault)))
    try:
        with pytest.raises((ProtocolError, ConnectError)) as caught:
            camera.shoot(LevelName("", "", 1), [0] * 6, range(7))
    finally:
        camera.close()
    assert said in str(caught.value) and "ladder" in str(caught.value), caught.value
    assert none_left(tmp_path)


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("data = b'GIF89a'", "a picture is not a PNG file"),
        ("data = rotten", "after 0 decisions cannot be decoded; found: not a picture that can be read"),
        ("return", "ladder has the capability `pictures`, but sent none"),
        ("raise SystemError('the paint is out')", "the paint is out"),
        ("import os; os._exit(7)", "the process ended with exit code 7"),
    ],
)
def test_a_playtest_goes_on_without_pictures(tmp_path, capsys, fault, said):
    rotten = (
        "import zlib; chunk = b'IDAT' + b'no deflate'; "
        "rotten = data[:33] + struct.pack('>I', 10) + chunk + struct.pack('>I', zlib.crc32(chunk)) + data[-12:]; "
    )
    told = playtest(capsys, climbing(tmp_path, fault=rotten + fault), tmp_path / "out", "short@2")
    assert told.code == 0, told.err
    page = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    assert not strips(tmp_path / "out") and len(records(tmp_path / "out")) == 2
    note = re.search(r"A film strip is missing, and the game was not asked for others: [^<]*", page)
    assert note and said in note[0].replace("&#39;", "'"), page[-2000:]
    assert told.err.count("note: A film strip is missing") == 1 and said in told.err
    assert none_left(tmp_path)


def test_a_playtest_says_how_many_pictures_have_come(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(StatusLine.__init__, "__defaults__", (0.0,))
    told = playtest(capsys, climbing(tmp_path), tmp_path / "out", "short@2")
    for number in range(1, 5):
        assert f"asking for pictures: {number} of 4, climber in short@2\n" in told.err


def test_a_picture_that_nobody_asked_for_ends_the_search(tmp_path, capsys):
    file = climbing(tmp_path)
    source = tmp_path / "ladder.py"
    text = source.read_text(encoding="utf-8")
    source.write_text(text.replace("        way.append", "        client._show(client._order)\n        way.append"))
    told = run(capsys, "connect", "search", file, "--iterations", 5, "--seed", 1)
    assert told.code == 2 and "the game sent a PICTURE that no ROLLOUT under way asks for" in told.err, told.err


def test_the_doctor_says_whether_pictures_arrive(tmp_path, capsys):
    told = run(capsys, "doctor", "--rollouts", 10, "--game", climbing(tmp_path / "fine"))
    assert told.code == 0 and "note: pictures: 7 of 7 moments, 56 x 56 pixels, 0.1 KiB each" in told.out, told.out
    steps = ["starting the game", "playing 8 rollouts three times", "asking for pictures"]
    assert told.err.splitlines()[:4] == [*steps, "playing rollouts for at most 5 s"]
    some = run(capsys, "doctor", "--rollouts", 10, "--game", climbing(tmp_path / "some", fault="if depth % 2: return"))
    assert some.code == 0 and "note: pictures: 4 of 7 moments" in some.out
    none = run(capsys, "doctor", "--rollouts", 10, "--game", climbing(tmp_path / "none", fault="return"))
    assert none.code == 0 and "FAULT: the game has the capability `pictures`, but sent none" in none.out
    assert none.out.endswith("the same choices lead to the same end: fine\nthere will be no film strips\n"), none.out


COLOUR_TYPE_7 = "head = b'IHDR' + data[16:25] + bytes([7]) + data[26:29]"
LARGE = "head = b'IHDR' + struct.pack('>II', 2048, 2048) + data[24:29]"
WITH_HEAD = "; import zlib; data = data[:12] + head + struct.pack('>I', zlib.crc32(head)) + data[33:]"


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("data = b'x'", "a picture is not a PNG file"),
        (COLOUR_TYPE_7 + WITH_HEAD, "cannot be decoded; found: not a picture that can be read"),
        (LARGE + WITH_HEAD, "cannot be decoded; found: not a picture that can be read"),
    ],
)
def test_the_doctor_decodes_pictures_as_the_report_does(tmp_path, capsys, fault, said):
    told = run(capsys, "doctor", "--rollouts", 10, "--game", climbing(tmp_path, fault=fault))
    assert told.code == 0 and "FAULT: the game does not send pictures as it should: " in told.out
    assert said in told.out and " at 0x" not in told.out and told.out.endswith("\nthere will be no film strips\n")
    assert "cannot be searched" not in told.out and none_left(tmp_path)


def test_all_pictures_of_a_playthrough_have_a_time_limit_together(tmp_path, monkeypatch):
    monkeypatch.setattr(film, "ROLLOUTS", 0.1)
    slow = describe(tmp_path, top='arguments = ["pictures"]', tables="[timeouts]\nrollout = 5\n")
    source = tmp_path / "ladder.py"
    text = source.read_text(encoding="utf-8")
    source.write_text(text.replace("    cells = [[SKY]", "    import time; time.sleep(0.04)\n    cells = [[SKY]"))
    camera, seen = Camera(read(slow)), []
    try:
        with pytest.raises(ConnectError, match="takes too long to draw a playthrough") as caught:
            camera.shoot(LevelName("long", "", 1), [0] * 40, [0, 40], lambda n, total: seen.append((n, total)))
    finally:
        camera.close()
    assert seen == [(n, 41) for n in range(1, len(seen) + 1)] and 1 <= len(seen) <= 13
    assert "of 41 moments after 0.5 s" in str(caught.value)


@pytest.mark.quick
def test_a_description_names_the_playthroughs_that_are_filmed(tmp_path):
    assert read(climbing(tmp_path)).film == ("best", "median", "worst")
    assert read(climbing(tmp_path, 'film = ["worst"]')).film == ("worst",)
    with pytest.raises(ConnectError, match=r"ladder.toml:4:8: no such playthrough\n  found: mean"):
        read(climbing(tmp_path, 'film = ["best", "mean"]'))


@pytest.mark.quick
def test_moments_are_spread_evenly_from_the_start_to_the_end():
    assert moments(0) == [0] and moments(3) == [0, 1, 2, 3] and moments(11) == list(range(12))
    assert moments(1000) == [0, 91, 182, 273, 364, 455, 545, 636, 727, 818, 909, 1000]


@pytest.mark.quick
def test_png_files_are_written_and_measured():
    data = png(3, 2, bytes(range(18)))
    with Image.open(io.BytesIO(data)) as image:
        assert image.size == size_of_png(data) == (3, 2) and image.tobytes() == bytes(range(18))
    with pytest.raises(ValueError, match="17 bytes for 3 x 2 pixels"):
        png(3, 2, bytes(17))
    assert decode_picture(struct.pack("<QI", 5, 7) + data) == (5, 7, data)
    assert size_of_png(png(MOST_SIDE, 1, bytes(3 * MOST_SIDE))) == (MOST_SIDE, 1)
    for wrong in (b"", data[:20], data + b"\0", data[8:], data[:33] + data[-12:], b"\0" * (MOST_BYTES + 1)):
        with pytest.raises(ProtocolError):
            size_of_png(wrong)
    for short in (b"", bytes(11)):
        with pytest.raises(ProtocolError, match="PICTURE is too short"):
            decode_picture(short)
    assert p.PICTURES & p.ALL_METRICS == 0
