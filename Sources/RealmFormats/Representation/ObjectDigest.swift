// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmPlatform
package import RealmStorage

/// A digest of everything that an object stores, which becomes its entity tag in every representation.
///
/// It has 128 bits, from two lanes of multiplications that are folded, and depends on the position and kind of every value. It
/// distinguishes versions of one object; it is no protection against an attacker who may choose two states that should look
/// alike. Embedded objects are part of their owner, links count by their target, collections by their elements.
package struct ObjectDigest {
    /// The first lane. The start is a constant without structure: digits of pi.
    private var first: UInt64 = 0x243f_6a88_85a3_08d3
    /// The second of the two 64-bit lanes, which begins with the next digits of pi.
    private var second: UInt64 = 0x1319_8a2e_0370_7344

    /// The number of characters that a digest has as text in an entity tag.
    package static let textByteCount = 16

    /// Begins the digest of an object.
    ///
    /// - Parameter key: The object key, so that equal contents of two objects have different
    ///   digests.
    package init(of key: ObjectKey) { add(UInt64(bitPattern: key.rawValue)) }

    /// Appends the digest as text: 96 of its 128 bits, as 16 characters of base64url.
    package func appendText(to buffer: OutputBuffer) {
        buffer.append(base64URLDigitsOf: first, digitCount: 10)
        buffer.append(base64URLDigitsOf: second, digitCount: 6)
    }

    /// Adds a 64-bit word to the digest. The order of additions matters.
    @inline(__always) package mutating func add(_ word: UInt64) {
        let (high, low) = (first ^ word).multipliedFullWidth(by: 0x9e37_79b9_7f4a_7c15)
        first = high ^ low ^ second
        second = (second &+ word) &* 0xc2b2_ae3d_27d4_eb4f
        second ^= second >> 29
    }

    /// Adds a string or data value of the file: the number of its bytes, then the bytes.
    @inline(__always) mutating func add(_ bytes: ByteView) {
        add(UInt64(truncatingIfNeeded: bytes.count))
        bytes.forEachWord { add($0) }
    }

    /// Adds a value that refers to nothing else. For links and collections it adds a mark only;
    /// `DigestReader` adds their contents.
    @inline(__always) package mutating func addScalar(_ value: Value) {
        switch value {
        case .null, .link, .list, .dictionary: add(0x11)
        case .bool(let flag): add(flag ? 0x22 : 0x21)
        case .int(let number): add(UInt64(bitPattern: number))
        case .float(let number): add(UInt64(number.bitPattern) | 1 << 40)
        case .double(let number): add(number.bitPattern)
        case .string(let bytes):
            add(0x33)
            add(bytes)
        case .binary(let bytes):
            add(0x34)
            add(bytes)
        case .timestamp(let date):
            add(UInt64(bitPattern: date.seconds))
            add(UInt64(UInt32(bitPattern: date.nanoseconds)) | 1 << 41)
        case .decimal(let number):
            add(number.low)
            add(number.high)
        case .objectID(let id):
            add(id.first)
            add(UInt64(id.last))
        case .uuid(let id):
            add(id.first)
            add(id.last)
        }
    }
}
