// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The kinds of tokens of the query language.
///
/// The raw values name the kinds in error messages, where they appear as what was expected.
enum TokenKind: String, Sendable {
    /// The position after the last token. It is returned again and again there.
    case end = "end of query"
    /// A name, or a literal that the lexer recognizes by its form. The value of a literal is derived from its text later, by
    /// `Literal`. `natural` is a number without sign, `number` one with a sign or in hexadecimal notation.
    case identifier, string, base64, infinity, natural, number, float, timestamp
    /// `nan` in any letter case, with or without a sign, which has no meaning.
    case nan = "NaN"
    /// A UUID literal: `uuid(…)` with 32 hexadecimal digits in five groups.
    case uuid = "UUID"
    /// An object id literal: `oid(…)` with 24 hexadecimal digits.
    case objectID = "ObjectId"
    /// `O17`: the key of an object in the class that the other side of the comparison links to.
    case link
    /// `L3:17`: the key of a table and the key of an object in it.
    case typedLink = "typed link"
    /// An argument such as `$0`, whose digits are its number.
    case argument
    /// A key path argument such as `$K0`, whose digits are the number of an argument that holds a key path.
    case keyPathArgument = "key path argument"

    /// The operator `==` or `=`.
    case equal = "=="
    /// The operator `!=` or `<>`.
    case notEqual = "!="
    /// The operator `<`.
    case less = "<"
    /// The operator `>`.
    case greater = ">"
    /// The operator `<=` or `=<`.
    case lessOrEqual = "<="
    /// The operator `>=` or `=>`.
    case greaterOrEqual = ">="
    /// `[c]`, which makes the operator before it ignore letter case. Exactly these three characters.
    case caseModifier = "[c]"
    /// The operator `&&`, or the word `and` in any letter case.
    case and = "&&"
    /// The operator `||`, or the word `or` in any letter case.
    case or = "||"
    /// The operator `!`, or the word `not` or `NOT`, but not in mixed case.
    case not = "!"
    /// The operator `+`, when no digit follows directly.
    case plus = "+"
    /// The operator `-`, when no digit follows directly.
    case minus = "-"
    /// The operator `*`, or the wildcard in the brackets of a path.
    case times = "*"
    /// The operator `/`.
    case divided = "/"
    /// Opens a predicate, an arithmetic expression, or the arguments of a keyword such as `SORT`.
    case leftParenthesis = "("
    case rightParenthesis = ")"
    /// Opens a list of constants, or a ring of a polygon.
    case leftBrace = "{"
    case rightBrace = "}"
    /// Opens an index or a key after a path, or a point of a shape.
    case leftBracket = "["
    case rightBracket = "]"
    /// Separates the elements of a list, the corners of a ring, and the paths of a descriptor.
    case comma = ","
    /// Separates the names of a path. A dot next to a digit belongs to a number.
    case dot = "."

    /// The operator `in` or `IN`. A mixed-case spelling is an identifier.
    case `in`
    /// A quantifier, all lower case or all upper case. `some` is a synonym of `any`.
    case any, all, none
    /// The string operator `BEGINSWITH`, in any letter case.
    case beginsWith = "beginswith"
    /// The string operator `ENDSWITH`, in any letter case.
    case endsWith = "endswith"
    /// The operators `CONTAINS`, `LIKE`, `BETWEEN` and `TEXT`, in any letter case.
    case contains, like, between, text
    /// `geoWithin`, in any letter case: the operator that tests whether a location lies within a shape.
    case geoWithin = "geowithin"
    /// `geoBox`, in any letter case: the keyword of the shape with two opposite corners.
    case geoBox = "geobox"
    /// `geoCircle`, in any letter case: the keyword of the shape with a centre and a radius in radians.
    case geoCircle = "geocircle"
    /// `geoPolygon`, in any letter case: the keyword of the shape with an outer ring and holes.
    case geoPolygon = "geopolygon"
    /// `TRUEPREDICATE`, in any letter case: the predicate that every object fulfils.
    case truePredicate = "truepredicate"
    /// `FALSEPREDICATE`, in any letter case: the predicate that no object fulfils.
    case falsePredicate = "falsepredicate"
    /// The keyword that begins `SUBQUERY(path, $variable, predicate).@count`.
    case subquery
    /// `obj`, in any letter case: the keyword that begins `obj('Class', key)`.
    case object = "obj"
    /// `bin` or `binary`: the keyword that begins a literal for binary data, or a property of that name.
    case binary
    /// A keyword that begins a descriptor after the predicate.
    case sort, distinct, limit
    /// `asc` or `ascending`, `desc` or `descending`: the direction of a sort key.
    case ascending, descending
    /// A word in brackets after a path: the first or the last element of a list, or the number of its elements.
    case first, last, size
    /// A literal without a value of its own; `nil` is a synonym of `null`.
    case `true`, `false`, null

    /// `@count` or its synonym `@size`: the number of elements or of bytes.
    case countOperator = "@count"
    /// `@max`: the greatest of the elements.
    case maximumOperator = "@max"
    /// `@min`: the least of the elements.
    case minimumOperator = "@min"
    /// `@sum`: the sum of the elements.
    case sumOperator = "@sum"
    /// `@avg`: the mean of the elements.
    case averageOperator = "@avg"
    /// `@type`: the name of the type of a value.
    case typeOperator = "@type"
    /// `@links`: the beginning of a step along incoming links.
    case links = "@links"
    /// `@keys` or `@values` of a dictionary. In a path they are treated as names.
    case keysOrValues = "@keys"

    /// Whether a token of this kind may name a property. Many keywords may, because their place in
    /// the text shows what is meant: `sort == 1` compares a property, `SORT(…)` sorts.
    var isName: Bool {
        switch self {
        case .identifier, .links, .keysOrValues, .beginsWith, .endsWith, .contains, .like, .between, .text, .sort,
            .distinct, .limit, .ascending, .descending, .in, .binary, .first, .last, .size:
            return true
        default: return false
        }
    }

    /// The words that are keywords in every letter case. The dictionary's keys are lower case.
    static let caseInsensitiveWords: [ByteText: TokenKind] = [
        "beginswith": .beginsWith, "endswith": .endsWith, "contains": .contains, "like": .like,
        "between": .between, "text": .text, "sort": .sort, "distinct": .distinct, "limit": .limit,
        "asc": .ascending, "ascending": .ascending, "desc": .descending, "descending": .descending,
        "bin": .binary, "binary": .binary, "truepredicate": .truePredicate, "falsepredicate": .falsePredicate,
        "geowithin": .geoWithin, "geobox": .geoBox, "geocircle": .geoCircle, "geopolygon": .geoPolygon,
        "subquery": .subquery, "obj": .object, "and": .and, "or": .or, "null": .null, "nil": .null,
        "inf": .infinity, "infinity": .infinity, "nan": .nan,
    ]

    /// The words that are keywords only when all their letters are lower case or all are upper
    /// case. The dictionary's keys are lower case.
    static let uniformCaseWords: [ByteText: TokenKind] = [
        "in": .in, "first": .first, "last": .last, "size": .size, "any": .any, "some": .any, "all": .all,
        "none": .none, "not": .not, "true": .true, "false": .false,
    ]

    /// The length in bytes of the longest keyword, `falsepredicate`. A longer word is an identifier without a look-up.
    static let maximumWordLength = 14

    /// Returns whether a word may be a keyword, judging by its first letter and its length alone.
    ///
    /// It spares most property names the conversion to lower case and the look-ups in two dictionaries.
    ///
    /// - Parameters:
    ///   - first: The first byte of the word.
    ///   - length: The number of bytes of the word, at most `maximumWordLength`.
    /// - Returns: False when no keyword of that length starts with that letter; true proves
    ///   nothing.
    static func startsWord(_ first: UInt8, length: Int) -> Bool {
        let letter = first | 0x20
        guard letter >= UInt8(ascii: "a"), letter <= UInt8(ascii: "z") else { return false }
        return firstLetters[length] >> UInt32(letter - UInt8(ascii: "a")) & 1 == 1
    }

    /// For every length of keywords, their first letters, one bit each: bit 0 is `a`. Computed once per process.
    private static let firstLetters: [UInt32] = {
        var letters = [UInt32](repeating: 0, count: maximumWordLength + 1)
        for word in (Array(caseInsensitiveWords.keys) + Array(uniformCaseWords.keys)).map(\.text) {
            letters[word.utf8.count] |= 1 << UInt32((word.utf8.first ?? 0) - UInt8(ascii: "a"))
        }
        return letters
    }()

    /// The operators that start with an at sign, which must be spelled exactly as here.
    static let atWords: [(word: StaticString, kind: TokenKind)] = [
        ("@count", .countOperator), ("@size", .countOperator), ("@min", .minimumOperator), ("@max", .maximumOperator),
        ("@sum", .sumOperator), ("@avg", .averageOperator), ("@links", .links), ("@type", .typeOperator),
        ("@keys", .keysOrValues), ("@values", .keysOrValues),
    ]
}
