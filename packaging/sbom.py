#!/usr/bin/env python3
"""Writes what a program is made of as CycloneDX JSON: Swift packages and Debian's libraries.

    sbom.py --program realm-rest --version 1.2.3 --resolved Package.resolved --checkouts .build/checkouts > realm-rest.cdx.json

Versions and licences are read where they are: Package.resolved, the checkouts, and Debian's records of the libraries that the
loader finds. The document is the same for the same program.
"""
import argparse
import gzip
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import time
import urllib.parse
import uuid

# Words of Debian's copyright files, and what the SPDX list calls the same licence.
SPDX = {
    "Expat": "MIT", "MIT": "MIT", "Apache-2.0": "Apache-2.0", "BSD-2-clause": "BSD-2-Clause", "BSD-3-clause": "BSD-3-Clause",
    "BSD-3-Clause": "BSD-3-Clause", "BSD-4-clause": "BSD-4-Clause", "GPL-2+": "GPL-2.0-or-later", "GPL-2": "GPL-2.0-only",
    "GPL-3+": "GPL-3.0-or-later", "GPL-3": "GPL-3.0-only", "LGPL-2+": "LGPL-2.0-or-later", "LGPL-2.1+": "LGPL-2.1-or-later",
    "LGPL-2.1": "LGPL-2.1-only", "LGPL-3+": "LGPL-3.0-or-later", "LGPL-3": "LGPL-3.0-only", "ISC": "ISC", "Zlib": "Zlib",
    "zlib": "Zlib", "curl": "curl", "OpenLDAP-2.8": "OLDAP-2.8", "MPL-2.0": "MPL-2.0", "GFDL-1.3+": "GFDL-1.3-or-later",
    "GFDL-1.3": "GFDL-1.3-only", "CC0": "CC0-1.0", "CC0-1.0": "CC0-1.0", "public-domain": None, "GAP": "FSFAP",
}


def output(*command):
    """What a command prints; an empty text where it fails."""
    environment = os.environ | {"LC_ALL": "C"}
    return subprocess.run(command, capture_output=True, text=True, env=environment).stdout


def licence(text):
    """The licence that a file of a source package contains."""
    if "Apache License" in text:
        return {"expression": "Apache-2.0 WITH Swift-exception" if "Runtime Library Exception" in text else "Apache-2.0"}
    if "Permission is hereby granted, free of charge" in text:
        return {"license": {"id": "MIT"}}
    return {"license": {"name": "see the file of the package"}}


def component(name, version, reference, licences, linkage, **more):
    """One entry of the document."""
    return {
        "type": "library", "bom-ref": reference, "name": name, "version": version, "licenses": licences,
        "properties": [{"name": "realm-rest:linkage", "value": linkage}],
    } | more


def swift_packages(resolved, checkouts):
    """The packages that the build resolved."""
    for pin in sorted(json.loads(pathlib.Path(resolved).read_text())["pins"], key=lambda pin: pin["identity"]):
        state, place = pin["state"], re.sub(r"\.git$", "", pin["location"].split("://")[-1])
        name = place.rsplit("/", 1)[-1]
        folder = pathlib.Path(checkouts, name)
        texts = [path.read_text() for path in sorted(folder.glob("LICENSE*"))]
        version = state.get("version") or state["revision"]
        purl = f"pkg:swift/{place}@{version}"
        yield component(
            name, version, purl, [licence(texts[0] if texts else "")], "static", purl=purl,
            pedigree={"commits": [{"uid": state["revision"]}]})


def toolchain():
    """The runtime and the standard library of Swift."""
    version = re.search(r"Swift version (\S+)", output("swift", "--version"))
    if version:
        purl = f"pkg:generic/swift@{version.group(1)}"
        yield component(
            "swift", version.group(1), purl, [{"expression": "Apache-2.0 WITH Swift-exception"}], "static", purl=purl,
            description="The runtime, the standard library and Foundation of the toolchain.")


def debian_licences(package):
    """The licences that Debian's copyright file of a package names."""
    path = pathlib.Path("/usr/share/doc", package, "copyright")
    text = path.read_text(errors="replace") if path.exists() else ""
    if not text.startswith("Format:") and "\nFormat:" not in text[:500]:
        return [{"license": {"name": f"see /usr/share/doc/{package}/copyright"}}]
    names = set()
    for line in re.findall(r"^License:[ \t]*(\S.*)$", text, re.M):
        names.update(re.split(r"\s+(?:and/or|and|or)\s+|,\s*", line.strip()))
    names = sorted(name for name in names if name and SPDX.get(name, name))
    return [{"license": {"id": SPDX[name]} if SPDX.get(name) else {"name": name}} for name in names]


def debian_component(package, linkage):
    """A package of Debian as it is installed."""
    name, version, architecture, source = output(
        "dpkg-query", "-W", "-f=${Package}\t${Version}\t${Architecture}\t${source:Package}", package).split("\t")
    release = re.search(r'VERSION_ID="?([\d.]+)', pathlib.Path("/etc/os-release").read_text()).group(1)
    purl = f"pkg:deb/debian/{name}@{urllib.parse.quote(version)}?arch={architecture}&distro=debian-{release}"
    return component(
        name, version, purl, debian_licences(name), linkage, purl=purl, supplier={"name": "Debian"},
        description=f"Binary package of the source package {source}.")


def owners(paths):
    """The package of each library, whether it is recorded with or without /usr."""
    names = {name: path for path in paths for name in (os.path.realpath(path), re.sub("^/usr", "", os.path.realpath(path)))}
    found = {}
    for line in output("dpkg", "-S", *names).splitlines():
        package, name = line.split(": ", 1)
        found[names.get(name)] = package.split(":")[0]
    return found


def debian_packages(program):
    """Debian's libraries that the loader finds for the program, and the one that was linked in."""
    needed = set(re.findall(r"NEEDED.*\[(.+)\]", output("readelf", "-d", program)))
    lines = [line.split() for line in output("ldd", program).splitlines()]
    paths = {words[2]: words[0] for words in lines if words[1:2] == ["=>"] and words[2].startswith("/")}
    found = owners(paths)
    direct = {found[path] for path, name in paths.items() if path in found and name in needed}
    further = set(found.values()) - direct
    yield debian_component("libintelrdfpmath-dev", "static")
    for package in sorted(direct | further):
        yield debian_component(package, "dynamic" if package in direct else "dynamic, by another library")


def document(options):
    """The whole document."""
    program = pathlib.Path(options.program).read_bytes()
    digest = hashlib.sha256(program).hexdigest()
    stamp = int(os.environ.get("SOURCE_DATE_EPOCH", time.time()))
    reference = f"pkg:generic/realm-rest@{options.version}"
    parts = [*toolchain(), *swift_packages(options.resolved, options.checkouts), *debian_packages(options.program)]
    return {
        "bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, reference + '#' + digest)}",
        "metadata": {
            "timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(stamp)),
            "component": {
                "type": "application", "bom-ref": reference, "name": "realm-rest", "version": options.version, "purl": reference,
                "licenses": [{"license": {"id": "Apache-2.0"}}], "hashes": [{"alg": "SHA-256", "content": digest}],
            },
        },
        "components": parts,
        "dependencies": [{"ref": reference, "dependsOn": sorted(part["bom-ref"] for part in parts)}],
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("program", "version", "resolved", "checkouts"):
        parser.add_argument("--" + name, required=True)
    json.dump(document(parser.parse_args()), sys.stdout, indent=2, ensure_ascii=False)
    print()


if __name__ == "__main__":
    main()
