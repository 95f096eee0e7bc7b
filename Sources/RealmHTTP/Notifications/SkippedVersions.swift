// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// The versions that one registered subscription is not notified of: the newest thousand.
final class SkippedVersions: Sendable {
    private static let limit = 1000
    private let versions = RankedMutex<[UInt64]>(.leaf, [])

    func add(_ version: UInt64) {
        versions.withLock { versions in
            guard versions.last.map({ $0 < version }) ?? true else { return }
            versions.append(version)
            if versions.count > SkippedVersions.limit { versions.removeFirst(SkippedVersions.limit / 2) }
        }
    }

    /// The first one in a range of versions, its lower end left out.
    func first(after position: UInt64, upTo end: UInt64) -> UInt64? {
        versions.withLock { versions in
            guard let last = versions.last, last > position else { return nil }
            return versions.first { $0 > position && $0 <= end }
        }
    }
}
