// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// A check whether keys leave a client that can administer the server.
package protocol KeyCheck: Sendable {
    /// Returns whether the server can be administered.
    ///
    /// - Parameters:
    ///   - keys: The keys; nil for a server that never had one.
    ///   - address: The address of the client that changes the keys; nil when it is unknown.
    func isAdministered(_ keys: [APIKey]?, from address: String?) -> Bool
}
