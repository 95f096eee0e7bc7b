// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The result of a write.
package struct WriteReceipt<Value: Sendable>: Sendable {
    /// The value that the closure of the write returned.
    package let value: Value
    /// The version of its durable commit; the newest version when nothing was changed or it was a dry
    /// run.
    package let version: Version
    /// Whether the changes are committed; false for dry runs.
    package let isCommitted: Bool
}
