// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage
internal import Synchronization

/// The id of one request in responses, problems and logs: the client's own `X-Request-Id`, or a
/// UUID of version 7 that is made here.
package struct RequestID: Sendable {
    /// The id as it is sent back in `X-Request-Id` and written to the log.
    package let text: String
    /// Whether this server made the id, which decides the form of `urn`.
    private let isOurs: Bool

    /// Takes over the id of a client.
    ///
    /// - Parameter text: The value of `X-Request-Id`.
    /// - Returns: nil unless the text has 1 to 128 characters of `[A-Za-z0-9._-]`, so that it can
    ///   be logged as it is.
    package init?(client text: String) {
        let bytes = text.utf8
        guard (1...128).contains(bytes.count), bytes.allSatisfy(RequestID.isAllowed) else { return nil }
        self.text = text
        isOurs = false
    }

    /// Makes a new id. It is unique, but not secret.
    package init() {
        text = RequestID.uuid7()
        isOurs = true
    }

    /// The id as a URI, which problem documents have as `instance`.
    package var urn: String { (isOurs ? "urn:uuid:" : "urn:realm-rest:request:") + text }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
            return true
        default: return false
        }
    }

    /// The state of the generator of random bits. Ids have to differ and need not be secret, so a counter that is seeded once
    /// and mixed at each use is enough; it makes no system call and takes no lock.
    private static let sequence = Atomic<UInt64>(
        {
            var generator = SystemRandomNumberGenerator()
            return generator.next()
        }())

    /// Advances the counter and mixes its bits (the finalizer of SplitMix64).
    private static func random() -> UInt64 {
        var word = sequence.wrappingAdd(0x9e37_79b9_7f4a_7c15, ordering: .relaxed).newValue
        word = (word ^ (word >> 30)) &* 0xbf58_476d_1ce4_e5b9
        word = (word ^ (word >> 27)) &* 0x94d0_49bb_1331_11eb
        return word ^ (word >> 31)
    }

    /// Makes a UUID of version 7: 48 bits of Unix time in milliseconds, then random bits (RFC 9562, section 5.7).
    private static func uuid7() -> String {
        let milliseconds = UInt64(bitPattern: WallClock.now().nanoseconds / 1_000_000)
        let first = milliseconds << 16 | 0x7000 | random() & 0xfff
        let last = 0x8000_0000_0000_0000 | random() >> 2
        return String(capacity: UUIDValue.textByteCount) { target in
            UUIDValue(first: first, last: last).write(to: target)
            return UUIDValue.textByteCount
        }
    }
}
