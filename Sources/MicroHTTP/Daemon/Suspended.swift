// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// Something on whose behalf a connection is suspended, and which resumes the connection when it is
/// ready. See `SuspensionTable`.
protocol Suspended: AnyObject, Sendable {
    /// Called when the server stops: what was awaited will not come. The connection is resumed by
    /// this call or right after it, and its next step has to end the response.
    func abandon()
}
