// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The identity of an object by its contents: a digest of its values, with those that it links to, and its rank among equal objects
/// of its version.
struct ContentIdentity: Hashable, Comparable {
    let first: UInt64
    let last: UInt64

    /// Makes the identity of a text.
    init(_ bytes: [UInt8]) {
        let digest = SecretDigest.sha256(bytes)
        func word(_ start: Int) -> UInt64 {
            digest.dropFirst(start).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
        }
        first = word(0)
        last = word(8)
    }

    static func < (left: ContentIdentity, right: ContentIdentity) -> Bool {
        (left.first, left.last) < (right.first, right.last)
    }

    var text: String { "=" + String(first, radix: 16) + "." + String(last, radix: 16) }
    var bytes: [UInt8] { Array(text.utf8) }
}
