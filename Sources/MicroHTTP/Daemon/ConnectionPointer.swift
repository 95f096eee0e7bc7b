// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The address of a connection in the library, made sendable: it is only passed to the library,
/// which may be called from any thread to resume the connection.
@safe package struct ConnectionPointer: @unchecked Sendable {
    /// The connection. It may be gone, so it is used only through the `SuspensionTable`.
    let pointer: OpaquePointer
}
