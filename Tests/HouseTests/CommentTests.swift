// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// A comment says what its declaration does not: a unit, a shape, an error, a reason.
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
