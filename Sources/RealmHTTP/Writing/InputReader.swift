// SPDX-License-Identifier: Apache-2.0

package import RealmEngine
internal import RealmStorage

/// Turns JSON into inputs: plain forms stay as they are until they meet a property, Extended JSON wrappers and link
/// stubs say their type themselves.
///
/// An object is a wrapper when its only member has the name of one. All others are objects; what is wrong with their
/// members is for the place they meet to say.
package struct InputReader {
    /// Whether `{"$expr":…}` is an expression: in migrations only.
    private let takesExpressions: Bool

    package init(takesExpressions: Bool = false) { self.takesExpressions = takesExpressions }

    /// A mistake in a wrapper, and where it is.
    package struct Mistake: Error, Sendable {
        package let code: ProblemCode
        package let detail: String
        package var steps: [InputPath.Step] = []

        /// The same mistake, seen from what holds the value.
        func inside(_ step: InputPath.Step) -> Mistake {
            Mistake(code: code, detail: detail, steps: [step] + steps)
        }
    }

    package func value(_ json: JSONValue) throws(Mistake) -> InputValue {
        switch json {
        case .null: return .null
        case .bool(let flag): return .bool(flag)
        case .integer(let number): return .integer(number)
        case .longInteger(let digits): return .wideInteger(digits)
        case .real(let number): return .real(number)
        case .longReal(let digits): return .wideReal(digits)
        case .string(let text): return .text(text)
        case .array(let elements): return .list(try values(elements))
        case .object(let object):
            if let (name, inner) = object.single, name.hasPrefix("$"), let value = try wrapper(name, inner) { return value }
            return .object(try members(object))
        }
    }

    package func values(_ elements: [JSONValue]) throws(Mistake) -> [InputValue] {
        var values: [InputValue] = []
        values.reserveCapacity(elements.count)
        for (index, element) in elements.enumerated() {
            do throws(Mistake) { values.append(try value(element)) } catch { throw error.inside(.index(index)) }
        }
        return values
    }

    /// The members of an object of a class.
    package func object(_ json: JSONValue) throws(Mistake) -> InputObject {
        guard let object = json.object else {
            throw Mistake(code: .typeMismatch, detail: "\(json.kind) stands where an object of the class belongs")
        }
        return try members(object)
    }

    private func members(_ object: JSONObject) throws(Mistake) -> InputObject {
        var members: [(name: String, value: InputValue)] = []
        members.reserveCapacity(object.count)
        for member in object.members {
            // What it says is of no interest, so it need not make sense either.
            guard member.name != "$meta" else {
                members.append((name: member.name, value: .null))
                continue
            }
            do throws(Mistake) {
                members.append((name: member.name, value: try value(member.value)))
            } catch {
                throw error.inside(.name(member.name))
            }
        }
        return InputObject(members)
    }

    // MARK: - Wrappers

    /// Nil when there is no wrapper of this name.
    private func wrapper(_ name: String, _ value: JSONValue) throws(Mistake) -> InputValue? {
        let read: InputValue?
        switch name {
        case "$numberInt": read = try integer(value, Int64(Int32.min)...Int64(Int32.max)).map { .typed(.int($0)) }
        case "$numberLong": read = try integer(value, .min ... .max).map { .typed(.int($0)) }
        case "$numberDouble": read = try real(value).map { .typed(.double($0)) }
        case "$numberFloat": read = try float(value).map { .typed(.float($0)) }
        case "$numberDecimal": read = try decimal(value).map { .typed(.decimal($0)) }
        case "$oid": read = value.string.flatMap { ObjectID($0) }.map { .typed(.objectID($0)) }
        case "$uuid": read = value.string.flatMap { UUIDValue($0) }.map { .typed(.uuid($0)) }
        case "$binary": read = WrapperText.binary(value).map { .typed($0) }
        case "$bytes": read = value.string.flatMap { Base64.decode($0) }.map { .typed(.stringBytes($0)) }
        case "$date": read = WrapperText.date(value).map { .typed(.timestamp($0)) }
        case "$instant": read = WrapperText.instant(value).map { .typed(.timestamp($0)) }
        case "$link": read = InputReader.link(value).map { .link($0) }
        case "$expr" where takesExpressions: read = value.string.map { .expression($0) }
        default: return nil
        }
        guard let read else { throw Mistake(code: .typeMismatch, detail: "the value of '\(name)' cannot be read") }
        return read
    }

    /// `{"class","key"}`, or `{"ref"}` for an object made earlier in the same request.
    private static func link(_ value: JSONValue) -> LinkInput? {
        guard let stub = value.object else { return nil }
        if stub.count == 1, let name = stub["ref"]?.string { return .reference(name) }
        guard stub.count == 2, let name = stub["class"]?.string, let key = stub["key"]?.string else { return nil }
        return .stub(className: name, key: .text(key))
    }

    // MARK: - Numbers

    private func integer(_ value: JSONValue, _ range: ClosedRange<Int64>) throws(Mistake) -> Int64? {
        let text: String
        switch value {
        case .integer(let number): return try within(number, range)
        case .string(let digits), .longInteger(let digits): text = digits
        default: return nil
        }
        let digits = text.utf8.first == UInt8(ascii: "-") ? text.utf8.dropFirst() : text.utf8[...]
        guard !digits.isEmpty, digits.allSatisfy({ $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }) else { return nil }
        guard let number = Int64(text) else { throw tooLarge }
        return try within(number, range)
    }

    private func within(_ number: Int64, _ range: ClosedRange<Int64>) throws(Mistake) -> Int64 {
        guard range.contains(number) else { throw tooLarge }
        return number
    }

    private func real(_ value: JSONValue) throws(Mistake) -> Double? {
        switch value {
        case .integer(let number): return Double(number)
        case .real(let number): return number
        case .longInteger(let text): return try finite(text)
        case .longReal: throw tooLarge
        case .string("NaN"): return .nan
        case .string("Infinity"): return .infinity
        case .string("-Infinity"): return -.infinity
        case .string(let text): return JSONTokens.isNumber(text[...].utf8) ? try finite(text) : nil
        default: return nil
        }
    }

    private func finite(_ text: String) throws(Mistake) -> Double {
        guard let number = Double(text), number.isFinite else { throw tooLarge }
        return number
    }

    /// The float nearest to the number.
    private func float(_ value: JSONValue) throws(Mistake) -> Float? {
        if case .string(let text) = value, JSONTokens.isNumber(text[...].utf8) {
            guard let number = Float(text), number.isFinite else { throw tooLarge }
            return number
        }
        guard let number = try real(value) else { return nil }
        let narrow = Float(number)
        guard narrow.isFinite || !number.isFinite else { throw tooLarge }
        return narrow
    }

    private func decimal(_ value: JSONValue) throws(Mistake) -> Decimal128? {
        let text: String
        switch value {
        case .string(let digits), .longInteger(let digits): text = digits
        case .integer(let number): text = String(number)
        case .real, .longReal:
            throw Mistake(code: .decimalNeedsString, detail: "a decimal with fraction or exponent is given as a text")
        default: return nil
        }
        guard WrapperText.isDecimal(text), let parsed = Decimal128.parse(text) else { return nil }
        guard parsed.isExact else {
            throw Mistake(code: .outOfRange, detail: "a decimal has at most 34 digits and exponents from -6176 to 6111")
        }
        return parsed.value
    }

    private var tooLarge: Mistake { Mistake(code: .outOfRange, detail: "the number is beyond the range of its type") }
}

extension InputReader.Mistake {
    /// The problem it is for an input that stands at `root` in the body.
    func problem(at root: InputPath = InputPath()) -> Problem {
        Problem(code, detail).with("pointer", root.description + InputPath(steps).description)
    }
}

/// What stands in wrappers.
enum WrapperText {
    /// Only what is written out is read, not every spelling that the query language knows.
    static func isDecimal(_ text: String) -> Bool {
        if ["NaN", "Infinity", "-Infinity"].contains(text) { return true }
        let digits = text.utf8.first == UInt8(ascii: "-") || text.utf8.first == UInt8(ascii: "+")
            ? text.utf8.dropFirst() : text.utf8[...]
        guard let first = digits.first, first != UInt8(ascii: "-"), first != UInt8(ascii: "+") else { return false }
        return digits.allSatisfy { ($0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9")) || ".eE+-".utf8.contains($0) }
    }

    /// Base64, or base64 with a subtype; 4 is a UUID.
    static func binary(_ value: JSONValue) -> TypedInput? {
        if let text = value.string { return Base64.decode(text).map { .binary($0) } }
        guard let object = value.object, object.count == 2, let bytes = object["base64"]?.string.flatMap({ Base64.decode($0) }),
            let subtype = object["subType"]?.string, (1...2).contains(subtype.utf8.count), UInt8(subtype, radix: 16) != nil
        else { return nil }
        guard UInt8(subtype, radix: 16) == 4 else { return .binary(bytes) }
        let storage = ByteStorage(bytes)
        return withExtendedLifetime(storage) { UUIDValue(bytes: storage.view).map { .uuid($0) } }
    }

    /// RFC 3339 text, or milliseconds as `$numberLong`.
    static func date(_ value: JSONValue) -> Timestamp? {
        if let text = value.string { return Timestamp(rfc3339: text) }
        guard let (name, inner) = value.object?.single, name == "$numberLong", let milliseconds = integer(inner) else { return nil }
        return Timestamp(seconds: milliseconds / 1000, nanoseconds: Int32(milliseconds % 1000) * 1_000_000)
    }

    static func instant(_ value: JSONValue) -> Timestamp? {
        guard let object = value.object, object.count == 2, let seconds = object["seconds"].flatMap(integer),
            let nanoseconds = object["nanoseconds"].flatMap(integer), nanoseconds.magnitude < 1_000_000_000
        else { return nil }
        // Both parts have one sign in the file; a positive fraction of a time before 1970 is moved over.
        if seconds < 0, nanoseconds > 0 { return Timestamp(seconds: seconds + 1, nanoseconds: Int32(nanoseconds) - 1_000_000_000) }
        if seconds > 0, nanoseconds < 0 { return Timestamp(seconds: seconds - 1, nanoseconds: Int32(nanoseconds) + 1_000_000_000) }
        return Timestamp(seconds: seconds, nanoseconds: Int32(nanoseconds))
    }

    private static func integer(_ value: JSONValue) -> Int64? {
        switch value {
        case .integer(let number): return number
        case .string(let text): return text.utf8.first == UInt8(ascii: "+") ? nil : Int64(text)
        default: return nil
        }
    }
}
