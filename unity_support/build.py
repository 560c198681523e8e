"""Compile the C# side with Mono's compiler, without Unity.

    python unity_support/build.py             all C# games below games/
    python unity_support/build.py corridor    one game: its sources with the package's core, to build/corridor.exe
    python unity_support/build.py tests       the package's NUnit tests, to build/tests.dll
    python unity_support/build.py unity       the parts for Unity, against the stubs in tests/connect/unity_stubs

`--out FOLDER` writes elsewhere. The language is limited to C# 6, which older versions of Unity accept, too.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
PACKAGE = HERE / "package"
CORE = PACKAGE / "Runtime" / "Core"
STUBS = HERE.parent / "tests" / "connect" / "unity_stubs"
SHARED = {"corridor": [PACKAGE / "Samples~" / "Corridor" / "CorridorGame.cs"]}
"""Further sources of games: the corridor has the rules of the package's sample."""
MCS = ("mcs", "-langversion:6", "-warnaserror+", "-warn:4", "-debug+", "-optimize+")
MISSING_PARAMETERS = "-nowarn:1573"
"""Comments may describe some of a method's parameters only."""


def compile_to(target: Path, sources: list[Path], *options: str) -> Path:
    """Compile C# sources to a program (.exe) or a library (.dll); exit with the compiler's messages if that fails.

    In a library of the package, all that is public has to have a comment.
    """
    kind = "exe" if target.suffix == ".exe" else "library"
    if target.stem.startswith("PersonaEvo"):
        options = (*options, f"-doc:{target.with_suffix('.xml')}", MISSING_PARAMETERS)
    command = [*MCS, f"-target:{kind}", f"-out:{target}", *options, *map(str, sources)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{target.name} does not compile:\n{done.stdout}{done.stderr}")
    return target


def csharp(folder: Path) -> list[Path]:
    """Return the C# files in a folder and below it, sorted by name."""
    return sorted(folder.rglob("*.cs"))


def game(name: str, out: Path) -> Path:
    """Compile a console game together with the core: one file that runs alone."""
    return compile_to(out / f"{name}.exe", [*csharp(CORE), *SHARED.get(name, []), *csharp(HERE / "games" / name)])


def games() -> list[str]:
    """Return the names of the console games."""
    return sorted({p.relative_to(HERE / "games").parts[0] for p in csharp(HERE / "games")})


def nunit() -> Path:
    """Find the NUnit that Debian's libnunit-cil-dev (or libnunit-framework2.6.3-cil) installs."""
    found = sorted(Path("/usr/lib/cli").glob("nunit.framework*/nunit.framework.dll"))
    if not found:
        sys.exit("NUnit is not installed; on Debian: apt-get install nunit-console libnunit-cil-dev")
    return found[-1]


def tests(out: Path) -> Path:
    """Compile the NUnit tests and, beside them, the core that they test."""
    core = compile_to(out / "PersonaEvo.Playtest.Core.dll", csharp(CORE))
    return compile_to(out / "tests.dll", csharp(PACKAGE / "Tests"), f"-r:{core}", f"-r:{nunit()}")


def unity(out: Path) -> Path:
    """Compile the parts for Unity against stubs of what they use of Unity.

    They are compiled three times: as for a player that playtests (in the folder itself), as for the Editor of a newer
    Unity (`editor`), and as for a player that is released, which has no session with the driver (`release`).
    """
    engine = compile_to(out / "UnityEngine.dll", csharp(STUBS / "UnityEngine"))
    editor = compile_to(out / "UnityEditor.dll", csharp(STUBS / "UnityEditor"), f"-r:{engine}")
    references = [f"-r:{engine}", f"-r:{editor}"]
    built = {}
    for kind, define in (("", "PERSONA_EVO"), ("editor", "UNITY_EDITOR;UNITY_2022_2_OR_NEWER"), ("release", "RELEASE")):
        defines = ["-define:UNITY_5_3_OR_NEWER", f"-define:{define}"]
        (out / kind).mkdir(exist_ok=True)
        core = compile_to(out / kind / "PersonaEvo.Playtest.Core.dll", csharp(CORE), *defines)
        component = out / kind / "PersonaEvo.Playtest.dll"
        compile_to(component, csharp(PACKAGE / "Runtime" / "Unity"), *defines, *references, f"-r:{core}")
        built[kind] = [*references, f"-r:{core}", f"-r:{component}"]
    compile_to(out / "PersonaEvo.Playtest.Editor.dll", csharp(PACKAGE / "Editor"), *built["editor"])
    return compile_to(out / "Samples.dll", csharp(PACKAGE / "Samples~"), *built[""])


def main() -> None:
    """Build what the command line names."""
    parser = argparse.ArgumentParser(description="Compile the C# side with Mono's compiler.")
    parser.add_argument("what", nargs="*", help="names below games/, tests, unity; nothing for all games")
    parser.add_argument("--out", type=Path, default=HERE / "build", help="folder for what is built")
    arguments = parser.parse_args()
    if shutil.which(MCS[0]) is None:
        sys.exit("Mono's compiler mcs is not installed; on Debian: apt-get install mono-mcs mono-runtime")
    arguments.out.mkdir(parents=True, exist_ok=True)
    for what in arguments.what or games():
        if what not in ("tests", "unity", *games()):
            sys.exit(f"nothing to build is called {what}; there are tests, unity, {', '.join(games())}")
        builder = {"tests": tests, "unity": unity}.get(what)
        print(builder(arguments.out) if builder else game(what, arguments.out))


if __name__ == "__main__":
    main()
