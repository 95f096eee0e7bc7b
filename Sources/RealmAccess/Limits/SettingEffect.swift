// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The time at which another value of a setting takes effect after the configuration of a running server was read again.
package enum SettingEffect: Sendable {
    /// At once, for everything that begins from then on.
    case now
    /// For the realms that are opened from then on.
    case openings
    /// After the next start of the server.
    case restart
}
