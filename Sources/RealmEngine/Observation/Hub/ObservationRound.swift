// SPDX-License-Identifier: Apache-2.0

/// Hears of all rounds of a hub, on its thread, after the listeners.
package struct ObservationRound: Sendable {
    /// All active targets are at this version now.
    package let version: Version
}
