// SPDX-License-Identifier: Apache-2.0

import RealmPlatform
internal import RealmStorage

/// The one form in which tests hold JSON: integers stay exact, other numbers keep their text, objects keep the order of their
/// members. Two values are equal if the same tokens stand in both, so `1.0` is neither `1` nor `1.00`.
package indirect enum ParsedJSON: Sendable, Equatable {
    case null
    case bool(Bool)
    /// A number whose text is that of a 64-bit integer, without a needless sign or zero.
    case integer(Int64)
    /// The text of any other number: with a fraction, with an exponent, beyond 64 bits, or `-0`.
    case number(String)
    case string(String)
    case array([ParsedJSON])
    case object([Member])

    package struct Member: Sendable, Equatable {
        package let name: String
        package let value: ParsedJSON

        package init(name: String, value: ParsedJSON) {
            self.name = name
            self.value = value
        }

        /// Compares names by their bytes.
        package static func == (one: Member, other: Member) -> Bool {
            one.name.utf8.elementsEqual(other.name.utf8) && one.value == other.value
        }
    }

    /// Compares texts by their bytes: to `String`, an accented letter is the same in all the ways in which Unicode spells it.
    package static func == (one: ParsedJSON, other: ParsedJSON) -> Bool {
        switch (one, other) {
        case (.null, .null): true
        case (.bool(let one), .bool(let other)): one == other
        case (.integer(let one), .integer(let other)): one == other
        case (.number(let one), .number(let other)): one == other
        case (.string(let one), .string(let other)): one.utf8.elementsEqual(other.utf8)
        case (.array(let one), .array(let other)): one == other
        case (.object(let one), .object(let other)): one == other
        default: false
        }
    }

    // MARK: - Making

    package static func object(_ members: [(String, ParsedJSON)]) -> ParsedJSON {
        .object(members.map { Member(name: $0.0, value: $0.1) })
    }

    /// An object with one member.
    package static func wrapper(_ name: String, _ value: ParsedJSON) -> ParsedJSON {
        .object([Member(name: name, value: value)])
    }

    /// A number as Swift writes it.
    package static func real(_ number: Double) -> ParsedJSON { .number("\(number)") }

    // MARK: - Looking inside

    /// The member of an object; nil if there is none, or if this is no object.
    package subscript(_ name: String) -> ParsedJSON? { members?.first { $0.name == name }?.value }

    /// The element of an array; nil if there is none, or if this is no array.
    package subscript(_ index: Int) -> ParsedJSON? {
        guard let elements, elements.indices.contains(index) else { return nil }
        return elements[index]
    }

    package var members: [Member]? {
        if case .object(let members) = self { return members }
        return nil
    }

    package var elements: [ParsedJSON]? {
        if case .array(let elements) = self { return elements }
        return nil
    }

    package var text: String? {
        if case .string(let text) = self { return text }
        return nil
    }

    package var bool: Bool? {
        if case .bool(let flag) = self { return flag }
        return nil
    }

    package var isTrue: Bool { self == .bool(true) }

    package var integer: Int64? {
        if case .integer(let number) = self { return number }
        return nil
    }

    package var int: Int? { integer.map { Int($0) } }

    /// Any number, as near as a `Double` comes to it.
    package var double: Double? {
        switch self {
        case .integer(let number): return Double(number)
        case .number(let text): return Double(text)
        default: return nil
        }
    }

    /// An array of nothing but texts.
    package var texts: [String]? { all(\.text) }

    /// An array of nothing but integers.
    package var ints: [Int]? { all(\.int) }

    /// An object of nothing but integers.
    package var intsByName: [String: Int]? {
        guard let members else { return nil }
        let pairs = members.compactMap { member in member.value.int.map { (member.name, $0) } }
        return pairs.count == members.count ? Dictionary(pairs) { first, _ in first } : nil
    }

    private func all<Value>(_ part: (ParsedJSON) -> Value?) -> [Value]? {
        guard let elements else { return nil }
        let parts = elements.compactMap(part)
        return parts.count == elements.count ? parts : nil
    }
}

extension ParsedJSON: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    package init(stringLiteral text: String) { self = .string(text) }
    package init(integerLiteral number: Int64) { self = .integer(number) }
    package init(booleanLiteral flag: Bool) { self = .bool(flag) }
    package init(arrayLiteral elements: ParsedJSON...) { self = .array(elements) }
    package init(dictionaryLiteral members: (String, ParsedJSON)...) { self = .object(members) }
}
