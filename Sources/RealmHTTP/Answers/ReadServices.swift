// SPDX-License-Identifier: Apache-2.0

/// What all reads of a server share.
package final class ReadServices: Sendable {
    /// The limits of the server.
    let limits: Limits
    /// Versions that clients hold for later reads.
    let pinned: PinnedVersions

    /// The parts of a server that reads need.
    init(limits: Limits, pinned: PinnedVersions) {
        self.limits = limits
        self.pinned = pinned
    }
}
