// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// Keeps one version of a file as long as this object exists.
///
/// It is part of a snapshot: while any thread holds the snapshot, commits do not reuse the blocks
/// that only older versions use.
package final class VersionPin: Sendable {
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
