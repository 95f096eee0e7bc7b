// SPDX-License-Identifier: Apache-2.0

/// A reference that does not keep its object alive, for use in collections.
///
/// Used for pages that older snapshots may still read: they learn of changes as long as a reader holds them, and forgotten after
/// that.
struct WeakReference<Object: AnyObject> {
    /// The object, or nil once nothing else keeps it.
    weak var value: Object?

    /// A reference to `value` that does not keep it.
    init(_ value: Object) { self.value = value }
}
