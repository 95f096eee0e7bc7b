// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// An open file, which can be opened again although it may have lost its name.
final class OpenFile: Sendable {
    /// The descriptor, which is closed with this object.
    private let descriptor: Int32

    /// Takes over a descriptor.
    init(_ descriptor: Int32) { self.descriptor = descriptor }

    deinit { System.close(descriptor) }

    /// The path at which this process can open the file while this object exists.
    var path: String { "/proc/self/fd/\(descriptor)" }
}
