// SPDX-License-Identifier: Apache-2.0

package import MicroHTTP
package import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The parameters of a request, from its URL and from a JSON body.
///
/// In a URL every value is text, and a list is a text with commas. In a body lists are arrays and
/// numbers are numbers. The functions of this type take both forms, so callers need not know where
/// a parameter came from. A name may occur in one of the two places only.
package struct ParameterSet: Sendable {
    /// A value in the form of the place where it was given.
    private enum Source: Sendable {
        /// The decoded text of a parameter in the URL.
        case url(String)
        /// A member of the body, as the JSON value it has there.
        case body(JSONValue)
    }

    /// The parameters in the order in which they were given, those of the URL first. Each name occurs once.
    private var values: [(name: String, source: Source)] = []

    /// Joins the parameters of a URL and a body.
    ///
    /// A null in the body counts as an absent member, except in `section` and `indexOf`, which may name null.
    ///
    /// - Parameters:
    ///   - urlNames: The names that are known in the URL.
    ///   - body: The object in the body; nil when there is none.
    ///   - bodyNames: The names that are known in the body.
    /// - Throws: `unknown_parameter` for other names, with a similar known name, and `conflicting_parameters`
    ///   for a name in both places.
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
            if member.value != .null || ["section", "indexOf"].contains(member.name) {
                values.append((member.name, .body(member.value)))
            }
        }
    }

    /// Reads the parameters in the URL of a request, which its operation states.
    package init(_ call: Call) throws(Problem) {
        try self.init(QueryParameters(call.request.target), urlNames: call.queryNames)
    }

    /// Whether a parameter is given, in the URL or in the body.
    package func has(_ name: String) -> Bool { values.contains { $0.name == name } }

    /// The names of all parameters, in the order in which they were given.
    package var names: [String] { values.map(\.name) }

    /// The value of a parameter in the form in which it was given; nil when it is absent.
    private func source(_ name: String) -> Source? { values.first { $0.name == name }?.source }

    // MARK: - Types

    /// Returns a parameter that is a text; nil when it is absent.
    ///
    /// - Throws: `invalid_parameter` for a member of the body that is no string.
    package func text(_ name: String) throws(Problem) -> String? {
        switch source(name) {
        case nil: return nil
        case .url(let text), .body(.string(let text)): return text
        case .body(let value): throw .invalidParameter(name, "'\(name)' is \(value.kind), but must be a string")
        }
    }

    /// Returns a parameter that is a whole number; nil when it is absent.
    ///
    /// - Parameters:
    ///   - range: The permitted numbers. An upper bound of `Int.max` is not mentioned in the
    ///     problem.
    /// - Throws: `invalid_parameter`, with `limit` when the number exceeds the upper bound.
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
            var problem = Problem.invalidParameter(name, "'\(name)' must be a whole number \(bounds)")
            if let number, number > range.upperBound { problem = problem.with("limit", .integer(Int64(range.upperBound))) }
            throw problem
        }
        return number
    }

    /// Returns a parameter that is true or false; false when it is absent.
    ///
    /// - Throws: `invalid_parameter` for anything else.
    package func flag(_ name: String) throws(Problem) -> Bool {
        switch source(name) {
        case nil, .url("false"), .body(.bool(false)): return false
        case .url("true"), .body(.bool(true)): return true
        default: throw .invalidParameter(name, "'\(name)' must be true or false")
        }
    }

    /// Returns a parameter that is one of some words.
    ///
    /// - Parameters:
    ///   - choices: The permitted words. The first is the default.
    /// - Throws: `invalid_parameter` for any other word.
    package func choice(_ name: String, _ choices: [String]) throws(Problem) -> String {
        guard let text = try text(name) else { return choices[0] }
        guard choices.contains(text) else {
            throw .invalidParameter(name, "'\(name)' must be one of: \(choices.joined(separator: ", "))")
        }
        return text
    }

    /// Returns a parameter that is a list of strings; nil when it is absent.
    ///
    /// - Parameters:
    ///   - limit: The largest permitted number of entries.
    ///   - problemOfEmpty: Makes the problem of an empty entry from the name of the parameter.
    /// - Throws: `invalid_parameter` for a list that is too long or no list, and the problem from `problemOfEmpty`.
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

    /// Returns the entries of a list, empty ones included; nil when the parameter is absent.
    private func list(_ name: String) throws(Problem) -> [String]? {
        let texts: [String]
        switch source(name) {
        case nil: return nil
        case .url(let text): texts = ParameterSet.split(text)
        case .body(.array(let values)):
            var strings: [String] = []
            for value in values {
                guard let string = value.string else {
                    throw .invalidParameter(name, "'\(name)' must be an array of strings")
                }
                strings.append(string)
            }
            texts = strings
        case .body: throw .invalidParameter(name, "'\(name)' must be an array of strings")
        }
        return texts
    }

    /// Makes the usual problem of an empty entry in a list.
    package static func emptyEntry(_ name: String) -> Problem { .invalidParameter(name, "'\(name)' has an empty entry") }

    /// The largest number of steps of a path in `fields` or `expand`.
    private static let stepLimit = 64

    /// Returns a parameter that is a list of key paths; nil when it is absent.
    ///
    /// Each step of a path is a level of the response, and objects are written level by level, so the
    /// number of steps is bounded.
    ///
    /// - Parameters:
    ///   - limit: The largest permitted number of paths.
    /// - Throws: `invalid_parameter` for a list that is too long, or a path of more than 64 steps.
    package func paths(_ name: String, atMost limit: Int) throws(Problem) -> [String]? {
        let paths = try list(name, atMost: limit)
        for path in paths ?? [] where path.utf8.count(where: { $0 == UInt8(ascii: ".") }) >= ParameterSet.stepLimit {
            throw Problem.invalidParameter(name, "'\(name)' has a path of more than \(ParameterSet.stepLimit) steps")
                .with("limit", .integer(Int64(ParameterSet.stepLimit)))
        }
        return paths
    }

    /// Returns a parameter that is a list of whole numbers, which may be negative; nil when it is absent.
    ///
    /// - Throws: `invalid_parameter` when an entry is no whole number.
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
            guard let number else { throw .invalidParameter(name, "'\(name)' must be a list of whole numbers") }
            result.append(number)
        }
        return result
    }

    /// Returns a parameter that is JSON: parsed from the text of a URL, or the member of the body
    /// as it is. Nil when it is absent.
    ///
    /// - Parameters:
    ///   - depthLimit: The largest nesting depth of JSON in a URL; a body was checked before.
    /// - Throws: `invalid_parameter` for text that is not JSON.
    package func json(_ name: String, depthLimit: Int) throws(Problem) -> JSONValue? {
        switch source(name) {
        case nil: return nil
        case .body(let value): return value
        case .url(let text):
            do throws(JSONError) {
                return try JSONParser.parse(text, depthLimit: depthLimit)
            } catch {
                throw .invalidParameter(name, "'\(name)' is not JSON: \(error)")
            }
        }
    }

    /// A value in the form of its place, for parameters that are written differently in URLs and bodies.
    package enum TextOrJSON: Sendable, Equatable {
        /// The decoded text of a parameter in the URL.
        case text(String)
        /// The JSON value of a member of the body.
        case json(JSONValue)
    }

    /// Returns a parameter in the form that its place gives it; nil when it is absent.
    package func textOrJSON(_ name: String) -> TextOrJSON? {
        switch source(name) {
        case nil: return nil
        case .url(let text): return .text(text)
        case .body(let value): return .json(value)
        }
    }

    // MARK: - Text

    /// Returns the number that decimal digits with an optional minus sign represent; nil for any
    /// other text. `Int` alone would also accept a plus sign.
    private static func digits(_ text: String) -> Int? {
        let digits = text.utf8.first == UInt8(ascii: "-") ? text.utf8.dropFirst() : text.utf8[...]
        guard !digits.isEmpty, digits.allSatisfy({ $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }) else { return nil }
        return Int(text)
    }

    /// Splits the text of a list at its commas.
    ///
    /// Commas in quotes or brackets do not separate, because key paths may hold dictionary keys there.
    package static func split(_ text: String) -> [String] {
        var parts: [String] = []
        var current = ""
        var quote: Unicode.Scalar?
        var depth = 0
        for character in text.unicodeScalars {
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
            current.unicodeScalars.append(character)
        }
        parts.append(current)
        return parts
    }
}
