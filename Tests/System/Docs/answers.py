# SPDX-License-Identifier: Apache-2.0
"""Compares what a document says with what was answered."""

import json
import re

# What differs from run to run and is written as it looks: the version of a realm, whose first half is random, and cursors of
# pages. `<name>` stands for any text that later commands may use, `…` for any text.
VARYING = re.compile(r"(?P<any>…)|(?P<name><[a-z][a-z ]*>)|(?P<cursor>b64\.[\w-]*…?)|"
                     r"(?:(?<![\w.])|(?<=\bv\.)|(?<=\bs\.))(?P<epoch>(?=[0-9a-z]{8}\.)(?=[0-9]*[a-z])[0-9a-z]{8})(?=\.\d+(?![\w.]))")


class Bindings:
    """What the varying texts of one document stand for."""

    def __init__(self):
        self.actual = {}

    def bind(self, shown, actual):
        """Whether a text may stand for another one, as it does already, or for the first time."""
        return self.actual.setdefault(shown, actual) == actual

    def resolve(self, command):
        """Returns a command with the texts of this run in the place of those that the document shows."""
        for shown in sorted(self.actual, key=len, reverse=True):
            if not shown.endswith("…"):
                command = command.replace(shown, self.actual[shown])
        return command

    def shown(self, text, epoch="8zf28th3"):
        """Returns an answer as a document would show it."""
        for shown, actual in self.actual.items():
            text = text.replace(actual, shown)
        for found in VARYING.finditer(text):
            if found["epoch"] and found["epoch"] not in self.actual and found["epoch"] != epoch:
                self.bind(epoch, found["epoch"])
                text = text.replace(found["epoch"] + ".", epoch + ".")
        text = re.sub(r"\b01[0-9a-f]{6}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}", "…", text)
        return re.sub(r'("expiresAt":")[^"]*', r"\1…", text)


def matches(shown, actual, bindings):
    """Whether a line or text fits; what varies in it is bound."""
    pattern, names, end = "", [], 0
    for found in VARYING.finditer(shown):
        pattern += re.escape(shown[end:found.start()])
        end = found.end()
        if found["any"]:
            pattern += ".*?"
            continue
        names.append(found[0])
        pattern += {"name": r"(\S+?)", "cursor": r"(b64\.[\w-]*)", "epoch": r"([0-9a-z]+)"}[found.lastgroup]
    fit = re.fullmatch(pattern + re.escape(shown[end:]), actual, re.DOTALL)
    return bool(fit) and all(bindings.bind(name, value) for name, value in zip(names, fit.groups()))


def compare(answer, actual, bindings):
    """Returns what differs; None when the answer is as shown."""
    if answer.language == "http":
        return compare_http(answer.text, actual, bindings)
    if answer.language == "json":
        return compare_json(answer.text, actual, bindings)
    return compare_lines(answer.text, actual, bindings)


def compare_lines(shown, actual, bindings):
    """Compares texts line by line. A line `…` stands for any number of lines."""
    want = [line.rstrip() for line in shown.strip("\n").split("\n")]
    have = [line.rstrip() for line in actual.strip("\n").split("\n")]
    return None if fit_lines(want, have, bindings) else "differs"


def fit_lines(want, have, bindings):
    if not want:
        return not have
    if want[0].strip() == "…":
        return any(fit_lines(want[1:], have[count:], bindings) for count in range(len(have) + 1))
    return bool(have) and matches(want[0], have[0], bindings) and fit_lines(want[1:], have[1:], bindings)


def contains_lines(shown, actual, bindings):
    """Whether a passage of a stream is as shown."""
    want = [line.rstrip() for line in shown.strip("\n").split("\n")]
    have = [line.rstrip() for line in actual.strip("\n").split("\n")]
    return any(fit_lines(want, have[start:start + len(want)], bindings) for start in range(len(have))) or (
        "…" in [line.strip() for line in want] and fit_lines(["…"] + want + ["…"], have, bindings))


def compare_http(shown, actual, bindings):
    """Compares the status and the header fields that are shown; further ones may be there. Then the body, if one is shown."""
    want_head, _, want_body = shown.partition("\n\n")
    heads = actual.replace("\r\n", "\n")
    while True:
        have_head, _, have_body = heads.partition("\n\n")
        if not re.match(r"HTTP/\S+ 1\d\d", have_head):
            break
        heads = have_body
    want, have = want_head.strip().split("\n"), have_head.split("\n")
    if not matches(want[0].strip(), have[0].strip(), bindings):
        return f"status is {have[0]}"
    for field in want[1:]:
        if field.strip() == "…":
            continue
        name, _, value = field.partition(":")
        found = [line.partition(":")[2].strip() for line in have if line.lower().startswith(name.lower() + ":")]
        if not any(matches(value.strip(), one, bindings) for one in found):
            return f"{name} is {found or 'missing'}"
    if not want_body.strip():
        return None
    try:
        documents(want_body)
    except ValueError:
        return compare_lines(want_body, have_body, bindings)
    return compare_json(want_body, have_body, bindings)


def compare_json(shown, actual, bindings):
    """Compares JSON documents as such: the order of members and blanks do not count, digits do."""
    try:
        want = documents(shown)
    except ValueError as error:
        return f"the document shows no JSON: {error}"
    try:
        have = documents(actual, plain=True)
    except ValueError:
        return "the answer is no JSON"
    if len(want) != len(have):
        return f"{len(have)} documents in the place of {len(want)}"
    for one, other in zip(want, have):
        place = difference(one, other, "", bindings)
        if place is not None:
            return f"differs at {place or 'the root'}"
    return None


class Digits(str):
    """A number as it is written."""


def documents(text, plain=False):
    """Returns the JSON documents of a text. A bare `…` stands for further members or elements, or for any value."""
    decoder = json.JSONDecoder(parse_float=Digits, parse_int=Digits)
    text = text if plain else quoted(text)
    found, index = [], 0
    while text[index:].strip():
        index += len(text[index:]) - len(text[index:].lstrip())
        value, index = decoder.raw_decode(text, index)
        found.append(value)
    return found


def quoted(text):
    """Puts quotes around each bare `…`, so that the text is JSON."""
    out, stack, last, index = [], [], "", 0
    while index < len(text):
        character = text[index]
        if character == '"':
            end = index + 1
            while end < len(text) and text[end] != '"':
                end += 2 if text[end] == "\\" else 1
            out.append(text[index:end + 1])
            index, last = end + 1, '"'
            continue
        if character == "…":
            out.append('"…":"…"' if stack and stack[-1] == "{" and last in "{," else '"…"')
            last = '"'
        else:
            out.append(character)
            if character in "{[":
                stack.append(character)
            elif character in "}]" and stack:
                stack.pop()
            if not character.isspace():
                last = character
        index += 1
    return "".join(out)


def difference(want, have, place, bindings):
    """Returns the place of the first difference as a JSON Pointer; None when there is none."""
    if want == "…" and not isinstance(want, Digits):
        return None
    if type(want) is not type(have):
        return place
    if isinstance(want, dict):
        return member_difference(want, have, place, bindings)
    if isinstance(want, list):
        return None if fit_elements(want, have, bindings) else element_difference(want, have, place, bindings)
    if isinstance(want, str) and not isinstance(want, Digits):
        return None if matches(want, have, bindings) else place
    return None if want == have else place


def member_difference(want, have, place, bindings):
    if "…" not in want and set(want) != set(have):
        return f"{place}/{sorted(set(want) ^ set(have))[0]}"
    for name, value in want.items():
        if name == "…":
            continue
        found = difference(value, have[name], f"{place}/{name}", bindings) if name in have else f"{place}/{name}"
        if found is not None:
            return found
    return None


def fit_elements(want, have, bindings):
    if not want:
        return not have
    if want[0] == "…":
        return any(fit_elements(want[1:], have[count:], bindings) for count in range(len(have), -1, -1))
    return bool(have) and difference(want[0], have[0], "", bindings) is None and fit_elements(want[1:], have[1:], bindings)


def element_difference(want, have, place, bindings):
    for index, (one, other) in enumerate(zip(want, have)):
        if one == "…":
            break
        found = difference(one, other, f"{place}/{index}", bindings)
        if found is not None:
            return found
    return place + "/" + str(min(len(want), len(have)))
