// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// Writing the text of an ObjectId into memory that the caller provides.
extension ObjectID {
    /// The length of the text in bytes.
    package static let textByteCount = 24

    /// Writes the text, 24 lower-case hex digits, to `target`, which must have room for them.
    package func write(to target: WritableBytes) {
        HexWriter.write(first, byteCount: 8, to: target)
        HexWriter.write(UInt64(last), byteCount: 4, to: target.suffix(from: 16))
    }
}

/// Writing the text of a UUID into memory that the caller provides.
extension UUIDValue {
    /// The length of the text in bytes.
    package static let textByteCount = 36

    /// Writes the canonical text in lower case to `target`, which must have room for 36 bytes.
    package func write(to target: WritableBytes) {
        target.require(UUIDValue.textByteCount)
        HexWriter.write(first >> 32, byteCount: 4, to: target)
        HexWriter.write(first >> 16, byteCount: 2, to: target.suffix(from: 9))
        HexWriter.write(first, byteCount: 2, to: target.suffix(from: 14))
        HexWriter.write(last >> 48, byteCount: 2, to: target.suffix(from: 19))
        HexWriter.write(last, byteCount: 6, to: target.suffix(from: 24))
        target[8] = UInt8(ascii: "-")
        target[13] = UInt8(ascii: "-")
        target[18] = UInt8(ascii: "-")
        target[23] = UInt8(ascii: "-")
    }
}
