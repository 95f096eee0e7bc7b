// SPDX-License-Identifier: Apache-2.0

/// Writing the text of an ObjectId into memory that the caller provides.
extension ObjectID {
    /// The length of the text in bytes.
    package static let textByteCount = 24

    /// Writes the text, 24 lower-case hex digits, to `target`, which must have room for them.
    package func write(to target: UnsafeMutablePointer<UInt8>) {
        unsafe HexWriter.write(first, byteCount: 8, to: target)
        unsafe HexWriter.write(UInt64(last), byteCount: 4, to: target + 16)
    }
}

/// Writing the text of a UUID into memory that the caller provides.
extension UUIDValue {
    /// The length of the text in bytes.
    package static let textByteCount = 36

    /// Writes the canonical text in lower case to `target`, which must have room for 36 bytes.
    package func write(to target: UnsafeMutablePointer<UInt8>) {
        unsafe HexWriter.write(first >> 32, byteCount: 4, to: target)
        unsafe HexWriter.write(first >> 16, byteCount: 2, to: target + 9)
        unsafe HexWriter.write(first, byteCount: 2, to: target + 14)
        unsafe HexWriter.write(last >> 48, byteCount: 2, to: target + 19)
        unsafe HexWriter.write(last, byteCount: 6, to: target + 24)
        unsafe target[8] = UInt8(ascii: "-")
        unsafe target[13] = UInt8(ascii: "-")
        unsafe target[18] = UInt8(ascii: "-")
        unsafe target[23] = UInt8(ascii: "-")
    }
}
