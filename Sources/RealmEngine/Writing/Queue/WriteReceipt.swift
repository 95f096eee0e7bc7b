// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage
internal import Synchronization

/// What became of a write.
package struct WriteReceipt<Value: Sendable>: Sendable {
    /// What the closure of the write returned.
    package let value: Value
    /// The version of its commit, durable; the newest one when nothing was changed or it was a dry run.
    package let version: Version
    /// False for dry runs.
    package let isCommitted: Bool
}
