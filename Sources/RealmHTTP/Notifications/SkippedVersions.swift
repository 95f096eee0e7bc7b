// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// The versions whose changes one registered subscription skips, limited to the newest thousand.
/// Any thread may use it.
final class SkippedVersions: Sendable {
    /// The number of versions that are kept. Beyond it the older half is dropped; a client that is
    /// so far behind gets the changes of those writes like all others.
    private static let limit = 1000
    /// The versions that the subscription skips, in ascending order.
    private let versions = RankedMutex<[UInt64]>(.leaf, [])

    /// Adds the version of a skipped write, which is above all earlier ones.
    func add(_ version: UInt64) {
        versions.withLock { versions in
            guard versions.last.map({ $0 < version }) ?? true else { return }
            versions.append(version)
            if versions.count > SkippedVersions.limit { versions.removeFirst(SkippedVersions.limit / 2) }
        }
    }

    /// Returns the first skipped version in a range; nil when there is none.
    ///
    /// - Parameters:
    ///   - position: The lower end of the range, which does not belong to it.
    ///   - end: The upper end of the range, which belongs to it.
    func first(after position: UInt64, upTo end: UInt64) -> UInt64? {
        versions.withLock { versions in
            guard let last = versions.last, last > position else { return nil }
            return versions.first { $0 > position && $0 <= end }
        }
    }
}
