// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// How an input is written into an object that is there.
///
/// Creating, replacing, upserting and merging differ only in this; the code that writes values is the same.
enum WriteRule {
    /// The object is new: absent members keep their defaults.
    case create
    /// Absent members become null or empty.
    case replace
    /// The members given are written, each as `replace` would; absent ones stay.
    case update
    /// As `update`, but equal values are left alone.
    case updateModified
    /// As `update`, but embedded objects and dictionaries merge, and null removes entries.
    case merge
}
