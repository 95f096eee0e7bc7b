// SPDX-License-Identifier: Apache-2.0

/// The paths of things in a realm, as `Location` has them.
enum ObjectAddress {
    /// The path of a realm.
    static func realm(_ realm: String) -> String { "/v1/realms/" + realm }

    /// The path of an object, with what is needed percent-encoded.
    static func object(_ realm: String, _ className: String, _ key: String) -> String {
        "\(self.realm(realm))/objects/\(encode(className))/\(encode(key))"
    }

    /// The path of a write that was answered early.
    static func write(_ realm: String, _ id: String) -> String { "\(self.realm(realm))/writes/\(id)" }
    /// The path of a snapshot.
    static func snapshot(_ realm: String, _ id: String) -> String { "\(self.realm(realm))/snapshots/\(id)" }
    /// The path of a registration.
    static func subscription(_ realm: String, _ id: String) -> String { "\(self.realm(realm))/subscriptions/\(id)" }
    /// The path of an interactive transaction.
    static func transaction(_ realm: String, _ id: String) -> String { "\(self.realm(realm))/transactions/\(id)" }

    /// One segment of a path. `@` stays, because keys begin with it.
    static func encode(_ segment: String) -> String {
        let buffer = OutputBuffer(capacity: segment.utf8.count + 16)
        for byte in segment.utf8 {
            if isPlain(byte) {
                buffer.append(byte)
            } else {
                buffer.append(UInt8(ascii: "%"))
                buffer.append(digit(byte >> 4))
                buffer.append(digit(byte & 15))
            }
        }
        return buffer.text
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            return true
        default: return "-._~@".utf8.contains(byte)
        }
    }
}
