"""Finds policies by name in the folders that contain them."""

from __future__ import annotations

from pathlib import Path

from persona_evo.errors import InputError, PolicyError, unknown
from persona_evo.games import registry
from persona_evo.jobs.windows import program
from persona_evo.store import runs
from persona_evo.store.policies import Policy, foreign, read
from persona_evo.words import counted

FOLDER = "policies"
"""The folder of a project's own policies, and of those that ship."""


def shipped_folder() -> Path | None:
    """Return the folder of the policies that ship: in the installed package, or in the source tree."""
    package = Path(__file__).parents[1]
    for folder in (package / "_policies", package.parent / FOLDER):
        if folder.is_dir():
            return folder
    return None


def folders(game: str) -> list[Path]:
    """Return the folders in which policies of a game are searched for, in this order."""
    shipped = shipped_folder()
    found: list[Path] = []
    for folder in (Path(FOLDER) / game, shipped / game if shipped else None):
        if folder is not None and folder.is_dir() and all(folder.resolve() != f.resolve() for f in found):
            found.append(folder)
    return found


MOST_SHOWN = 3
"""The highest number of runs that an error names."""


def _runs_in(folder: Path) -> str | None:
    """Return what to name instead of a folder of runs: the runs that have a policy, the newest first."""
    found = [run for run in runs.find_runs(folder)[::-1] if runs.policy_of(run) is not None]
    shown = ", ".join(map(str, found[:MOST_SHOWN]))
    return (
        None
        if not found
        else f"it holds {counted(len(found), 'run')} with a policy: name {shown}"
        + (", ..." if found[MOST_SHOWN:] else "")
    )


def find(name: str | Path, game: str) -> Policy:
    """Return the policy called `name`, or in the file `name`.

    Raises:
        PolicyError: there is none, it is damaged, or it belongs to another game.
    """
    path = Path(name)
    if path.is_file():
        return _for_game(read(path), game)
    if isinstance(name, Path) or path.suffix == ".json" or len(path.parts) > 1:
        raise PolicyError(
            "no such policy file",
            found=str(name),
            expected="a JSON file of a policy, or a run's folder",
            hint=_runs_in(path),
        )
    for folder in folders(game):
        candidate = folder / f"{name}.json"
        if candidate.is_file():
            return _for_game(read(candidate), game)
    expected, hint = unknown(str(name), {f.stem for folder in folders(game) for f in folder.glob("*.json")})
    if others := games_with(str(name)):
        have = "has" if len(others) == 1 else "have"
        address = others[0] if others[0] in registry.names() else f"FILE, the file of {others[0]}"
        hint = f"{' and '.join(others)} {have} one of this name: add --game {address}"
    elif not hint.startswith("did you mean"):
        hint = _own(str(name))
    raise PolicyError(
        "no such policy",
        found=str(name),
        expected=expected + ", a policy file or a run's folder",
        hint=_runs_in(path) or hint,
    )


def _own(name: str) -> str:
    """Return a hint for a policy that is not installed, with the newest run in `./runs` that made one for it."""
    install = "persona-evo policy install"
    for run in runs.find_runs(Path("runs"))[::-1]:
        try:
            if runs.policy_of(run) is not None and runs.read_config(run)["persona"]["name"] == name:
                return f"{run} has a policy for {name}: name that folder, or install it first: {install} {run}"
        except (InputError, KeyError, TypeError):
            continue  # a damaged run is no help here
    return f"a policy of your own is named by its run's folder, or by name after {install} RUN"


def load(name: str | Path, game: str) -> Policy:
    """Return a policy by name or file, or the final one of a run's folder.

    Raises:
        PolicyError: there is none, it is damaged, or it belongs to another game.
    """
    path = file_of(name)
    return find(str(name) if path is None else path, game)


def file_of(name: str | Path) -> Path | None:
    """Return the file that `name` stands for: itself, or the final policy of a run's folder; None for a name.

    Raises:
        PolicyError: the run has no policy yet.
    """
    path = Path(name)
    if path.is_dir() and (path / runs.CONFIG).is_file():
        final = runs.policy_of(path)
        if final is None:
            raise PolicyError(
                "the run has no policy yet", found=str(path), hint=f"finish it: {program('evolve', '--resume', path)}"
            )
        return final
    return path if path.is_file() else None


def _for_game(policy: Policy, game: str) -> Policy:
    if policy.game != game:
        raise foreign(policy, game)
    return policy


def games_with(name: str) -> list[str]:
    """Return the games that have a policy of this name."""
    shipped = shipped_folder()
    return sorted(
        {
            file.parent.name
            for root in (Path(FOLDER), shipped)
            if root is not None
            for file in root.glob("*/*.json")
            if file.stem == name
        }
    )


def available(game: str) -> list[Policy]:
    """Return all policies that `find` finds by name, sorted; damaged ones are skipped (see `damaged`)."""
    return [policy for policy in _survey(game) if isinstance(policy, Policy)]


def damaged(game: str) -> list[InputError]:
    """Return the errors of files that have a policy's name but cannot be read."""
    return [error for error in _survey(game) if not isinstance(error, Policy)]


def _survey(game: str) -> list[Policy | InputError]:
    found: dict[str, Policy | InputError] = {}
    for folder in folders(game):
        for path in sorted(folder.glob("*.json")):
            if path.stem not in found:
                try:
                    found[path.stem] = read(path)
                except InputError as e:
                    found[path.stem] = e
    return [found[name] for name in sorted(found)]
