// SPDX-License-Identifier: Apache-2.0

/// The parameters of a request, from its URL and from a JSON body.
///
/// In a URL everything is text, and lists are comma lists. In a body lists are arrays, numbers numbers. A name may stand
/// in one of the two places only.
package struct ParameterSet: Sendable {
    private enum Source: Sendable {
        case url(String)
        case body(JSONValue)
    }

    private var values: [(name: String, source: Source)] = []

    /// `bodyNames` may stand in the body, `urlNames` in the URL; all others are `unknown_parameter`.
    package init(
        _ url: QueryParameters, urlNames: [String], body: JSONObject? = nil, bodyNames: [String] = []
    ) throws(Problem) {
        try url.requireKnown(urlNames)
        values = url.items.map { (name: $0.name, source: .url($0.value)) }
        for member in body?.members ?? [] {
            guard bodyNames.contains(member.name) else { throw QueryParameters.unknown(member.name, bodyNames) }
            guard url[member.name] == nil else {
                throw .conflict("'\(member.name)' is given both in the URL and in the body", parameter: member.name)
            }
            // null in a body means the same as leaving the member out, but for a section, whose key may be null.
            if member.value != .null || member.name == "section" { values.append((member.name, .body(member.value))) }
        }
    }

    /// Whether a parameter is given, in the URL or in the body.
    package func has(_ name: String) -> Bool { values.contains { $0.name == name } }

    private func source(_ name: String) -> Source? { values.first { $0.name == name }?.source }

    // MARK: - Types

    /// A text; nil when it is not given.
    package func text(_ name: String) throws(Problem) -> String? {
        switch source(name) {
        case nil: return nil
        case .url(let text), .body(.string(let text)): return text
        case .body(let value): throw .invalidParameter(name, "'\(name)' is \(value.kind), but has to be a string")
        }
    }

    /// A whole number within `range`.
    package func int(_ name: String, in range: ClosedRange<Int>) throws(Problem) -> Int? {
        let number: Int?
        switch source(name) {
        case nil: return nil
        case .url(let text): number = ParameterSet.digits(text)
        case .body(.integer(let value)): number = Int(value)
        case .body: number = nil
        }
        guard let number, range.contains(number) else {
            let bounds =
                range.upperBound == .max ? "of at least \(range.lowerBound)" : "from \(range.lowerBound) to \(range.upperBound)"
            var problem = Problem.invalidParameter(name, "'\(name)' has to be a whole number \(bounds)")
            if let number, number > range.upperBound { problem = problem.with("limit", .integer(Int64(range.upperBound))) }
            throw problem
        }
        return number
    }

    /// True or false; false when it is not given.
    package func flag(_ name: String) throws(Problem) -> Bool {
        switch source(name) {
        case nil, .url("false"), .body(.bool(false)): return false
        case .url("true"), .body(.bool(true)): return true
        default: throw .invalidParameter(name, "'\(name)' has to be true or false")
        }
    }

    /// One of the words in `choices`; the first when it is not given.
    package func choice(_ name: String, _ choices: [String]) throws(Problem) -> String {
        guard let text = try text(name) else { return choices[0] }
        guard choices.contains(text) else {
            throw .invalidParameter(name, "'\(name)' has to be one of: \(choices.joined(separator: ", "))")
        }
        return text
    }

    /// A list of at most `limit` texts; an empty one among them is refused with what `problemOfEmpty` makes of the name.
    package func list(
        _ name: String, atMost limit: Int, problemOfEmpty: (String) -> Problem = ParameterSet.emptyEntry
    ) throws(Problem) -> [String]? {
        guard let texts = try list(name) else { return nil }
        guard !texts.contains(where: \.isEmpty) else { throw problemOfEmpty(name) }
        guard texts.count <= limit else {
            throw Problem.overLimit(.invalidParameter, "'\(name)' has at most \(limit) entries", limit: limit).with(
                "parameter", name)
        }
        return texts
    }

    private func list(_ name: String) throws(Problem) -> [String]? {
        let texts: [String]
        switch source(name) {
        case nil: return nil
        case .url(let text): texts = ParameterSet.split(text)
        case .body(.array(let values)):
            var strings: [String] = []
            for value in values {
                guard let string = value.string else {
                    throw .invalidParameter(name, "'\(name)' has to be an array of strings")
                }
                strings.append(string)
            }
            texts = strings
        case .body: throw .invalidParameter(name, "'\(name)' has to be an array of strings")
        }
        return texts
    }

    /// An empty text in a list that has no use for one.
    package static func emptyEntry(_ name: String) -> Problem { .invalidParameter(name, "'\(name)' has an empty entry") }

    /// Steps of a path that says what is shown.
    private static let stepLimit = 64

    /// A list of paths. Each step is a level of the answer, so there is a bound: what follows them goes down level by level.
    package func paths(_ name: String, atMost limit: Int) throws(Problem) -> [String]? {
        let paths = try list(name, atMost: limit)
        for path in paths ?? [] where path.utf8.count(where: { $0 == UInt8(ascii: ".") }) >= ParameterSet.stepLimit {
            throw Problem.invalidParameter(name, "'\(name)' has a path of more than \(ParameterSet.stepLimit) steps")
                .with("limit", .integer(Int64(ParameterSet.stepLimit)))
        }
        return paths
    }

    /// A list of whole numbers.
    package func integers(_ name: String) throws(Problem) -> [Int]? {
        let numbers: [Int?]
        switch source(name) {
        case nil: return nil
        case .url(let text):
            numbers =
                text.isEmpty
                ? [] : text.split(separator: ",", omittingEmptySubsequences: false).map { ParameterSet.digits(String($0)) }
        case .body(.array(let values)):
            numbers = values.map { value in
                if case .integer(let number) = value { return Int(number) }
                return nil
            }
        case .body: numbers = [nil]
        }
        var result: [Int] = []
        for number in numbers {
            guard let number else { throw .invalidParameter(name, "'\(name)' has to be a list of whole numbers") }
            result.append(number)
        }
        return result
    }

    /// JSON: parsed from the text of a URL, or the member as it is.
    package func json(_ name: String, depthLimit: Int) throws(Problem) -> JSONValue? {
        switch source(name) {
        case nil: return nil
        case .body(let value): return value
        case .url(let text):
            do throws(JSONError) {
                return try JSONParser.parse(text, depthLimit: depthLimit)
            } catch {
                throw .invalidParameter(name, "'\(name)' is no JSON: \(error)")
            }
        }
    }

    /// The text of a URL or the JSON of a body: for parameters that are written differently in the two.
    package enum TextOrJSON: Sendable, Equatable {
        case text(String)
        case json(JSONValue)
    }

    /// The value in the form that its place gives it; nil when it is not given.
    package func textOrJSON(_ name: String) -> TextOrJSON? {
        switch source(name) {
        case nil: return nil
        case .url(let text): return .text(text)
        case .body(let value): return .json(value)
        }
    }

    // MARK: - Text

    /// Digits with an optional minus sign; nothing else that `Int` would take.
    private static func digits(_ text: String) -> Int? {
        let digits = text.utf8.first == UInt8(ascii: "-") ? text.utf8.dropFirst() : text.utf8[...]
        guard !digits.isEmpty, digits.allSatisfy({ $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }) else { return nil }
        return Int(text)
    }

    /// Splits at commas that are neither in quotes nor in brackets, as dictionary keys in key paths may be.
    static func split(_ text: String) -> [String] {
        var parts: [String] = []
        var current = ""
        var quote: Character?
        var depth = 0
        for character in text {
            if let open = quote {
                if character == open { quote = nil }
            } else if character == "'" || character == "\"" {
                quote = character
            } else if character == "[" || character == "(" {
                depth += 1
            } else if character == "]" || character == ")" {
                depth -= 1
            } else if character == ",", depth <= 0 {
                parts.append(current)
                current = ""
                continue
            }
            current.append(character)
        }
        parts.append(current)
        return parts
    }
}
