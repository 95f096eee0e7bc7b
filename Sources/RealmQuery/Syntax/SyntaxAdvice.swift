// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// Guesses what was meant by a token that cannot follow: most often the word of another query language, a misspelt word of
/// this one, or a text without its quotes.
struct SyntaxAdvice {
    /// The token that cannot follow.
    private let token: Token
    /// The text of that token.
    private let word: String
    /// The word or sign directly before it; empty at the beginning.
    private let previous: String
    /// Whether nothing separates the two.
    private let isAdjacent: Bool
    /// The text after the token, as far as it matters, in upper case.
    private let rest: String
    /// Whether an operator could have followed.
    private let wantsOperator: Bool

    /// The number of bytes examined before and after a token.
    private static let reach = 80

    /// Words and signs of other languages, in upper case, and how the same is said here.
    private static let foreign: [ByteText: String] = [
        "STARTSWITH": "the operator is BEGINSWITH", "STARTS": "the operator is BEGINSWITH",
        "PREFIX": "the operator is BEGINSWITH",
        "HASPREFIX": "the operator is BEGINSWITH", "HASSUFFIX": "the operator is ENDSWITH",
        "INCLUDES": "the operator is CONTAINS", "HAS": "the operator is CONTAINS", "ILIKE": "the operator is LIKE[c]",
        "MATCHES": "there are no regular expressions; LIKE takes * for any characters and ? for one",
        "REGEX": "there are no regular expressions; LIKE takes * for any characters and ? for one",
        "REGEXP": "there are no regular expressions; LIKE takes * for any characters and ? for one",
        "RLIKE": "there are no regular expressions; LIKE takes * for any characters and ? for one",
        "EQ": "the operator is ==", "EQUALS": "the operator is ==", "NE": "the operator is !=", "NEQ": "the operator is !=",
        "GT": "the operator is >", "GTE": "the operator is >=", "GE": "the operator is >=", "LT": "the operator is <",
        "LTE": "the operator is <=", "LE": "the operator is <=",
        "ORDER": "an order is written SORT(path ASC) at the end", "ORDERBY": "an order is written SORT(path ASC) at the end",
        "GROUP": "a query has no groups; aggregates have them", "HAVING": "a query has no groups; aggregates have them",
        "WHERE": "a query is the condition alone, without WHERE", "SELECT": "a query is the condition alone, without SELECT",
        "FROM": "a query is the condition alone, without FROM", "OFFSET": "a query has no OFFSET; use the cursor of a page",
        "EXISTS": "the number of elements is written path.@count > 0",
    ]

    /// The words that may follow an operand or a condition.
    private static let operators = [
        "AND", "OR", "IN", "BEGINSWITH", "ENDSWITH", "CONTAINS", "LIKE", "BETWEEN", "TEXT", "geoWithin", "SORT", "DISTINCT",
        "LIMIT",
    ]

    /// The words that parentheses follow.
    private static let functions = [
        "SUBQUERY", "obj", "uuid", "oid", "bin", "geoBox", "geoCircle", "geoPolygon", "SORT", "DISTINCT", "LIMIT",
    ]

    /// Looks at the current token of a parser.
    ///
    /// - Parameters:
    ///   - parser: The parser, whose current token cannot follow.
    ///   - expected: The tokens that could have followed, as the error message lists them.
    init(_ parser: Parser, _ expected: [String]) {
        token = parser.token
        let bytes = parser.lexer.bytes
        word = parser.lexer.text(of: token).truncated
        isAdjacent = parser.previousEnd == token.start
        var start = parser.previousEnd
        while start > max(0, parser.previousEnd - SyntaxAdvice.reach), SyntaxAdvice.isPartOfWord(bytes[start - 1]) { start -= 1 }
        if start == parser.previousEnd { start = max(0, start - 1) }
        previous = String(decoding: bytes[start..<parser.previousEnd], as: UTF8.self)
        let end = min(bytes.count, token.end + SyntaxAdvice.reach)
        rest = String(decoding: bytes[token.end..<end], as: UTF8.self).uppercasedASCII
        wantsOperator = expected.contains { $0.contains("operator") || $0.hasPrefix("AND") }
    }

    /// The probable meaning, as a clause; nil when unknown.
    var text: String? {
        quotes ?? date ?? list ?? parentheses ?? call ?? suffix ?? nothing ?? missingValue ?? wordOfAnotherLanguage ?? misspelling
    }

    // MARK: - Guesses

    /// Quotation marks of word processors, which are letters here.
    private var quotes: String? {
        QuotationMarks.isPart(of: word) || QuotationMarks.isPart(of: previous) ? "text goes in straight quotes, \" or '" : nil
    }

    /// A date in another form than that of the language.
    private var date: String? {
        let isZone =
            isAdjacent && (word.uppercasedASCII == "Z" || word.hasPrefix(".") || word.hasPrefix("+")) && previous.contains(":")
        let isDay = isAdjacent && previous.utf8.count == 4 && Int(previous) != nil && word.hasPrefix("-")
        guard isZone || isDay else { return nil }
        return "a date is written 2024-05-17@09:30:00, in UTC and without a zone, or passed as an argument: $0"
    }

    /// A list in other brackets than braces.
    private var list: String? {
        if word == "[", let modifier = modifier { return modifier }
        if previous.uppercasedASCII == "BETWEEN" { return "BETWEEN takes a list, as in BETWEEN {1, 2}" }
        guard word == "[" && previous.uppercasedASCII == "IN" || word == "," else { return nil }
        return "a list of values is written in braces, as in IN {1, 2}"
    }

    /// A modifier of an operator in brackets, of which there is only `[c]`.
    private var modifier: String? {
        guard let end = rest.firstIndex(of: "]") else { return nil }
        let letters = rest[..<end].trimmingBlanks
        guard !letters.isEmpty, letters.count <= 4, letters.allSatisfy({ "CDNLW".contains($0) }) else { return nil }
        return letters.contains("D")
            ? "the only modifier is [c], in lower case; there is no [d] for accents, which TEXT ignores"
            : "the only modifier is [c], in lower case"
    }

    /// A clause whose parentheses are missing.
    private var parentheses: String? {
        guard word != "(" else { return nil }
        switch previous.uppercasedASCII {
        case "LIMIT": return "LIMIT takes its number in parentheses, as in LIMIT(10)"
        case "SORT", "DISTINCT": return "\(previous.uppercasedASCII) takes its paths in parentheses, as in SORT(path ASC)"
        default: return nil
        }
    }

    /// A function, of which the language has few.
    private var call: String? {
        guard word == "(", let letter = previous.utf8.last, SyntaxAdvice.isPartOfWord(letter) else { return nil }
        switch previous.lowercasedASCII {
        case "lower", "upper", "tolower", "toupper", "lowercase", "uppercase":
            return "there is no function '\(previous)'; an operator with [c] ignores case, as in name ==[c] \"x\""
        case "count", "sum", "avg", "min", "max", "length", "len", "size":
            return "there is no function '\(previous)'; a path ends with @count, @sum, @avg, @min or @max"
        default:
            return "there is no function '\(previous.truncated)'" + Suggestion.hint(for: previous, in: SyntaxAdvice.functions)
        }
    }

    /// A misspelt word that begins with an at sign, of which the lexer knew the beginning.
    private var suffix: String? {
        guard isAdjacent, previous.hasPrefix("@") else { return nil }
        return "there is no '\(previous)\(word)'" + SyntaxAdvice.hint(forSuffix: previous + word)
    }

    /// A test for null in the words of SQL.
    private var nothing: String? {
        guard word.uppercasedASCII == "IS" else { return nil }
        let following = rest.split(separator: " ").prefix(2)
        if following.first == "NOT" { return "IS NOT NULL is written != null" }
        return following.first == "NULL" ? "IS NULL is written == null" : "IS is written =="
    }

    /// An operand at the end, without anything that it is compared with.
    private var missingValue: String? {
        if word == "=", previous.hasSuffix("=") { return "equality is written == or =" }
        guard token.kind == .end, wantsOperator, let letter = previous.utf8.last, SyntaxAdvice.isPartOfWord(letter) else {
            return nil
        }
        if let constant = Suggestion.nearest(to: previous, in: ["TRUEPREDICATE", "FALSEPREDICATE"]) {
            return "did you mean '\(constant)'?"
        }
        return "a condition compares, as in \(previous.truncated) == true"
    }

    /// A word that another query language has.
    private var wordOfAnotherLanguage: String? {
        guard wantsOperator || previous.isEmpty else { return nil }
        return SyntaxAdvice.foreign[word.uppercasedASCII] ?? SyntaxAdvice.foreign[previous.uppercasedASCII]
    }

    /// A misspelt operator, or the second word of a text without quotes.
    private var misspelling: String? {
        guard wantsOperator, token.kind == .identifier else { return nil }
        if let near = Suggestion.nearest(to: word, in: SyntaxAdvice.operators) { return "did you mean '\(near)'?" }
        return "operators are words such as CONTAINS and signs such as ==; text goes in quotes"
    }

    // MARK: - Characters

    /// Returns the end of an error text about a character that starts no token.
    ///
    /// - Parameters:
    ///   - start: The byte offset of the character.
    ///   - lexer: The lexer with the text.
    static func hint(forCharacter start: Int, in lexer: Lexer) -> String {
        switch lexer.bytes[start] {
        case ASCII.at:
            var end = start + 1
            while end < min(lexer.bytes.count, start + reach), isPartOfWord(lexer.bytes[end]) { end += 1 }
            return hint(forSuffix: lexer.text(start, end))
        case UInt8(ascii: "~"): return "; there are no regular expressions; LIKE takes * for any characters and ? for one"
        case UInt8(ascii: "%"): return hint(forPercent: start, in: lexer)
        case UInt8(ascii: "?"): return "; arguments are written $0, $1 and so on, and their values go into 'args'"
        case UInt8(ascii: ":"): return "; arguments are written $0, $1 and so on, and their values go into 'args'"
        case UInt8(ascii: "^"), UInt8(ascii: "#"): return "; arithmetic is + - * and /"
        case UInt8(ascii: "&"): return "; the operator is && or AND"
        case UInt8(ascii: "|"): return "; the operator is || or OR"
        case UInt8(ascii: ";"): return "; a query is one condition"
        default: return ""
        }
    }

    /// Returns the end of an error text about a percent sign: the place of an argument in NSPredicate, a wildcard of SQL, or a remainder.
    private static func hint(forPercent start: Int, in lexer: Lexer) -> String {
        let next = start + 1 < lexer.bytes.count ? lexer.bytes[start + 1] : 0
        if next == UInt8(ascii: "K") { return "; a key path as an argument is written $K0, and its text goes into 'args'" }
        var before = start
        while before > 0, lexer.bytes[before - 1] == UInt8(ascii: " ") { before -= 1 }
        let word = lexer.text(max(0, before - 4), before).uppercasedASCII
        if word == "LIKE" || next == UInt8(ascii: "'") || next == UInt8(ascii: "\"") {
            return "; LIKE takes a text in quotes, with * for any characters and ? for one"
        }
        return next == ASCII.at || Lexer.isLetter(next)
            ? "; arguments are written $0, $1 and so on, and their values go into 'args'"
            : "; there is no remainder of a division; arithmetic is + - * and /"
    }

    /// Returns the end of an error text about a word that begins with an at sign.
    private static func hint(forSuffix word: String) -> String {
        Suggestion.hint(for: word, in: TokenKind.atWords.map(\.word.description))
    }

    /// Whether a byte may be one of a name, or of a word with an at sign.
    private static func isPartOfWord(_ byte: UInt8) -> Bool {
        Lexer.isLetter(byte) || Lexer.isDigit(byte) || byte >= 0x80 || byte == ASCII.at || byte == ASCII.colon
    }
}

extension Substring {
    /// The text without blanks at both ends.
    fileprivate var trimmingBlanks: Substring {
        var text = self
        while text.first == " " { text.removeFirst() }
        while text.last == " " { text.removeLast() }
        return text
    }
}
