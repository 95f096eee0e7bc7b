// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// A comment says what its declaration does not: a unit, a shape, an error, a reason. Comments and messages are plain English, as
/// CONTRIBUTING.md has it.
@Suite struct CommentTests {
    @Test func `no comment repeats its declaration`() throws {
        for file in try SourceTree.shared.get().files {
            for (number, text) in file.repeatingComments { Issue.record("\(file.path):\(number): \(text)") }
        }
    }

    @Test(arguments: [
        ("/// The number of shards.\nvar shardCount: Int", 1), ("/// The number of bytes.\nvar shardCount: Int", 0),
        ("/// Returns the rows of a class.\nfunc objects(of table: TableKey)", 1),
        ("/// Whether it is open,\n/// which is rare.\nvar isOpen: Bool", 0), ("/// In seconds.\nvar seconds: Double", 1),
        ("/// In milliseconds.\nvar age: Double", 0), ("/// Up to 64.\nvar count: Int", 0),
        ("/// As `count`.\nvar count: Int", 0),
        (
            "/// Sends.\n///\n/// - Parameters:\n///   - body: The body.\n///   - seconds: How long it waits.\nfunc send(body: Body, seconds: Int)",
            1
        ),
        ("/// Sends.\n///\n/// - Parameter body: The body,\n///   packed.\nfunc send(body: Body)", 0),
        ("/// Sends the body.\n@discardableResult\nfunc send(\n    body: Body\n) -> Bool", 1),
    ])
    func `words that the declaration has too are no comment`(_ source: String, _ count: Int) {
        let found = RepeatingComments(
            source.split(separator: "\n", omittingEmptySubsequences: false).map(String.init), subject: "Example")
        #expect(found.comments.count == count, "\(found.comments)")
    }

    @Test func `comments and messages have plain verbs and begin with their subject`() throws {
        for file in try SourceTree.shared.get().files {
            for (line, words) in file.prose.flatMap(BarredWords.found) {
                Issue.record("\(file.path):\(line) has '\(words)': \(BarredWords.advice)")
            }
        }
    }

    @Test(arguments: [
        ("/// Tells the size.\nvar a: Int", ["1: Tells"]), ("let a = 1\n\n// It stands\n// for a row.", ["4: stands for"]),
        ("/// What is read.", ["1: What"]), ("/// Reads it. Nobody waits.", ["1: Nobody", "1: Nobody"]),
        ("/// Reads\n/// - Parameter a: What is read.", ["2: What"]), ("/// The part what is read. What\nlet a = 1", []),
        ("throw Failure(\"\\(path): the file goes on\")", ["1: goes on"]),
        ("log(\"is beside \\(told(\"given up\"))\")", ["1: beside", "1: given up"]),
        ("let a = #\"a \"file\" by itself\"#\nlet further = told", ["1: by itself"]), ("case beside = \"beside\"", []),
        ("/// Reads `beside` and --further, as in --beside.", []),
        ("\"\"\"\n    a\n    whoever reads\n    \"\"\"", ["3: whoever"]),
        ("/// It goes. On Linux it stands; for macOS it gives. Up to 3.", []), ("let a = \"a\\ntells b\"", ["1: tells"]),
    ])
    func `barred words are found in comments and messages, with their lines`(_ source: String, _ expected: [String]) {
        let found = SourceTokens(Array(source.utf8)).prose.flatMap(BarredWords.found).map { "\($0.line): \($0.words)" }
        #expect(found == expected)
    }
}

extension SourceFile {
    /// The comments whose declarations say as much, by the number of their line.
    var repeatingComments: [(Int, String)] { RepeatingComments(lines, subject: subject).comments }
}

/// Finds comments of one line, and lines about parameters, whose words are all in the declaration or in the name of the file. Words that
/// say nothing of a subject do not count, nor do endings of words.
private struct RepeatingComments {
    private(set) var comments: [(Int, String)] = []

    init(_ lines: [String], subject: String) {
        let texts = lines.map { String($0.drop { $0 == " " }) }
        var first = 0
        while first < texts.count {
            guard texts[first].hasPrefix("///") else {
                first += 1
                continue
            }
            let end = texts[first...].firstIndex { !$0.hasPrefix("///") } ?? texts.count
            let known = RepeatingComments.words(RepeatingComments.declaration(texts[end...]) + " " + subject)
            let body = texts[first..<end].map { $0.dropFirst(3).drop { $0 == " " } }
            for (index, line) in body.enumerated() {
                var text = line
                if body.count > 1 || line.hasPrefix("- ") {
                    guard line.hasPrefix("- "), let colon = line.firstIndex(of: ":") else { continue }
                    let parameter = line[..<colon].dropFirst(2)
                    if ["Parameters", "Returns", "Throws", "Complexity"].contains(parameter) { continue }
                    // The text continues on the next line.
                    if index + 1 < body.count, !body[index + 1].isEmpty, !body[index + 1].hasPrefix("- ") { continue }
                    text = line[colon...]
                }
                if RepeatingComments.repeats(text, known) { comments.append((first + index + 1, String(line))) }
            }
            first = end
        }
    }

    /// The first lines of a declaration up to its body or value.
    private static func declaration(_ lines: ArraySlice<String>) -> String {
        // Attributes on lines of their own.
        var rest = lines.drop { $0.hasPrefix("@") && !$0.contains(" ") }
        var text = rest.popFirst() ?? ""
        while text.count(where: { $0 == "(" }) > text.count(where: { $0 == ")" }), let next = rest.popFirst() {
            text += " " + next
        }
        for mark in [" = ", " {"] { if let range = text.range(of: mark) { text = String(text[..<range.lowerBound]) } }
        return text
    }

    private static func repeats(_ text: Substring, _ known: [String]) -> Bool {
        if text.contains("`") || text.contains(where: \.isNumber) { return false }
        return words(text).allSatisfy { word in known.contains { isLike(word, $0) } }
    }

    /// The words of a text or of names in it, in small letters and without the ending of a plural.
    private static func words(_ text: some StringProtocol) -> [String] {
        var words: [String] = []
        var word: [UInt8] = []
        let bytes = Array(text.utf8)
        let isUpper = { (index: Int) in bytes.indices.contains(index) && (65...90).contains(bytes[index]) }
        let isLower = { (index: Int) in bytes.indices.contains(index) && (97...122).contains(bytes[index]) }
        for index in bytes.indices {
            guard isUpper(index) || isLower(index) else { continue }
            word.append(bytes[index] | 0x20)
            // A word ends before one that begins with a capital letter: in `HTTPMethod` before the M.
            let isLast = !isUpper(index + 1) && !isLower(index + 1)
            guard isLast || isUpper(index + 1) && (isLower(index) || isLower(index + 2)) else { continue }
            let text = String(decoding: word, as: UTF8.self)
            word = []
            if !empty.contains(text) { words.append(singular(same[text] ?? text)) }
        }
        return words
    }

    private static func singular(_ word: String) -> String {
        if word.hasSuffix("ies") { return word.dropLast(3) + "y" }
        return word.hasSuffix("s") && !word.hasSuffix("ss") ? String(word.dropLast()) : word
    }

    private static func isLike(_ left: String, _ right: String) -> Bool {
        let shared = min(left.count, right.count)
        return left == right || (shared >= 4 && left.prefix(max(4, shared - 2)) == right.prefix(max(4, shared - 2)))
    }

    private static let empty = Set(
        """
        a an the of is are was were be been to in on at by for from with and or as if but so it its they their them that this these those \
        which whose what when where who how each all any one no not none only also other another own more most many much new current given \
        possible whether there has have had return returns make makes create creates get gets set sets read reads write writes value values \
        kind name names list lists number count thing things
        """.split(separator: " ").map(String.init))
    /// The terms of the file and of the API for one thing.
    private static let same = [
        "row": "object", "rows": "object", "table": "class", "tables": "class", "column": "property", "columns": "property",
    ]
}

/// Words for which the field has others, and openings that put the subject of a sentence late.
private enum BarredWords {
    static let advice = "say return, report, log, represent, continue, automatically, release, next to, client or more"

    private static let words: Set<String> = [
        "tell", "tells", "telling", "told", "whoever", "whomever", "nobody", "somebody", "anybody", "everybody", "beside",
        "further",
    ]
    /// Words that are barred before another one.
    private static let pairs: [String: Set<String>] = [
        "stand": ["for"], "stands": ["for"], "standing": ["for"], "stood": ["for"], "go": ["on"], "goes": ["on"], "going": ["on"],
        "went": ["on"], "give": ["up"], "gives": ["up"], "giving": ["up"], "gave": ["up"], "given": ["up"],
        "by": ["itself", "themselves"],
    ]
    /// Words that no sentence begins with.
    private static let openings: Set<String> = ["What", "Who", "Whom", "Whoever", "Nobody"]

    /// Finds the words in a comment or text, but not in names: between backticks, after `--`, or in a text of one word.
    static func found(in prose: SourceTokens.Prose) -> [(line: Int, words: String)] {
        let bytes = prose.bytes
        guard prose.isComment || bytes.contains(UInt8(ascii: " ")) else { return [] }
        var found: [(line: Int, words: String)] = []
        var line = prose.line
        var index = bytes.startIndex
        var isName = false
        var beginsSentence = true
        var last = ""
        while index < bytes.endIndex {
            let start = index
            while index < bytes.endIndex, isLetter(bytes[index]) { index += 1 }
            guard index > start else {
                switch bytes[index] {
                case UInt8(ascii: "`"): isName.toggle()
                case UInt8(ascii: "\n"): line += 1
                // The letter of an escape is no part of a word.
                case UInt8(ascii: "\\") where !prose.isComment && bytes[index...].dropFirst().first != UInt8(ascii: "\n"):
                    index += 1
                case UInt8(ascii: "."), UInt8(ascii: ":"), UInt8(ascii: ";"), UInt8(ascii: "?"):
                    beginsSentence = true
                    last = ""
                case UInt8(ascii: ","), UInt8(ascii: "("), UInt8(ascii: ")"): last = ""
                default: break
                }
                index += 1
                continue
            }
            let isOption = bytes[bytes.startIndex..<start].suffix(2).elementsEqual("--".utf8)
            let word = String(decoding: bytes[start..<index], as: UTF8.self)
            let lower = word.lowercased()
            if !isName, !isOption {
                if words.contains(lower) { found.append((line, word)) }
                if pairs[last]?.contains(lower) == true { found.append((line, last + " " + lower)) }
                if beginsSentence, openings.contains(word), isFollowed(bytes[index...]) { found.append((line, word)) }
            }
            beginsSentence = false
            last = isName ? "" : lower
        }
        return found
    }

    /// Whether another word of the sentence follows: headings such as "What" are none.
    private static func isFollowed(_ rest: ArraySlice<UInt8>) -> Bool {
        rest.first == UInt8(ascii: " ") && rest.dropFirst().first.map(isLetter) == true
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (97...122).contains(byte | 0x20) }
}
