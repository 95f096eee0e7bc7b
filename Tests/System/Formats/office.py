# SPDX-License-Identifier: Apache-2.0
"""What LibreOffice finds in workbooks: each sheet written as CSV, and compared with the expected dump."""
import csv
import re
import subprocess
import sys

# All sheets, in UTF-8, with commas, each cell as its value and not as it is shown; texts in quotes.
FILTER = "csv:Text - txt - csv (StarCalc):44,34,76,1,,0,true,false,false,false,false,-1"
CLEAN = re.compile(r"[\0-\x08\x0b-\x1f\ufffd\ufffe\uffff]")


def compare(books, scratch):
    """Opens workbooks; returns for each name the number of compared cells and the failures.

    - books: A file and a dump for each name.
    """
    csv.field_size_limit(sys.maxsize)
    target = scratch / "office"
    target.mkdir()
    subprocess.run(["soffice", f"-env:UserInstallation=file://{scratch}/profile", "--headless", "--convert-to", FILTER, "--outdir", target,
                    *(file for file, _ in books.values())], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=900)
    return {name: book(name, dump, target) for name, (_, dump) in books.items()}


def book(name, dump, folder):
    """Compares the sheets of one workbook."""
    count, failures = 0, []
    for form in dump["classes"]:
        if form["objects"] is None:
            continue
        file = folder / f"{name}-{form['name'][:31]}.csv"
        if not file.exists():
            failures.append(f"{form['name']}: LibreOffice has no such sheet")
            continue
        with open(file, encoding="utf-8", newline="") as opened:
            rows = list(csv.reader(opened))
        if len(rows) != len(form["objects"]) + 1:
            failures.append(f"{form['name']}: {len(rows) - 1} rows instead of {len(form['objects'])}")
            continue
        shift = 0 if form["primaryKey"] else 1
        for row, item in zip(rows[1:], form["objects"]):
            for index, p in enumerate(form["properties"]):
                wanted = item["values"][p["name"]]
                if p["collection"] or p["type"] not in ("int", "bool", "string") or isinstance(wanted, dict):
                    continue
                found = row[index + shift] if index + shift < len(row) else ""
                count += 1
                if not same(found, wanted):
                    failures.append(f"{form['name']}.{p['name']} {item['key']}: {found!r:.100} instead of {wanted!r:.100}")
    return count, failures[:5]


def same(found, wanted):
    """Whether a cell is a value; an empty one may be null or an empty text."""
    if wanted is None:
        return found == ""
    if isinstance(wanted, bool):
        return found == ("TRUE" if wanted else "FALSE")
    if isinstance(wanted, int):
        return found == str(wanted)
    # Line ends are those of XML, and what XML cannot hold has escapes that LibreOffice reads.
    clean = lambda text: CLEAN.sub("?", re.sub(r"_x([0-9A-Fa-f]{4})_", lambda match: chr(int(match[1], 16)), text).replace("\r\n", "\n").replace("\r", "\n"))
    return clean(found) == clean(wanted)
