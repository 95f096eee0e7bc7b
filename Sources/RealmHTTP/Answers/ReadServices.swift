// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// What all reads of a server share. It is made when the server is made, and does not change.
package final class ReadServices: Sendable {
    /// The limits of the server, as configured.
    let liveLimits: LiveLimits
    /// The limits in force.
    var limits: Limits { liveLimits.current }
    /// The versions that clients hold as snapshots.
    let pinned: PinnedVersions

    /// Creates the services of reads from the parts of a server.
    ///
    /// - Parameters:
    ///   - limits: The limits of the server, as configured.
    ///   - pinned: The versions that clients hold as snapshots.
    init(limits: LiveLimits, pinned: PinnedVersions) {
        liveLimits = limits
        self.pinned = pinned
    }
}
