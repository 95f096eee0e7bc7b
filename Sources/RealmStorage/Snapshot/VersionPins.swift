// SPDX-License-Identifier: Apache-2.0

/// Which versions of a file are being read, so that their nodes are not written over.
///
/// A commit asks for the oldest pinned version before it hands freed blocks out. Pinning and letting go may happen on any thread,
/// the latter wherever the last reference to a snapshot ends.
package final class VersionPins: Sendable {
    /// How often, and since when, a version is pinned.
    private struct Pinned {
        /// How many pins there are.
        var count = 0
        /// When the version was pinned first.
        let since = Instant.now()
    }

    /// The pins by version, for any thread.
    private let versions = RankedMutex<[UInt64: Pinned]>(.versionPins, [:])

    /// Pins of no version.
    package init() {}

    /// Keeps `version` until the pin is gone. The version must be the newest, or kept already.
    package func pin(_ version: UInt64) -> VersionPin {
        versions.withLock { $0[version, default: Pinned()].count += 1 }
        return VersionPin(self, version)
    }

    /// The oldest version that is being read.
    package var oldest: UInt64? { versions.withLock { $0.keys.min() } }

    /// How many versions are being read.
    package var count: Int { versions.withLock { $0.count } }

    /// Since when the oldest version is kept; nil when only one is, the newest.
    package var oldestSince: Instant? {
        versions.withLock { versions in
            versions.count > 1 ? versions.min { $0.key < $1.key }?.value.since : nil
        }
    }

    /// Drops one pin of a version.
    func unpin(_ version: UInt64) {
        versions.withLock { versions in
            guard var pinned = versions[version] else { return }
            pinned.count -= 1
            versions[version] = pinned.count > 0 ? pinned : nil
        }
    }
}
