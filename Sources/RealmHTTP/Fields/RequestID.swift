// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import RealmStorage
internal import Synchronization

/// What a request is called in logs and errors: the client's own `X-Request-Id`, or a UUIDv7 made here.
package struct RequestID: Sendable {
    /// The id as it is sent in `X-Request-Id` and written to the log.
    package let text: String
    private let isOurs: Bool

    /// The client's id: 1 to 128 of `[A-Za-z0-9._-]`; nil when it is not that.
    package init?(client text: String) {
        let bytes = text.utf8
        guard (1...128).contains(bytes.count), bytes.allSatisfy(RequestID.isAllowed) else { return nil }
        self.text = text
        isOurs = false
    }

    /// A new id.
    package init() {
        text = RequestID.uuid7()
        isOurs = true
    }

    /// The id as a URI: the `instance` of a problem document.
    package var urn: String { (isOurs ? "urn:uuid:" : "urn:realm-rest:request:") + text }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
            return true
        default: return false
        }
    }

    /// Ids need to differ, not to be secret: a counter-based generator seeded once is enough and makes no system call.
    private static let sequence = Atomic<UInt64>(
        {
            var generator = SystemRandomNumberGenerator()
            return generator.next()
        }())

    private static func random() -> UInt64 {
        var word = sequence.wrappingAdd(0x9e37_79b9_7f4a_7c15, ordering: .relaxed).newValue
        word = (word ^ (word >> 30)) &* 0xbf58_476d_1ce4_e5b9
        word = (word ^ (word >> 27)) &* 0x94d0_49bb_1331_11eb
        return word ^ (word >> 31)
    }

    private static func uuid7() -> String {
        let milliseconds = UInt64(bitPattern: WallClock.now().nanoseconds / 1_000_000)
        let first = milliseconds << 16 | 0x7000 | random() & 0xfff
        let last = 0x8000_0000_0000_0000 | random() >> 2
        return unsafe String(unsafeUninitializedCapacity: UUIDValue.textByteCount) { text in
            guard let target = text.baseAddress else { return 0 }
            unsafe UUIDValue(first: first, last: last).write(to: target)
            return UUIDValue.textByteCount
        }
    }
}
