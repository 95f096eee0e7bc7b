# SPDX-License-Identifier: Apache-2.0
"""Reads the commands of a Markdown document, what they are said to answer, and the tables of queries."""

import re
import subprocess
from dataclasses import dataclass, field

COMMANDS = ("sh", "console")


@dataclass
class Answer:
    """A fenced block that shows what the commands before it print."""

    language: str
    text: str
    line: int


@dataclass
class Step:
    """Commands that stand in one block, and their answer; None when the document shows none."""

    commands: list  # of (text, line)
    line: int
    answer: Answer | None = None


@dataclass
class QueryTable:
    """A table whose first column has queries on a class, and which says how many objects match."""

    class_name: str
    rows: list = field(default_factory=list)  # of (queries, arguments, expected, line)


@dataclass
class Shown:
    """A fenced block that is neither a command nor an answer."""

    language: str
    text: str
    line: int


def read(text):
    """Returns the parts of a document in their order."""
    lines = text.split("\n")
    parts, index = [], 0
    while index < len(lines):
        fence = re.match(r"^( *)```(\S*)\s*$", lines[index])
        if fence:
            end = index + 1
            while end < len(lines) and not re.match(r"^ *```\s*$", lines[end]):
                end += 1
            indentation = len(fence[1])
            body = [line[indentation:] if line[:indentation].strip() == "" else line for line in lines[index + 1:end]]
            add_block(parts, lines, index, fence[2], body)
            index = end + 1
        elif re.match(r"^\| *`\w+` where *\|", lines[index]):
            index = read_table(parts, lines, index)
        else:
            index += 1
    return parts


def add_block(parts, lines, index, language, body):
    """Adds the part that a fenced block is. `index` is that of its first line."""
    if language == "console":
        parts.extend(console(body, index + 2))
    elif language in COMMANDS:
        parts.append(Step(split(body, index + 2), index + 1))
    elif parts and isinstance(parts[-1], Step) and parts[-1].answer is None and follows(lines, index):
        parts[-1].answer = Answer(language, "\n".join(body), index + 2)
    else:
        parts.append(Shown(language, "\n".join(body), index + 2))


def follows(lines, index):
    """Whether only empty lines stand between a fence and the end of the block before it."""
    index -= 1
    while index >= 0 and not lines[index].strip():
        index -= 1
    return index >= 0 and lines[index].strip() == "```"


def split(lines, first):
    """Returns the commands of a block with their lines. A command ends where the shell would begin it."""
    commands, begun, start = [], [], first
    for offset, line in enumerate(lines):
        if not begun:
            start = first + offset
            if not line.strip() or line.lstrip().startswith("#"):
                continue
        begun.append(line)
        if not line.rstrip().endswith("\\") and is_complete("\n".join(begun)):
            commands.append(("\n".join(begun), start))
            begun = []
    if begun:
        commands.append(("\n".join(begun), start))
    return commands


def is_complete(command):
    """Whether the shell would not wait for another line."""
    checked = subprocess.run(["bash", "-n", "-c", command], capture_output=True)
    return checked.returncode == 0 and b"here-document" not in checked.stderr


def console(lines, first):
    """Returns the steps of a block in which `$ ` begins commands and everything else is their answer."""
    steps, index = [], 0
    while index < len(lines):
        if not lines[index].startswith("$ "):
            index += 1
            continue
        start, command = index, lines[index][2:]
        while (command.endswith("\\") or not is_complete(command)) and index + 1 < len(lines):
            index += 1
            command += "\n" + lines[index]
        index += 1
        output = index
        while index < len(lines) and not lines[index].startswith("$ "):
            index += 1
        answer = "\n".join(lines[output:index]).strip("\n")
        steps.append(Step([(command, first + start)], first + start, Answer("", answer, first + output) if answer else None))
    return steps


def read_table(parts, lines, index):
    """Adds a table of queries, and returns the index of the line behind it."""
    head = cells(lines[index])
    table = QueryTable(re.match(r"`(\w+)`", head[0])[1])
    arguments = head.index("Arguments") if "Arguments" in head else None
    matches = head.index("Matches")
    index += 2
    while index < len(lines) and lines[index].startswith("|"):
        row = cells(lines[index])
        given = spans(row[arguments]) if arguments is not None else []
        table.rows.append((spans(row[0]), given[0] if given else None, row[matches].strip("`"), index + 1))
        index += 1
    parts.append(table)
    return index


def cells(line):
    """Returns the cells of a line of a table. A bar behind a backslash belongs to its cell."""
    return [cell.replace("\\|", "|").strip() for cell in re.split(r"(?<!\\)\|", line.strip())[1:-1]]


def spans(cell):
    """Returns the pieces of code in a cell."""
    return [code.strip() for _, code in re.findall(r"(`+)(.+?)\1", cell)]
