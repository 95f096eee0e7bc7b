// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// ObjectIds as 24 hex digits and as bytes.
extension ObjectID: CustomStringConvertible {
    /// Reads a text of exactly 24 hex digits in either case; nil for any other text.
    package init?(_ text: String) {
        var digits = HexReader(text)
        guard text.utf8.count == 24, let first = digits.number(16), let last = digits.number(8) else { return nil }
        self.init(first: first, last: UInt32(truncatingIfNeeded: last))
    }

    /// Makes an id of twelve bytes; nil for any other number of bytes.
    package init?(bytes: ByteView) {
        guard bytes.count == 12 else { return nil }
        self = bytes.objectID(at: 0)
    }

    /// The twelve bytes in the order of the text.
    package var bytes: [UInt8] { HexReader.bytes(first, 8) + HexReader.bytes(UInt64(last), 4) }

    /// Appends the text: 24 lower-case hex digits.
    package func append(to text: inout [UInt8]) {
        text.appendBytes(capacity: ObjectID.textByteCount) { target in
            write(to: target)
            return ObjectID.textByteCount
        }
    }

    /// The text: 24 lower-case hex digits.
    package var description: String {
        var text: [UInt8] = []
        append(to: &text)
        return String(decoding: text, as: UTF8.self)
    }
}

/// UUIDs as five groups of hex digits and as bytes.
extension UUIDValue: CustomStringConvertible {
    /// Reads a text in the canonical form 8-4-4-4-12, with hex digits in either case; nil for any other text.
    package init?(_ text: String) {
        var digits = HexReader(text)
        guard text.utf8.count == 36, let a = digits.number(8), digits.takeHyphen(), let b = digits.number(4),
            digits.takeHyphen(), let c = digits.number(4), digits.takeHyphen(), let d = digits.number(4),
            digits.takeHyphen(), let e = digits.number(12)
        else { return nil }
        self.init(first: a << 32 | b << 16 | c, last: d << 48 | e)
    }

    /// Makes a UUID of sixteen bytes; nil for any other number of bytes.
    package init?(bytes: ByteView) {
        guard bytes.count == 16 else { return nil }
        self = bytes.uuid(at: 0)
    }

    /// The sixteen bytes in the order of the text.
    package var bytes: [UInt8] { HexReader.bytes(first, 8) + HexReader.bytes(last, 8) }

    /// Appends the canonical text in lower case.
    package func append(to text: inout [UInt8]) {
        text.appendBytes(capacity: UUIDValue.textByteCount) { target in
            write(to: target)
            return UUIDValue.textByteCount
        }
    }

    /// The canonical text in lower case.
    package var description: String {
        var text: [UInt8] = []
        append(to: &text)
        return String(decoding: text, as: UTF8.self)
    }
}
