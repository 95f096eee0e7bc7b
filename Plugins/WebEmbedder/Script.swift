// SPDX-License-Identifier: Apache-2.0

struct Script {
    /// What the last part of the text means for the next one.
    private enum Part {
        /// Nothing yet, an operator, or a word such as `return`: a value follows, so a slash begins a regular expression.
        case operation
        /// A name, a number, a text or a closing bracket: a slash divides.
        case value
        /// A regular expression, which a name behind it would be taken to belong to.
        case expression
        /// A closing brace of a block or of an object.
        case brace
    }

    /// A bracket that is open.
    private enum Bracket {
        /// A parenthesis, which after `if` and its like is followed by a statement.
        case parenthesis(isOfStatement: Bool)
        case brace
        case square
        /// The braces of a value in a template.
        case substitution
    }

    /// Why a script could not be read.
    struct Defect: Error, CustomStringConvertible {
        let description: String
    }

    private let source: [UInt8]
    private var position = 0
    private var output: [UInt8] = []
    private var part = Part.operation
    /// The last part, if it was a word or a number.
    private var word: ArraySlice<UInt8> = []
    private var isMember = false
    private var open: [Bracket] = []
    /// What lies between the last part and the next one.
    private var gap = (isBlank: false, isEnd: false)

    /// Words after which a value begins.
    private static let openers: Set<String> = [
        "await", "case", "delete", "do", "else", "in", "instanceof", "new", "of", "return", "throw", "typeof", "void", "yield",
    ]
    /// Words whose parentheses are followed by a statement.
    private static let statements: Set<String> = ["for", "if", "while", "with"]

    private init(_ text: String) { source = Array(text.utf8) }

    /// Returns a script that does the same as another one.
    ///
    /// - Throws: `Defect` when a text, a comment or a bracket has no end, or a slash could mean two things.
    static func stripped(_ text: String) throws(Defect) -> String {
        var script = Script(text)
        while script.position < script.source.count { try script.readPart() }
        guard script.open.isEmpty else { throw Defect(description: "a bracket is not closed") }
        return String(decoding: script.output, as: UTF8.self) + "\n"
    }

    /// The byte at a distance from the position; 0 beyond the end.
    private func byte(_ distance: Int = 0) -> UInt8 {
        let index = position + distance
        return index < source.count ? source[index] : 0
    }

    private func defect(_ reason: String) -> Defect {
        let line = source[..<min(position, source.count)].count { $0 == Self.newline } + 1
        return Defect(description: "line \(line): \(reason)")
    }

    private static let newline = UInt8(ascii: "\n")

    /// Reads a part, or what lies between parts.
    private mutating func readPart() throws(Defect) {
        switch byte() {
        case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"):
            gap.isBlank = true
            position += 1
        case Self.newline:
            gap.isEnd = true
            position += 1
        case UInt8(ascii: "/") where byte(1) == UInt8(ascii: "/"):
            while position < source.count, byte() != Self.newline { position += 1 }
        case UInt8(ascii: "/") where byte(1) == UInt8(ascii: "*"): try skipComment()
        case UInt8(ascii: "/"): try readSlash()
        case UInt8(ascii: "\""), UInt8(ascii: "'"): try readText()
        case UInt8(ascii: "`"): try readTemplate()
        case let first where Script.isOfWord(first): readWord()
        default: try readSign()
        }
    }

    private mutating func skipComment() throws(Defect) {
        let start = position
        position += 2
        while !(byte() == UInt8(ascii: "*") && byte(1) == UInt8(ascii: "/")) {
            guard position < source.count else { throw defect("a comment has no end") }
            position += 1
        }
        position += 2
        if source[start..<position].contains(Self.newline) { gap.isEnd = true } else { gap.isBlank = true }
    }

    /// Whether a byte belongs to names and numbers. Private names begin with a sign, and letters beyond ASCII have several bytes.
    private static func isOfWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "_"), UInt8(ascii: "$"), UInt8(ascii: "#"), UInt8(ascii: "@"), UInt8(ascii: "\\"), 0x80...:
            return true
        default: return false
        }
    }

    // MARK: - Parts

    private mutating func readWord() {
        let start = position
        let isNumber = Script.isDigit(byte())
        var hasPoint = false
        while Script.isOfWord(byte()) || (isNumber && !hasPoint && byte() == UInt8(ascii: ".")) {
            hasPoint = hasPoint || byte() == UInt8(ascii: ".")
            position += 1
        }
        let isMember = output.last == UInt8(ascii: ".")
        emit(start)
        word = source[start..<position]
        self.isMember = isMember
        part = !isMember && Self.openers.contains(String(decoding: word, as: UTF8.self)) ? .operation : .value
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    private mutating func readText() throws(Defect) {
        let (start, quote) = (position, byte())
        position += 1
        while byte() != quote {
            if byte() == UInt8(ascii: "\\") { position += 1 }
            guard position < source.count, byte() != Self.newline else { throw defect("a text has no end") }
            position += 1
        }
        position += 1
        emit(start)
        part = .value
    }

    /// Reads a template from its beginning or from the end of a value in it, up to its end or the next value.
    private mutating func readTemplate() throws(Defect) {
        let start = position
        position += 1
        while byte() != UInt8(ascii: "`") {
            guard position < source.count else { throw defect("a template has no end") }
            if byte() == UInt8(ascii: "$"), byte(1) == UInt8(ascii: "{") {
                position += 2
                emit(start)
                open.append(.substitution)
                part = .operation
                return
            }
            position += byte() == UInt8(ascii: "\\") ? 2 : 1
        }
        position += 1
        emit(start)
        part = .value
    }

    private mutating func readSlash() throws(Defect) {
        switch part {
        case .value, .expression: return try readSign()
        case .brace: throw defect("it cannot be told whether this slash divides or begins a regular expression")
        case .operation: break
        }
        let start = position
        var isInClass = false
        repeat {
            position += byte() == UInt8(ascii: "\\") ? 2 : 1
            guard position < source.count, byte() != Self.newline else { throw defect("a regular expression has no end") }
            if byte() == UInt8(ascii: "[") { isInClass = true }
            if byte() == UInt8(ascii: "]") { isInClass = false }
        } while byte() != UInt8(ascii: "/") || isInClass
        position += 1
        while Script.isOfWord(byte()) { position += 1 }
        emit(start)
        part = .expression
    }

    private mutating func readSign() throws(Defect) {
        let (start, sign) = (position, byte())
        let isRepeated = byte(1) == sign && (sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-"))
        switch sign {
        case UInt8(ascii: "("):
            let isStatement = !isMember && Self.statements.contains(String(decoding: word, as: UTF8.self))
            open.append(.parenthesis(isOfStatement: isStatement))
            part = .operation
        case UInt8(ascii: "["):
            open.append(.square)
            part = .operation
        case UInt8(ascii: "{"):
            open.append(.brace)
            part = .operation
        case UInt8(ascii: ")"), UInt8(ascii: "]"), UInt8(ascii: "}"):
            guard let bracket = open.popLast() else { throw defect("a bracket was not opened") }
            if case .substitution = bracket { return try readTemplate() }
            part = try self.part(after: bracket, sign)
        // What counts up or down stands before or after a value, and changes nothing about that.
        case _ where isRepeated: position += 1
        default: part = .operation
        }
        position += 1
        emit(start)
        word = []
    }

    /// Returns what a closing bracket means for what follows.
    private func part(after bracket: Bracket, _ sign: UInt8) throws(Defect) -> Part {
        switch (bracket, sign) {
        case (.parenthesis(let isOfStatement), UInt8(ascii: ")")): return isOfStatement ? .operation : .value
        case (.square, UInt8(ascii: "]")): return .value
        case (.brace, UInt8(ascii: "}")): return .brace
        default: throw defect("a bracket is closed by one of another kind")
        }
    }

    // MARK: - What lies between

    /// Writes the part from a place up to the position, and before it what it needs to be parted from the last one.
    private mutating func emit(_ start: Int) {
        if let last = output.last, gap.isBlank || gap.isEnd {
            let next = source[start]
            if gap.isEnd, !Script.continues(last), !Script.isContinuation(next) {
                output.append(Self.newline)
            } else if Script.wouldJoin(last, next) || (part == .expression && Script.isOfWord(next))
                || (Script.isDigit(word.first ?? 0) && next == UInt8(ascii: "."))
            {
                output.append(UInt8(ascii: " "))
            }
        }
        gap = (false, false)
        output += source[start..<position]
        word = []
        isMember = false
    }

    /// Whether no statement can end after a byte.
    private static func continues(_ last: UInt8) -> Bool { "{([,;=&|?:".utf8.contains(last) }

    /// Whether no statement can begin with a byte.
    private static func isContinuation(_ next: UInt8) -> Bool { "})],;".utf8.contains(next) }

    /// Whether two parts would be read as another one without a blank: words, doubled signs, comments and their like.
    private static func wouldJoin(_ last: UInt8, _ next: UInt8) -> Bool {
        if isOfWord(last) || isOfWord(next) { return isOfWord(last) && isOfWord(next) }
        switch (UnicodeScalar(last), UnicodeScalar(next)) {
        case ("<", "!"), ("-", ">"), ("?", "."): return true
        case ("/", _), (_, "/"): return isSign(last) && isSign(next)
        default: return last == next && isSign(last)
        }
    }

    /// Whether a byte is part of an operator.
    private static func isSign(_ byte: UInt8) -> Bool { !"{}()[],;\"'`".utf8.contains(byte) }
}
