// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmQuery
internal import RealmStorage

/// The parameter `having`: which groups are in the answer, such as `count > 5 && avg:price >= 10 || status == "new"`.
///
/// `&&` binds more closely than `||`; `and` and `or` mean the same. Values compare as in queries: null equals null alone, and a
/// value of another type nothing.
struct GroupFilter {
    private enum Relation { case equal, notEqual, less, lessOrEqual, greater, greaterOrEqual }

    private struct Comparison {
        let column: GroupedResult.Column
        let relation: Relation
        let value: QueryArgument
    }

    /// The comparisons: one of the outer lists has to hold as a whole.
    private var alternatives: [[Comparison]] = [[]]

    /// The number of comparisons in one filter.
    private static let limit = 100

    /// Reads a filter.
    ///
    /// - Parameters:
    ///   - names: The names that may be compared.
    ///   - column: Returns what a name means.
    /// - Throws: `invalid_parameter` with the place, for anything else.
    init(_ text: String, names: [String], column: (String) -> GroupedResult.Column?) throws(Problem) {
        var scanner = HavingScanner(text)
        var count = 0
        while true {
            count += 1
            guard count <= GroupFilter.limit else {
                throw scanner.problem("at most \(GroupFilter.limit) comparisons are allowed")
            }
            guard let name = scanner.name(among: names), let column = column(name) else {
                throw scanner.problem("expected one of \(names.joined(separator: ", "))")
            }
            guard let relation = GroupFilter.relation(&scanner) else {
                throw scanner.problem("expected ==, !=, <, <=, > or >= after '\(name)'")
            }
            let value = try scanner.value()
            alternatives[alternatives.count - 1].append(Comparison(column: column, relation: relation, value: value))
            if scanner.isAtEnd { return }
            if scanner.take(["&&", "and ", "AND "]) { continue }
            guard scanner.take(["||", "or ", "OR "]) else { throw scanner.problem("expected &&, || or the end") }
            alternatives.append([])
        }
    }

    private static func relation(_ scanner: inout HavingScanner) -> Relation? {
        let relations: [(String, Relation)] = [
            ("==", .equal), ("!=", .notEqual), ("<>", .notEqual), ("<=", .lessOrEqual), (">=", .greaterOrEqual), ("=", .equal),
            ("<", .less), (">", .greater),
        ]
        for (text, relation) in relations where scanner.take([text]) { return relation }
        return nil
    }

    /// Whether a group is in the answer.
    func holds(for group: Int, of result: GroupedResult) -> Bool {
        alternatives.contains { comparisons in comparisons.allSatisfy { holds($0, group, result) } }
    }

    private func holds(_ comparison: Comparison, _ group: Int, _ result: GroupedResult) -> Bool {
        let value: Value
        switch comparison.column {
        case .size: value = .int(Int64(result.sizes[group]))
        case .key(let index): value = result.keys[index][group]
        case .aggregate(let index):
            guard case .value(let known) = result.results[index][group] else {
                // The sum is greater than every int.
                return [.notEqual, .greater, .greaterOrEqual].contains(comparison.relation)
            }
            value = known
        }
        var owners: [ByteStorage] = []
        let other = GroupFilter.stored(comparison.value, like: value, &owners)
        return withExtendedLifetime(owners) { GroupFilter.compare(value, comparison.relation, other) }
    }

    /// Returns the value of a filter in the type of another value: a text next to a date, an id or a UUID is one.
    private static func stored(_ argument: QueryArgument, like value: Value, _ owners: inout [ByteStorage]) -> Value {
        guard case .string(let text) = argument else { return argument.stored(&owners) }
        switch value {
        case .timestamp: return Timestamp(rfc3339: text).map(Value.timestamp) ?? argument.stored(&owners)
        case .objectID: return ObjectID(text).map(Value.objectID) ?? argument.stored(&owners)
        case .uuid: return UUIDValue(text).map(Value.uuid) ?? argument.stored(&owners)
        case .decimal: return Decimal128(text).map(Value.decimal) ?? argument.stored(&owners)
        default: return argument.stored(&owners)
        }
    }

    private static func compare(_ left: Value, _ relation: Relation, _ right: Value) -> Bool {
        if left.isNull || right.isNull {
            switch relation {
            case .equal, .lessOrEqual, .greaterOrEqual: return left.isNull && right.isNull
            case .notEqual: return left.isNull != right.isNull
            case .less, .greater: return false
            }
        }
        guard Value.areComparable(left, right), !left.isNaN, !right.isNaN else { return relation == .notEqual }
        let order = Value.order(left, right)
        switch relation {
        case .equal: return order == 0
        case .notEqual: return order != 0
        case .less: return order < 0
        case .lessOrEqual: return order <= 0
        case .greater: return order > 0
        case .greaterOrEqual: return order >= 0
        }
    }
}

/// Reads names, operators and values of `having` from left to right.
private struct HavingScanner {
    private let text: String
    private var rest: Substring

    init(_ text: String) {
        self.text = text
        rest = text[...]
    }

    var isAtEnd: Bool {
        mutating get {
            skipSpaces()
            return rest.isEmpty
        }
    }

    private mutating func skipSpaces() { rest = rest.drop { $0 == " " || $0 == "\t" || $0 == "\n" } }

    /// Takes the first of some texts that comes next.
    mutating func take(_ texts: [String]) -> Bool {
        skipSpaces()
        guard let found = texts.first(where: { rest.utf8.starts(with: $0.utf8) }) else { return false }
        rest = rest[rest.utf8.index(rest.startIndex, offsetBy: found.utf8.count)...]
        return true
    }

    /// Takes the longest of some names that comes next.
    mutating func name(among names: [String]) -> String? {
        skipSpaces()
        for name in names.sorted(by: { $0.utf8.count > $1.utf8.count }) where rest.utf8.starts(with: name.utf8) {
            let after = rest.utf8.dropFirst(name.utf8.count).first
            // A longer word is another name.
            if let after, after >= 0x80 || after == 0x5F || after == 0x2E || after == 0x3A { continue }
            if let after, let scalar = UnicodeScalar(Int(after)), scalar.properties.isAlphabetic || after >= 0x30 && after <= 0x39
            {
                continue
            }
            rest = rest[rest.utf8.index(rest.startIndex, offsetBy: name.utf8.count)...]
            return name
        }
        return nil
    }

    /// Takes a literal: a number, a text in quotes, true, false or null.
    ///
    /// - Throws: `invalid_parameter` for anything else.
    mutating func value() throws(Problem) -> QueryArgument {
        skipSpaces()
        if let quote = rest.first, quote == "\"" || quote == "'" {
            let body = rest.dropFirst()
            var (end, isEscaped) = (body.startIndex, false)
            while end < body.endIndex, isEscaped || body[end] != quote {
                isEscaped = !isEscaped && body[end] == "\\"
                end = body.index(after: end)
            }
            guard end < body.endIndex else { throw problem("the text has no closing quote") }
            let content = String(body[..<end])
            rest = body[body.index(after: end)...]
            return .string(HavingScanner.unescaped(content))
        }
        let word = rest.prefix { $0.isLetter || $0.isNumber || "+-._".contains($0) }
        let value: QueryArgument
        switch String(word) {
        case "true": value = .bool(true)
        case "false": value = .bool(false)
        case "null", "nil", "NULL": value = .null
        default:
            if let number = Int64(word) {
                value = .int(number)
            } else if let number = Double(word), number.isFinite {
                value = .double(number)
            } else {
                throw problem("expected a number, a text in quotes, true, false or null")
            }
        }
        rest = rest[word.endIndex...]
        return value
    }

    /// Returns a text in which a backslash takes the next character as it is.
    private static func unescaped(_ text: String) -> String {
        var (result, isEscaped) = ("", false)
        for character in text {
            if !isEscaped, character == "\\" {
                isEscaped = true
            } else {
                result.append(character)
                isEscaped = false
            }
        }
        return result
    }

    /// Makes the problem of a text that is no filter, with the place.
    func problem(_ detail: String) -> Problem {
        let position = text.utf8.count - rest.utf8.count
        return Problem.invalidParameter("having", "\(detail), at position \(position)").with(
            "position", .integer(Int64(position)))
    }
}
