// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// A reference that does not keep its object alive, for use in collections.
///
/// It is used for pages that older snapshots may still read: they are updated as long as a reader
/// holds them, and dropped after that.
struct WeakReference<Object: AnyObject> {
    /// The object, or nil once no other reference keeps it.
    weak var value: Object?

    /// Makes a reference to `value` that does not keep it alive.
    init(_ value: Object) { self.value = value }
}
