// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// When a base is made of a realm, and how many are kept.
package struct BasePolicy: Sendable, Equatable {
    /// The number of records after the newest base from which another one is made, if there are also as many bytes.
    package var records = 256
    /// The number of bytes of these records.
    package var bytes = 32 << 20
    /// The number of bytes of these records for each byte of the base, as a base takes as long to store as records of its size.
    package var bytesPerByte = 1
    /// The number of sound bases to keep, at least one.
    package var kept = 2
    /// The number of seconds between two looks at all realms.
    package var checkSeconds = 1.0
    /// The number of seconds until what has failed is tried again.
    package var retrySeconds = 30.0

    /// Makes the usual policy.
    package init() {}

    /// Whether a base is due after so many records.
    ///
    /// - Parameters:
    ///   - volume: The records.
    ///   - byteCount: The number of bytes that the base would have.
    func isDue(_ volume: RealmOwner.Volume, for byteCount: Int) -> Bool {
        volume.records >= records && volume.bytes >= max(bytes, byteCount * bytesPerByte)
    }
}
