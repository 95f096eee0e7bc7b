// SPDX-License-Identifier: Apache-2.0

package import MicroHTTP
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The three rules for senders of requests, as one value that is made at the start of a server.
package struct AccessRules: Sendable {
    /// The host names that the server answers to.
    package var hosts: HostPolicy
    /// The origins whose web pages may use the server.
    package var origins: OriginPolicy
    /// The permissions of clients, by the way in which they reached the server.
    package var access: AccessPolicy

    /// Combines the rules of a server.
    ///
    /// - Parameters:
    ///   - hosts: The host names that it answers to.
    ///   - origins: The origins of web pages; by default only the server's own.
    ///   - access: The permissions; by default those of a server on loopback.
    package init(hosts: HostPolicy, origins: OriginPolicy = OriginPolicy(), access: AccessPolicy = AccessPolicy()) {
        self.hosts = hosts
        self.origins = origins
        self.access = access
    }
}
