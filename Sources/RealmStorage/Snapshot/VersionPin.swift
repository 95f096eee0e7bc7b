// SPDX-License-Identifier: Apache-2.0

/// Keeps one version of a file as long as it lives.
///
/// Part of a snapshot: while any thread holds the snapshot, the commit leaves the blocks alone that only older versions use.
package final class VersionPin: Sendable {
    /// Where the pin is counted.
    private let pins: VersionPins
    /// The version that is kept.
    private let version: UInt64

    /// A pin that keeps `version` until it is dropped.
    init(_ pins: VersionPins, _ version: UInt64) {
        self.pins = pins
        self.version = version
    }

    deinit { pins.unpin(version) }
}
