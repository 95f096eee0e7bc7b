// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Which versions of a file are being read, so that their nodes are not written over.
package final class VersionPins: Sendable {
    private let counts = Mutex<[UInt64: Int]>([:])

    package init() {}

    /// Keeps `version` until the pin is gone. The version must be the newest, or kept already.
    package func pin(_ version: UInt64) -> VersionPin {
        counts.withLock { $0[version, default: 0] += 1 }
        return VersionPin(self, version)
    }

    /// The oldest version that is being read.
    package var oldest: UInt64? { counts.withLock { $0.keys.min() } }

    /// How many versions are being read.
    package var count: Int { counts.withLock { $0.count } }

    fileprivate func unpin(_ version: UInt64) {
        counts.withLock { counts in
            guard let count = counts[version] else { return }
            counts[version] = count > 1 ? count - 1 : nil
        }
    }
}

/// Keeps one version of a file as long as it lives.
package final class VersionPin: Sendable {
    private let pins: VersionPins
    private let version: UInt64

    fileprivate init(_ pins: VersionPins, _ version: UInt64) {
        self.pins = pins
        self.version = version
    }

    deinit { pins.unpin(version) }
}
