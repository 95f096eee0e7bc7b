// SPDX-License-Identifier: Apache-2.0

/// Keeps one version of a file as long as it lives.
package final class VersionPin: Sendable {
    private let pins: VersionPins
    private let version: UInt64

    init(_ pins: VersionPins, _ version: UInt64) {
        self.pins = pins
        self.version = version
    }

    deinit { pins.unpin(version) }
}
