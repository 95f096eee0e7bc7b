// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// The versions of a file that are in use, so that their nodes are not overwritten.
///
/// A commit reads the oldest pinned version before it reuses freed blocks. Versions may be pinned
/// and released on any thread, the latter wherever the last reference to a snapshot ends.
package final class VersionPins: Sendable {
    private struct Pinned {
        var count = 0
        /// The time at which the version was pinned first.
        let since = Instant.now()
    }

    /// The pins by version, for any thread.
    private let versions = RankedMutex<[UInt64: Pinned]>(.versionPins, [:])

    /// Makes an object in which no version is pinned.
    package init() {}

    /// Keeps a version until the returned pin is dropped.
    ///
    /// - Parameter version: The newest version, or one that is kept already.
    package func pin(_ version: UInt64) -> VersionPins.Pin {
        versions.withLock { $0[version, default: Pinned()].count += 1 }
        return VersionPins.Pin(self, version)
    }

    /// The oldest version in use; nil when there is none.
    package var oldest: UInt64? { versions.withLock { $0.keys.min() } }

    /// How many versions are in use.
    package var count: Int { versions.withLock { $0.count } }

    /// The time since which the oldest version is kept; nil when only one is, the newest.
    package var oldestSince: Instant? {
        versions.withLock { versions in
            versions.count > 1 ? versions.min { $0.key < $1.key }?.value.since : nil
        }
    }

    /// The time since which the oldest version is kept, also when it is the only one; nil without versions.
    var oldestPinned: Instant? {
        versions.withLock { versions in versions.min { $0.key < $1.key }?.value.since }
    }

    /// Drops one pin of a version, which is released with its last one.
    func unpin(_ version: UInt64) {
        versions.withLock { versions in
            guard var pinned = versions[version] else { return }
            pinned.count -= 1
            versions[version] = pinned.count > 0 ? pinned : nil
        }
    }
}

extension VersionPins {
    /// Keeps one version of a file as long as this object exists.
    ///
    /// It is part of a snapshot: while any thread holds the snapshot, commits do not reuse the blocks
    /// that only older versions use.
    package final class Pin: Sendable {
        /// The object that counts the pins of all versions.
        private let pins: VersionPins
        /// The version that is kept.
        private let version: UInt64

        /// Makes a pin that keeps `version` until it is dropped.
        init(_ pins: VersionPins, _ version: UInt64) {
            self.pins = pins
            self.version = version
        }

        deinit { pins.unpin(version) }
    }
}
