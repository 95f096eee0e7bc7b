// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The rules for the parts of a key, in the same words for requests and for the command line.
package enum KeyRules {
    package static let nameRule = "a key has a name of 1 to 128 characters, without control characters"
    package static let roleRule = "a key has at least one role: letters, digits, '-', '_' and '.', at most 64"
    /// The form of the time until a key expires.
    package static let expiryRule = "the time until a key expires is a duration, such as 90d"
    /// The form of a network.
    package static let networkRule = "a network is written as 10.0.0.0/8, 2001:db8::/32 or one address"

    /// Returns whether a text may be the name of a key.
    package static func isName(_ text: String) -> Bool {
        (1...128).contains(text.unicodeScalars.count)
            && text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
    }

    /// Returns whether a text may be the name of a role.
    package static func isRole(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x2d, 0x2e, 0x5f: return true
                default: return false
                }
            }
    }

    /// Returns when a key expires that is made now, in seconds since 1970; nil for a text that is no duration, or is 0.
    package static func expiry(_ text: String) -> Int64? {
        guard let duration = DurationText.duration(text), duration > .zero else { return nil }
        return APIKey.now + max(1, duration.components.seconds)
    }
}
