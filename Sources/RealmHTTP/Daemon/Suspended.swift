// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// Something that waits with its connection suspended.
protocol Suspended: AnyObject, Sendable {
    /// The server ends: whatever was awaited will not come.
    func abandon()
}
