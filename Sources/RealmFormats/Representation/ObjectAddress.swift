// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The absolute paths of resources, as `Location` and other links have them.
package enum ObjectAddress {
    /// Returns the path of a realm. The names of realms need no percent-encoding.
    package static func realm(_ realm: String) -> String { "/v1/realms/" + realm }

    /// Returns the path of an object.
    ///
    /// - Parameters:
    ///   - className: The name of the class, which is percent-encoded here.
    ///   - key: The text of the key, which is percent-encoded here.
    package static func object(_ realm: String, _ className: String, _ key: String) -> String {
        "\(self.realm(realm))/objects/\(encode(className))/\(encode(key))"
    }

    /// Returns the path of a write that was answered with 202 before it was done, at which its state can be read.
    package static func write(_ realm: String, _ id: String) -> String { "\(self.realm(realm))/writes/\(id)" }
    /// Returns the path of a snapshot that a client holds.
    package static func snapshot(_ realm: String, _ id: String) -> String { "\(self.realm(realm))/snapshots/\(id)" }
    /// Returns the path of a backup of a realm.
    ///
    /// - Parameters:
    ///   - id: The id of the backup, which is percent-encoded here.
    package static func backup(_ realm: String, _ id: String) -> String { "\(self.realm(realm))/backups/\(encode(id))" }
    /// Returns the path of a registration of subscriptions.
    ///
    /// - Parameters:
    ///   - id: The id of the registration.
    package static func subscription(_ realm: String, _ id: String) -> String { "\(self.realm(realm))/subscriptions/\(id)" }
    /// Returns the path of an interactive transaction.
    package static func transaction(_ realm: String, _ id: String) -> String { "\(self.realm(realm))/transactions/\(id)" }

    /// Returns a text as one segment of a path, with everything but unreserved characters percent-encoded.
    ///
    /// The sign `@` is kept although it is reserved, because many keys begin with it.
    private static func encode(_ segment: String) -> String {
        PercentDecoding.encode(segment, keeping: UInt8(ascii: "@"))
    }
}
