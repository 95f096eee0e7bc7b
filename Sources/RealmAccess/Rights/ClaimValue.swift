// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmQuery
internal import RealmStorage

/// Values of claims as arguments of rules.
///
/// A claim that is not a valid argument makes the rule false, because anything else could reveal more than was meant: a claim
/// that is missing, null or an empty string, an object, a number beyond 64 bits, a list anywhere but after `IN`, a list with such
/// elements, or a value that is too long.
enum ClaimValue {
    /// The number of elements that a list may have.
    static let maximumElementCount = 1000
    /// The number of bytes that a text, or all of a list together, may have.
    static let maximumByteCount = 64 << 10

    /// A value as an argument, with its form for comparisons.
    struct Bound {
        let argument: QueryArgument
        /// A form that is equal exactly for equal values.
        let form: RightsForm
    }

    /// Returns a claim as an argument; nil when it cannot be one.
    ///
    /// - Parameters:
    ///   - json: The claim; nil when it is lacking.
    ///   - isList: Whether it follows `IN`. A single value is a list of one there.
    static func bound(_ json: JSONValue?, isList: Bool) -> Bound? {
        guard let json else { return nil }
        guard isList else { return single(json) }
        return list(json.array ?? [json])
    }

    /// Returns a value that is no list as an argument; nil when it cannot be one.
    private static func single(_ json: JSONValue) -> Bound? {
        var form = RightsForm()
        switch json {
        case .bool(let flag):
            form.add(flag ? "true" : "false")
            return Bound(argument: .bool(flag), form: form)
        case .integer(let number):
            form.add("int \(number)")
            return Bound(argument: .int(number), form: form)
        case .real(let number) where number.isFinite:
            form.add("real \(number.bitPattern)")
            return Bound(argument: .double(number), form: form)
        case .string(let text) where !text.isEmpty && text.utf8.count <= maximumByteCount:
            form.add("text " + text)
            // A string without a type takes that of the property: a number, a date or a UUID.
            return Bound(argument: .text(text), form: form)
        default: return nil
        }
    }

    /// Returns a list as an argument; nil when it has an element that cannot be one, or too many. The order of elements does not
    /// matter after `IN`, so they are sorted.
    private static func list(_ elements: [JSONValue]) -> Bound? {
        guard elements.count <= maximumElementCount else { return nil }
        var bound: [Bound] = []
        var byteCount = 0
        for element in elements {
            guard let one = single(element) else { return nil }
            byteCount += one.form.bytes.count
            guard byteCount <= maximumByteCount else { return nil }
            bound.append(one)
        }
        bound.sort { $0.form.bytes.lexicographicallyPrecedes($1.form.bytes) }
        var form = RightsForm()
        var arguments: [QueryArgument] = []
        var previous: RightsForm?
        for one in bound where one.form != previous {
            arguments.append(one.argument)
            form.add(one.form)
            previous = one.form
        }
        var whole = RightsForm()
        whole.add("list \(arguments.count)")
        whole.add(form)
        return Bound(argument: .list(arguments), form: whole)
    }
}
