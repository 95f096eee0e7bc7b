#!/usr/bin/env python3
"""Writes the manual page realm-rest(1) from the commands' own help, so that it names every subcommand and option.

    realm-rest --experimental-dump-help | manpage.py --version 1.2.3 --date 2026-01-31 > realm-rest.1
"""
import argparse
import json
import re
import sys

FILES = [
    ("realm-rest.yaml", "The configuration that \\fBserve\\fR reads when it is given neither files nor options."),
    ("/etc/realm-rest/realm-rest.yaml", "The configuration of the service, where a package has installed one."),
    ("DIR/.realm-rest/", "What the server keeps about its data folder DIR: attached realms, and digests of keys."),
]

ENVIRONMENT = [
    ("REALM_REST_KEY_NAME", "The encryption key of the realm NAME, with \\(oq_\\(cq for every \\(oq.\\(cq and \\(oq\\-\\(cq."),
    ("REALM_REST_ADMIN_KEY_FILE", "A file with the key of the administrator, for a server that has no keys yet."),
    ("SWIFT_BACKTRACE", "What a crash prints; the values of registers and memory are left out unless it says otherwise."),
]

SIGNALS = [
    ("SIGTERM, SIGINT", "End the server when running requests are done; a second one ends it at once."),
    ("SIGHUP", "Reads the configuration file and the certificates again, and opens the audit log again."),
]


def escaped(text):
    """The text as roff prints it: no character of it is a command."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga").replace("^", "\\(ha")
    return text.replace("~", "\\(ti").replace("$", "\\(Do")


def paragraph(text):
    """Lines of prose; those that are indented stay as they are."""
    lines = []
    for line in text.split("\n"):
        if line.startswith(" "):
            lines += [".PP", ".RS 4", ".nf", escaped(line.strip()), ".fi", ".RE", ".PP"]
        elif line:
            lines.append(guarded(escaped(line)))
    return lines


def guarded(line):
    """A line of text that begins with a mark of roff is still text."""
    return "\\&" + line if line[:1] in ".'" else line


def spelling(name):
    """An option's name as it is typed."""
    return {"long": "--", "longWithSingleDash": "-", "short": "-"}[name["kind"]] + name["name"]


def synopsis(path, command):
    """The command with the form of its arguments."""
    parts = ["\\fB" + escaped(path) + "\\fR"]
    shown = [one for one in command.get("arguments", []) if one["shouldDisplay"] and spelled(one) != "--help"]
    if any(one["kind"] != "positional" for one in shown):
        parts.append("[\\fIoptions\\fR]")
    for one in shown:
        if one["kind"] == "positional":
            word = "\\fI" + escaped(one["valueName"]) + "\\fR" + ("..." if one["isRepeating"] else "")
            parts.append(f"[{word}]" if one["isOptional"] else word)
    if command.get("subcommands"):
        parts.append("\\fIsubcommand\\fR")
    return " ".join(parts)


def spelled(argument):
    """The long name of an option; an empty text for an argument without name."""
    return spelling(argument["preferredName"]) if "preferredName" in argument else ""


def entry(argument):
    """An option or argument with what it is for."""
    if argument["kind"] == "positional":
        head = "\\fI" + escaped(argument["valueName"]) + "\\fR"
    else:
        head = ", ".join("\\fB" + escaped(spelling(name)) + "\\fR" for name in argument["names"])
        if argument["kind"] == "option":
            head += " \\fI" + escaped(argument["valueName"]) + "\\fR"
    text = argument.get("abstract") or argument.get("discussion") or ""
    notes = []
    values = argument.get("allValues", [])
    if values and not all(value in text for value in values):
        notes.append("One of " + ", ".join(values) + ".")
    default = argument.get("defaultValue")
    if default not in (None, "", "[]") or argument.get("valueName") == "args" and default:
        notes.append(f"Default: {default}.")
    return [".TP", head] + paragraph(" ".join([text] + notes).strip())


def section(path, command):
    """What a subcommand does, and all its options."""
    lines = [f".SS {escaped(path)}", synopsis("realm-rest " + path, command), ".PP"]
    lines += paragraph(command.get("abstract", ""))
    if command.get("discussion"):
        lines += [".PP"] + paragraph(command["discussion"])
    for argument in command.get("arguments", []):
        if argument["shouldDisplay"] and spelled(argument) not in ("--help", "--version"):
            lines += entry(argument)
    for child in command.get("subcommands", []):
        lines += section(path + " " + child["commandName"], child)
    return lines


def page(command, version, date):
    """The whole page."""
    abstract = re.sub(r"\.$", "", command["abstract"])
    lines = [
        f'.TH REALM\\-REST 1 "{date}" "realm-rest {version}" "User Commands"', ".nh", ".ad l", ".SH NAME",
        "realm\\-rest \\- " + escaped(abstract[0].lower() + abstract[1:]), ".SH SYNOPSIS",
        "\\fBrealm\\-rest\\fR \\fIsubcommand\\fR [\\fIoptions\\fR] [\\fIarguments\\fR]", ".SH DESCRIPTION",
        "Realm databases live in files of apps. \\fBrealm\\-rest\\fR opens these files itself and serves them over HTTP and JSON:",
        "queries, aggregates, writes, transactions, changes as they happen, schemas and migrations. More subcommands look into",
        "files, copy them, and move what they hold. Browsers find a console at the address of a server.", ".PP",
        "Without a file at hand, \\fBrealm\\-rest demo\\fR makes a sample realm and serves it.", ".SH OPTIONS",
    ]
    for argument in command["arguments"]:
        lines += entry(argument)
    lines += [".PP", "Every subcommand takes \\fB\\-\\-help\\fR.", ".SH SUBCOMMANDS"]
    for child in command["subcommands"]:
        if child["shouldDisplay"] and child["commandName"] != "help":
            lines += section(child["commandName"], child)
    for title, rows in [("FILES", FILES), ("ENVIRONMENT", ENVIRONMENT), ("SIGNALS", SIGNALS)]:
        lines.append(f".SH {title}")
        for name, text in rows:
            lines += [".TP", "\\fB" + escaped(name) + "\\fR", text]
    lines += [
        ".SH EXIT STATUS", "0 on success, 1 when something failed, 64 when the command line cannot be understood, as",
        "\\fBsysexits.h\\fR(3head) has it.", ".SH EXAMPLES", ".TP", "\\fBrealm\\-rest serve app.realm\\fR",
        "Serves a file on loopback, port 8080.", ".TP",
        "\\fBrealm\\-rest query app.realm Person \\(aqage > 21 SORT(name ASC)\\(aq \\-\\-format csv\\fR",
        "Prints objects without a server.", ".SH SEE ALSO", "The server describes its interface at /v1/openapi.json and /docs/.",
    ]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--version", required=True)
    parser.add_argument("--date", required=True, help="the day of the page, as in 2026-01-31")
    options = parser.parse_args()
    sys.stdout.write(page(json.load(sys.stdin)["command"], options.version, options.date))


if __name__ == "__main__":
    main()
