"""What `.ci/release` changes in the files of a release, and that the citation file agrees with the package."""

from __future__ import annotations

import importlib.util
import re
import shutil
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType

import pytest

from persona_evo import __version__

ROOT = Path(__file__).resolve().parents[1]

pytestmark = pytest.mark.quick


@pytest.fixture
def release() -> ModuleType:
    loader = SourceFileLoader("release", str(ROOT / ".ci" / "release"))
    spec = importlib.util.spec_from_loader("release", loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def test_the_files_of_a_release_get_its_version_and_date(release: ModuleType, tmp_path: Path) -> None:
    for name in (release.CHANGELOG, release.CITATION, release.VERSION):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    release.prepare(tmp_path, "12.3.4", "2031-05-04")
    assert "\n## 12.3.4 (2031-05-04)\n" in (tmp_path / release.CHANGELOG).read_text(encoding="utf-8")
    assert "\nversion: 12.3.4\ndate-released: 2031-05-04\n" in (tmp_path / release.CITATION).read_text(encoding="utf-8")
    assert '__version__ = "12.3.4"' in (tmp_path / release.VERSION).read_text(encoding="utf-8")
    with pytest.raises(SystemExit, match="found 0 lines"):  # nothing is unreleased any more
        release.prepare(tmp_path, "12.3.5", "2031-05-05")


def test_a_second_date_replaces_the_first(release: ModuleType) -> None:
    once = release.cited("version: 0.1.0\nlicense: MIT\n", "0.2.0", "2031-05-04")
    assert release.cited(once, "0.3.0", "2031-06-07") == "version: 0.3.0\ndate-released: 2031-06-07\nlicense: MIT\n"


def test_the_citation_names_the_version_of_the_package() -> None:
    found = re.search(r"^version: (\S+)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE)
    assert found is not None and found[1] == __version__
