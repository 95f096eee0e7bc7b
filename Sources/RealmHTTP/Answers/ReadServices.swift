// SPDX-License-Identifier: Apache-2.0

/// What all reads of a server share. It is made when the server is made, and does not change.
package final class ReadServices: Sendable {
    /// The bounds of the server.
    let limits: Limits
    /// The versions that clients hold as snapshots.
    let pinned: PinnedVersions

    /// Joins the services.
    init(limits: Limits, pinned: PinnedVersions) {
        self.limits = limits
        self.pinned = pinned
    }
}
