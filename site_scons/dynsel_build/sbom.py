# SPDX-License-Identifier: Apache-2.0
"""The bill of materials of a release: SPDX 2.3, as JSON."""

import hashlib
import json
import re
import time

LICENCE = "Apache-2.0"
PICTURE = "examples/sepia/photo.png"  # in the public domain, see PHOTO.md beside it
OUTSIDE_HEADER = re.compile(rb"SPDX-License-Identifier: ([\w.-]+)")

# What a build of the library takes from elsewhere, none of it in the archive: name -> (kind, licence, purpose)
NEEDED = {
    "OpenCL-ICD-Loader": ("RUNTIME_DEPENDENCY_OF", "Apache-2.0 OR BSD-2-Clause", "backend opencl; also as ocl-icd"),
    "Open-MPI": ("OPTIONAL_DEPENDENCY_OF", "BSD-3-Clause", "backend mpi, where it is configured with it"),
    "MPICH": ("OPTIONAL_DEPENDENCY_OF", "mpich2", "backend mpi, where it is configured with it"),
    "SCons": ("BUILD_TOOL_OF", "MIT", "builds the library"),
    "Kconfiglib": ("BUILD_TOOL_OF", "ISC", "reads the menu"),
    "PyYAML": ("BUILD_TOOL_OF", "MIT", "reads the table of device targets"),
    "pyelftools": ("BUILD_TOOL_OF", "Unlicense", "measures objects"),
    "Sphinx": ("BUILD_TOOL_OF", "BSD-2-Clause", "made the guide and the man pages"),
    "Furo": ("BUILD_TOOL_OF", "MIT", "the look of the guide; its style sheets and scripts are in the guide"),
    "Doxygen": ("BUILD_TOOL_OF", "GPL-2.0-only", "made the reference; its output is not under its licence"),
}


def document(version, created, files):
    """The text of the bill. files: {path in the archive: content}; created: seconds since 1970."""
    entries = [_file(number, path, content) for number, (path, content) in enumerate(sorted(files.items()))]
    codes = sorted(_checksum(entry, "SHA1") for entry in entries)
    verification = hashlib.sha1("".join(codes).encode()).hexdigest()
    package = {
        "SPDXID": "SPDXRef-Package-dynsel", "name": "dynsel", "versionInfo": version,
        "downloadLocation": "NOASSERTION", "filesAnalyzed": True,
        "packageVerificationCode": {"packageVerificationCodeValue": verification},
        "licenseConcluded": LICENCE, "licenseDeclared": LICENCE, "copyrightText": "NOASSERTION",
        "licenseInfoFromFiles": sorted({entry["licenseConcluded"] for entry in entries}),
        "primaryPackagePurpose": "LIBRARY", "supplier": "NOASSERTION",
    }
    others = [{"SPDXID": f"SPDXRef-Package-{name}", "name": name, "downloadLocation": "NOASSERTION",
               "filesAnalyzed": False, "licenseConcluded": licence, "licenseDeclared": licence,
               "copyrightText": "NOASSERTION", "supplier": "NOASSERTION", "comment": purpose}
              for name, (_, licence, purpose) in NEEDED.items()]
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", package["SPDXID"])]
    relations += [(package["SPDXID"], "CONTAINS", entry["SPDXID"]) for entry in entries]
    relations += [(f"SPDXRef-Package-{name}", kind, package["SPDXID"]) for name, (kind, _, _) in NEEDED.items()]
    return json.dumps({
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"dynsel-{version}", "documentNamespace": f"urn:dynsel:{version}:{verification}",
        "creationInfo": {"created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(created)),
                         "creators": [f"Tool: dynsel-scons-dist-{version}"]},
        "packages": [package, *others], "files": entries,
        "relationships": [{"spdxElementId": a, "relationshipType": kind, "relatedSpdxElement": b}
                          for a, kind, b in relations],
        "hasExtractedLicensingInfos": [{
            "licenseId": "LicenseRef-public-domain", "name": "Public domain",
            "extractedText": f"{PICTURE} is in the public domain; see PHOTO.md beside it."}],
    }, indent=1) + "\n"


def _file(number, path, content):
    return {
        "SPDXID": f"SPDXRef-File-{number}", "fileName": f"./{path}",
        "checksums": [{"algorithm": "SHA1", "checksumValue": hashlib.sha1(content).hexdigest()},
                      {"algorithm": "SHA256", "checksumValue": hashlib.sha256(content).hexdigest()}],
        "licenseConcluded": _licence(path, content), "licenseInfoInFiles": [_in_file(path, content)],
        "copyrightText": "NOASSERTION",
    }


def _checksum(entry, algorithm):
    return next(c["checksumValue"] for c in entry["checksums"] if c["algorithm"] == algorithm)


def _licence(path, content):
    if path == PICTURE:
        return "LicenseRef-public-domain"
    if path.startswith("manual/html/_static/") or path.startswith("manual/html/reference/"):
        return "NOASSERTION"  # partly of Sphinx, Furo and Doxygen
    return _in_file(path, content) if OUTSIDE_HEADER.search(content[:400]) else LICENCE


def _in_file(path, content):
    found = OUTSIDE_HEADER.search(content[:400])
    return "LicenseRef-public-domain" if path == PICTURE else found.group(1).decode() if found else "NONE"
