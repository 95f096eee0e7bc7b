// SPDX-License-Identifier: Apache-2.0

/// When a base is made of a realm, and how many are kept.
package struct BasePolicy: Sendable, Equatable {
    /// The number of records after the newest base from which another one is made, if there are also as many bytes.
    package var records = 256
    /// The number of bytes of these records.
    package var bytes = 8 << 20
    /// How many sound bases are kept, at least one.
    package var kept = 2
    /// The number of seconds between two looks at all realms.
    package var checkSeconds = 1.0
    /// The number of seconds until what has failed is tried again.
    package var retrySeconds = 30.0

    /// Makes the usual policy.
    package init() {}

    /// Whether a base is due after so many records.
    func isDue(_ volume: RealmOwner.Volume) -> Bool { volume.records >= records && volume.bytes >= bytes }
}
