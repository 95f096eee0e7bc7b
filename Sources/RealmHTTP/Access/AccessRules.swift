// SPDX-License-Identifier: Apache-2.0

/// Who may send requests: the names that the server answers to, the pages that may use it, and what each client may do.
package struct AccessRules: Sendable {
    /// The names that clients may call the server by.
    package var hosts: HostPolicy
    /// The pages in browsers that may use it.
    package var origins: OriginPolicy
    /// What clients may do, by the way they came.
    package var access: AccessPolicy

    /// Rules for a server; without more it is one on loopback that no foreign page may use.
    package init(hosts: HostPolicy, origins: OriginPolicy = OriginPolicy(), access: AccessPolicy = AccessPolicy()) {
        self.hosts = hosts
        self.origins = origins
        self.access = access
    }
}
