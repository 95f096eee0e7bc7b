// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The part of some data that a request asks for by `Range`.
///
/// Source: RFC 9110, section 14.
package enum ByteRange: Sendable, Equatable {
    /// Everything: there is no `Range`, it has another unit, several parts, or no sense. A server may
    /// ignore the field in each of these cases.
    case whole
    /// The bytes of one part, which lie in the data.
    case part(Range<Int>)
    /// A part that begins beyond the end of the data.
    case beyond

    /// Reads the value of the field.
    ///
    /// - Parameters:
    ///   - text: The value; nil when the request does not have the field.
    ///   - byteCount: The length of the data.
    package init(_ text: String?, of byteCount: Int) {
        self = text.flatMap { ByteRange.parse($0, byteCount) } ?? .whole
    }

    /// Parses a value; nil for one that is to be ignored.
    private static func parse(_ text: String, _ byteCount: Int) -> ByteRange? {
        let unit = "bytes="
        guard text.lowercasedASCII.hasPrefix(unit) else { return nil }
        let bounds = text.dropFirst(unit.count).split(separator: "-", omittingEmptySubsequences: false).map(\.withoutBlanks)
        guard bounds.count == 2 else { return nil }
        guard !bounds[0].isEmpty else {
            guard let length = digits(bounds[1]) else { return nil }
            return length == 0 || byteCount == 0 ? .beyond : .part(max(0, byteCount - length)..<byteCount)
        }
        guard let first = digits(bounds[0]) else { return nil }
        var last = Int.max
        if !bounds[1].isEmpty {
            guard let stated = digits(bounds[1]), stated >= first else { return nil }
            last = stated
        }
        guard first < byteCount else { return .beyond }
        return .part(first..<min(last, byteCount - 1) + 1)
    }

    /// Returns a number of digits alone; one beyond 64 bits is the largest number. Nil for any other text.
    private static func digits(_ text: Substring) -> Int? {
        guard !text.isEmpty, text.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else { return nil }
        return Int(text) ?? .max
    }
}
