#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the commands of README.md and docs/*.md against the sample realm, and compares what the documents say is answered."""

import argparse
import re
import shutil
import sys
import time
from collections import Counter
from pathlib import Path

import answers
import documents
from playground import Failure, Files, Playground, ROOT, SERVING, postgres

# The programs that commands may begin with. Anything else is not run, and has to be in skipped.txt.
PROGRAMS = re.compile(r"^(?:\w+=|export |(?:[.\w/-]*/)?(?:realm-rest|curl|head|tail|wc|printf|sleep|sqlite3|psql|jq|mkdir|cat|sed|chmod|od)\b)")
# Blocks that are neither commands nor answers, by their language, and why they are not run.
LANGUAGES = {
    "json": "a document for reading; it has to be JSON", "yaml": "a part of a configuration; AccessRecipeTests tries the recipes of docs/access.md",
    "html": "a page for browsers", "nginx": "a configuration of another program", "": "a drawing",
}
STREAMING = re.compile(r"^(curl( .*)? -N |\S*realm-rest watch )(?!.*(--max-time|--once))", re.S)


class Skips:
    """Commands that cannot run, with reasons: lines of `document | regular expression | reason`."""

    def __init__(self, file):
        self.entries = []
        for number, line in enumerate(file.read_text().splitlines(), 1):
            if line.strip() and not line.startswith("#"):
                document, pattern, reason = re.split(r" +\| +", line.strip(), maxsplit=2)
                self.entries.append({"document": document, "pattern": re.compile(pattern), "reason": reason, "line": number, "used": 0})

    def reason(self, document, command):
        for entry in self.entries:
            if entry["document"] != document or not entry["pattern"].search(command):
                continue
            entry["used"] += 1
            program = re.fullmatch(r"needs (\S+)", entry["reason"])
            if not program or not is_there(program[1]):
                return entry["reason"]
        return None

    def unused(self, read):
        return [entry for entry in self.entries if not entry["used"] and entry["document"] in read]


def is_there(program):
    """Whether a program is installed. The server of PostgreSQL is in a folder of its own."""
    return postgres.binaries() is not None if program == "postgresql" else shutil.which(program)


class Trial:
    """The run of one document."""

    def __init__(self, name, options, files, skips, totals):
        self.name, self.options, self.skips, self.totals = name, options, skips, totals
        self.file = ROOT / name
        self.text = self.file.read_text()
        self.playground = Playground(name, options.server, files)
        self.bindings = answers.Bindings()
        self.failures, self.filled = [], {}

    def run(self):
        try:
            for part in documents.read(self.text):
                if isinstance(part, documents.Step):
                    self.step(part)
                elif isinstance(part, documents.QueryTable):
                    self.table(part)
                else:
                    self.shown(part)
            self.settle()
        finally:
            self.playground.remove()
        if self.filled:
            self.fill()
        return self.failures

    def fail(self, line, text):
        self.failures.append(f"{self.name}:{line}: {text}")

    def step(self, step):
        """Runs the commands of a block and compares their answer."""
        printed, statuses, ran, streaming = [], [], 0, False
        for command, line in step.commands:
            reason = self.skips.reason(self.name, command)
            if reason:
                self.totals["skipped", reason] += 1
                continue
            if not PROGRAMS.search(command):
                self.fail(line, f"`{command.split()[0]}` is no program that the test runs; skipped.txt lists what is left out")
                continue
            self.totals["commands"] += 1
            ran += 1
            try:
                command = self.bindings.resolve(command)
                if STREAMING.search(command):
                    streaming = True
                    self.stream(step, command)
                elif SERVING.search(command):
                    self.playground.serve(command)
                else:
                    self.one(step, command, line, printed, statuses)
            except Failure as failure:
                self.fail(line, str(failure))
        if step.answer and not streaming and ran:
            self.answer(step.answer, printed, statuses)
        if not streaming:
            self.settle()

    def one(self, step, command, line, printed, statuses):
        text, codes, code, complaint = self.playground.run(command)
        printed.append(text if text.endswith("\n") or not text else text + "\n")
        statuses += codes
        if not step.answer and any(status >= 400 or status == 0 for status in codes):
            self.fail(line, f"answered {codes}: {text.strip()[:400]} {complaint[:200]}")
        elif not step.answer and code != 0:
            self.fail(line, f"ended with {code}: {complaint[:400]}")
        if step.answer and not text and complaint:
            printed.append(complaint + "\n")

    def answer(self, answer, printed, statuses):
        actual = "".join(printed)
        if answer.text.strip() == "?":
            self.filled[answer.line] = self.bindings.shown(actual).replace("\r", "").rstrip("\n")
            return
        self.totals["answers"] += 1
        known = dict(self.bindings.actual)
        wrong = answers.compare(answer, actual, self.bindings)
        if wrong:
            self.bindings.actual = known
            self.fail(answer.line, wrong + beside(answer.text, self.bindings.shown(actual)))
        elif self.options.update:
            print(f"{self.name}:{answer.line}: as shown{beside(answer.text, self.bindings.shown(actual))}")

    def stream(self, step, command):
        """Begins a stream. What it is said to print is compared after the next commands, which cause it."""
        out, pid = self.playground.begin(command)
        self.playground.streams.append((out, pid, step.answer))
        time.sleep(1)

    def settle(self):
        """Compares what open streams have printed, and ends them."""
        streams, self.playground.streams = self.playground.streams, []
        for out, pid, answer in streams:
            end = time.monotonic() + 5
            while True:
                text = self.playground.shown(out.read_text(errors="replace"))
                known = dict(self.bindings.actual)
                fits = answer is None or answers.contains_lines(answer.text, text, self.bindings)
                if fits or time.monotonic() > end:
                    break
                self.bindings.actual = known
                time.sleep(0.1)
            self.playground.end(pid)
            if answer is None:
                continue
            if answer.text.strip() == "?":
                self.filled[answer.line] = self.bindings.shown(text).rstrip("\n")
                continue
            self.totals["answers"] += 1
            if not fits:
                self.bindings.actual = known
                self.fail(answer.line, "the stream does not say this" + beside(answer.text, self.bindings.shown(text)))

    def table(self, table):
        """Compares how many objects the queries of a table match."""
        for queries, arguments, expected, line in table.rows:
            for query in queries:
                self.totals["queries"] += 1
                actual, detail = self.playground.count(table.class_name, query, arguments)
                if expected == "?":
                    self.filled.setdefault(line, actual)
                    if self.filled[line] != actual or detail:
                        self.fail(line, f"`{query}` gives {actual} ({detail})")
                elif actual != expected:
                    self.fail(line, f"`{query}` gives {actual}, not {expected}" + (f" ({detail})" if detail else ""))

    def shown(self, part):
        """Counts a block that is only looked at. JSON has to be JSON."""
        if part.language not in LANGUAGES:
            self.fail(part.line, f"a block of the language '{part.language}' that answers no command")
        self.totals["shown", f"{part.language or 'no language'}: {LANGUAGES.get(part.language, '')}"] += 1
        if part.language == "json":
            try:
                answers.documents(part.text)
            except ValueError as error:
                self.fail(part.line, f"is no JSON: {error}")

    def fill(self):
        """Writes answers in the place of question marks."""
        lines = self.text.split("\n")
        for line in sorted(self.filled, reverse=True):
            if lines[line - 1].strip() == "?":
                lines[line - 1:line] = self.filled[line].split("\n")
            else:
                lines[line - 1] = re.sub(r"\| \? ", f"| {self.filled[line]} ", lines[line - 1], count=1)
        if self.options.fill:
            self.file.write_text("\n".join(lines))
            print(f"{self.name}: {len(self.filled)} answers filled in")
        else:
            self.fail(min(self.filled), "an answer is not filled in; --fill does it")


def beside(shown, actual):
    """Returns the shown and the actual answer for a message."""
    cut = lambda text: "\n".join("      " + line for line in text.strip("\n").split("\n")[:40])[:6000]
    return f"\n    shown:\n{cut(shown)}\n    actual:\n{cut(actual)}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--server", required=True, help="the program")
    parser.add_argument("--update", action="store_true", help="print the real answer beside each that is shown")
    parser.add_argument("--fill", action="store_true", help="write the real answer in the place of each `?`")
    parser.add_argument("documents", nargs="*", help="documents below the repository; without them all")
    options = parser.parse_args()
    options.server = str(Path(options.server).resolve())
    names = options.documents or ["README.md", *sorted(f"docs/{file.name}" for file in (ROOT / "docs").glob("*.md"))]
    skips, totals, failures = Skips(Path(__file__).parent / "skipped.txt"), Counter(), []
    files = Files(options.server)
    try:
        for name in names:
            before = totals.copy()
            failures += Trial(name, options, files, skips, totals).run()
            ran = totals - before
            print(f"{name}: {ran['commands']} commands, {ran['answers']} answers, {ran['queries']} queries in tables")
    finally:
        files.remove()
    failures += [f"Tests/System/Docs/skipped.txt:{entry['line']}: nothing matches this" for entry in skips.unused(names)]
    report(totals, failures)
    sys.exit(1 if failures else 0)


def report(totals, failures):
    for failure in failures:
        print(failure)
    print(f"{totals['commands']} commands run, {totals['answers']} answers compared, {totals['queries']} queries counted")
    for kind, title in [("skipped", "commands not run"), ("shown", "blocks that are neither commands nor answers")]:
        found = {key[1]: count for key, count in totals.items() if isinstance(key, tuple) and key[0] == kind}
        print(f"{sum(found.values())} {title}")
        for name, count in sorted(found.items()):
            print(f"  {count:3} {name}")
    print(f"{len(failures)} failures" if failures else "everything is as the documents say")


if __name__ == "__main__":
    main()
