# SPDX-License-Identifier: Apache-2.0
"""`scons dist`: the archive of a release, build/dist/dynsel-<version>.tar.gz.

It has what git tracks, the guide and the man pages in manual/, and a bill of materials. The same commit gives the
same bytes: files are sorted, owners are 0, and all times are that of the commit, or SOURCE_DATE_EPOCH.
"""

import gzip
import io
import os
import re
import subprocess
import tarfile
from pathlib import Path

from . import docs, manual, sbom
from .errors import UserMistake, did_you_mean
from .nodes import action
from .version import read as read_version

FOLDER = "build/dist"


def declare(base, session, documents):
    """The alias dist. documents: the node of the guide."""
    top = session.top
    version = read_version(top)
    names, moment = ([], 0) if session.pretends else _release(top, version)

    def make(target, source, env):
        files = {name: Path(top, name).read_bytes() for name in names}
        for folder in (docs.HTML, docs.MAN):
            files.update(_manual(top, folder))
        modes = {name: 0o755 if name in files and os.access(Path(top, name), os.X_OK) else 0o644 for name in names}
        files[f"dynsel-{version}.spdx.json"] = sbom.document(version, moment, files).encode()
        data = archive(f"dynsel-{version}", files, modes, moment)
        Path(target[0].path).write_bytes(data)
        print(f"dist: {target[0].path}, {len(data)} bytes, {len(files)} files")
        return 0

    node = base.Command(f"#{FOLDER}/dynsel-{version}.tar.gz", documents, action(make, "  DIST  $TARGET"))
    base.AlwaysBuild(base.Alias("dist", node), node)


def _release(top, version):
    """The names of the files of a release, and its time, if the tree is one."""
    names = _tracked(top)
    _check_changes(top, version)
    return names, _moment(top)


def archive(root, files, modes, moment):
    """The bytes of a .tar.gz that depend on nothing but its arguments."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for name in sorted(files):
            entry = tarfile.TarInfo(f"{root}/{name}")
            entry.size, entry.mtime, entry.mode = len(files[name]), moment, modes.get(name, 0o644)
            tar.addfile(entry, io.BytesIO(files[name]))
    out = io.BytesIO()
    with gzip.GzipFile(filename="", fileobj=out, mode="wb", compresslevel=9, mtime=moment) as zipped:
        zipped.write(packed.getvalue())
    return out.getvalue()


def _manual(top, folder):
    """The files of a folder of documents, by path in the archive."""
    at = Path(top, folder)
    return {f"{manual.RELEASED}/{at.name}/{path.relative_to(at)}": path.read_bytes()
            for path in sorted(at.rglob("*")) if path.is_file() and ".doctrees" not in path.parts}


def _git(top, *words):
    try:
        said = subprocess.run(["git", *words], cwd=top, text=True, capture_output=True, check=False)
    except FileNotFoundError:
        raise UserMistake("dist asks git which files belong to a release; on Debian and Ubuntu: apt-get install git"
                          ) from None
    if said.returncode:
        raise UserMistake(f"dist packs what git tracks, so it needs a clone: git {words[0]}: {said.stderr.strip()}")
    return said.stdout


def _tracked(top):
    return [name for name in _git(top, "ls-files", "-z").split("\0") if name]


def _check_changes(top, version):
    """A release is a commit: what is not in one would not be found again. It has an entry in the changelog."""
    changed = [line[3:] for line in _git(top, "status", "--porcelain").splitlines()]
    if changed:
        listed = ", ".join(changed[:5]) + (f" and {len(changed) - 5} more" if len(changed) > 5 else "")
        raise UserMistake(f"dist packs a commit, and these files are not as in it: {listed}; commit, stash or ignore"
                          " them first")
    versions = re.findall(r"^## (\d+\.\d+\.\d+)", Path(top, "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    if version not in versions:
        raise UserMistake(f"CHANGELOG.md has no heading `## {version}`{did_you_mean(version, versions)}; the version"
                          " stands in include/dynsel/version.h")


def _moment(top):
    """Seconds since 1970: SOURCE_DATE_EPOCH, or when the commit was made."""
    given = os.environ.get("SOURCE_DATE_EPOCH")
    if given is None:
        return int(_git(top, "log", "-1", "--format=%ct"))
    if not re.fullmatch(r"\d{1,12}", given):
        raise UserMistake(f"SOURCE_DATE_EPOCH={given}: write seconds since 1970")
    return int(given)
