"""Write the missing .meta files of the Unity package, by which Unity identifies files and folders.

    python unity_support/metas.py

The GUID is made from the path, so it is the same on every machine. Existing .meta files stay as they are, since a GUID
must not change when its file is moved: move both together. A .meta file without its file is deleted.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent / "package"
IMPORTERS = {
    ".cs": "MonoImporter:\n  externalObjects: {}\n  serializedVersion: 2\n  defaultReferences: []\n"
    "  executionOrder: 0\n  icon: {instanceID: 0}",
    ".asmdef": "AssemblyDefinitionImporter:\n  externalObjects: {}",
    ".json": "PackageManifestImporter:\n  externalObjects: {}",
    ".md": "TextScriptImporter:\n  externalObjects: {}",
}
TAIL = "\n  userData: \n  assetBundleName: \n  assetBundleVariant: \n"


def needs_meta(path: Path) -> bool:
    """Return whether Unity needs a .meta file: it skips folders whose names end in ~, but copies those of Samples~."""
    parts = path.relative_to(PACKAGE).parts
    hidden = any(part.startswith(".") for part in parts) or path.suffix == ".meta"
    return not hidden and not parts[-1].endswith("~") and parts[0] != "Documentation~"


def meta_of(path: Path) -> Path:
    """Return the .meta file of a file or folder."""
    return path.with_name(path.name + ".meta")


def text_of(path: Path) -> str:
    """Return the content of a new .meta file."""
    name = "com.persona-evo.playtest/" + path.relative_to(PACKAGE).as_posix()
    head = f"fileFormatVersion: 2\nguid: {hashlib.md5(name.encode(), usedforsecurity=False).hexdigest()}\n"
    if path.is_dir():
        return head + "folderAsset: yes\nDefaultImporter:\n  externalObjects: {}" + TAIL
    return head + IMPORTERS.get(path.suffix, "DefaultImporter:\n  externalObjects: {}") + TAIL


def main() -> None:
    """Write missing .meta files, delete superfluous ones, and print both."""
    for path in sorted(PACKAGE.rglob("*")):
        if path.suffix == ".meta" and not path.with_suffix("").exists():
            path.unlink()
            print("deleted", path)
        elif needs_meta(path) and not meta_of(path).exists():
            meta_of(path).write_text(text_of(path), newline="\n")
            print("written", meta_of(path))


if __name__ == "__main__":
    main()
