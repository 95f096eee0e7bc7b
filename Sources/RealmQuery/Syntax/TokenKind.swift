// SPDX-License-Identifier: Apache-2.0

/// The tokens of the language. Raw values name them in error messages.
enum TokenKind: String, Sendable {
    case end = "end of query"
    case identifier, string, base64, infinity, natural, number, float, timestamp
    case nan = "NaN"
    case uuid = "UUID"
    case objectID = "ObjectId"
    case link
    case typedLink = "typed link"
    case argument
    case keyPathArgument = "key path argument"

    case equal = "=="
    case notEqual = "!="
    case less = "<"
    case greater = ">"
    case lessOrEqual = "<="
    case greaterOrEqual = ">="
    case caseModifier = "[c]"
    case and = "&&"
    case or = "||"
    case not = "!"
    case plus = "+"
    case minus = "-"
    case times = "*"
    case divided = "/"
    case leftParenthesis = "("
    case rightParenthesis = ")"
    case leftBrace = "{"
    case rightBrace = "}"
    case leftBracket = "["
    case rightBracket = "]"
    case comma = ","
    case dot = "."

    case `in`
    case any, all, none
    case beginsWith = "beginswith"
    case endsWith = "endswith"
    case contains, like, between, text
    case geoWithin = "geowithin"
    case geoBox = "geobox"
    case geoCircle = "geocircle"
    case geoPolygon = "geopolygon"
    case truePredicate = "truepredicate"
    case falsePredicate = "falsepredicate"
    case subquery
    case object = "obj"
    case binary
    case sort, distinct, limit
    case ascending, descending
    case first, last, size
    case `true`, `false`, null

    case countOperator = "@count"
    case maximumOperator = "@max"
    case minimumOperator = "@min"
    case sumOperator = "@sum"
    case averageOperator = "@avg"
    case typeOperator = "@type"
    case links = "@links"
    case keysOrValues = "@keys"

    /// May the token name a property?
    var isName: Bool {
        switch self {
        case .identifier, .links, .keysOrValues, .beginsWith, .endsWith, .contains, .like, .between, .text, .sort,
            .distinct, .limit, .ascending, .descending, .in, .binary, .first, .last, .size:
            return true
        default: return false
        }
    }

    /// Words that are keywords in every letter case. Keys are lower case.
    static let caseInsensitiveWords: [String: TokenKind] = [
        "beginswith": .beginsWith, "endswith": .endsWith, "contains": .contains, "like": .like,
        "between": .between, "text": .text, "sort": .sort, "distinct": .distinct, "limit": .limit,
        "asc": .ascending, "ascending": .ascending, "desc": .descending, "descending": .descending,
        "bin": .binary, "binary": .binary, "truepredicate": .truePredicate, "falsepredicate": .falsePredicate,
        "geowithin": .geoWithin, "geobox": .geoBox, "geocircle": .geoCircle, "geopolygon": .geoPolygon,
        "subquery": .subquery, "obj": .object, "and": .and, "or": .or, "null": .null, "nil": .null,
        "inf": .infinity, "infinity": .infinity, "nan": .nan,
    ]

    /// Words that are keywords in all lower or all upper case only. Keys are lower case.
    static let uniformCaseWords: [String: TokenKind] = [
        "in": .in, "first": .first, "last": .last, "size": .size, "any": .any, "some": .any, "all": .all,
        "none": .none, "not": .not, "true": .true, "false": .false,
    ]

    static let maximumWordLength = 14

    /// Might a word of `length` bytes with that first byte be a keyword? Says no to most names of properties at once.
    static func startsWord(_ first: UInt8, length: Int) -> Bool {
        let letter = first | 0x20
        guard letter >= UInt8(ascii: "a"), letter <= UInt8(ascii: "z") else { return false }
        return firstLetters[length] >> UInt32(letter - UInt8(ascii: "a")) & 1 == 1
    }

    /// For every length of keywords their first letters, one bit each.
    private static let firstLetters: [UInt32] = {
        var letters = [UInt32](repeating: 0, count: maximumWordLength + 1)
        for word in Array(caseInsensitiveWords.keys) + Array(uniformCaseWords.keys) {
            letters[word.utf8.count] |= 1 << UInt32((word.utf8.first ?? 0) - UInt8(ascii: "a"))
        }
        return letters
    }()

    /// The operators that start with an at sign, exactly as written.
    static let atWords: [(word: StaticString, kind: TokenKind)] = [
        ("@count", .countOperator), ("@size", .countOperator), ("@min", .minimumOperator), ("@max", .maximumOperator),
        ("@sum", .sumOperator), ("@avg", .averageOperator), ("@links", .links), ("@type", .typeOperator),
        ("@keys", .keysOrValues), ("@values", .keysOrValues),
    ]
}
