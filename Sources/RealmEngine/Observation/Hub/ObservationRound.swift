// SPDX-License-Identifier: Apache-2.0

/// The end of a round: published on the thread of the hub, after the listeners were called.
package struct ObservationRound: Sendable {
    /// All active targets are at this version now.
    package let version: Version
}
