// SPDX-License-Identifier: Apache-2.0

/// How many former versions the commits of a file keep, and the space that these may take.
///
/// Without any, the version before the newest one is still there until the next commit begins, as the disk may go back to it.
package struct Retention: Sendable, Equatable {
    /// The number of former versions.
    package var versionCount: Int
    /// The seconds for which a version is kept after a newer one took its place; nil for no limit.
    package var seconds: Double?
    /// The part of the file that may be kept for former versions, from 0 to 1. `leastByteCount` always may.
    package var share: Double

    /// Keeps no former versions.
    package static let none = Retention(versionCount: 0)
    /// The bytes that former versions may always take, 1 MiB.
    package static let leastByteCount = 1 << 20

    /// Makes a rule; `share` is from 0 to 1.
    package init(versionCount: Int, seconds: Double? = nil, share: Double = 0.1) {
        self.versionCount = versionCount
        self.seconds = seconds
        self.share = share
    }

    /// Whether any version is kept.
    package var keepsAny: Bool { versionCount > 0 }

    /// Returns how many bytes former versions may take in a file of a size.
    func byteLimit(logicalSize: Int) -> Int { max(Int(share * Double(logicalSize)), Retention.leastByteCount) }
}
