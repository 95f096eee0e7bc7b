// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// How an input is written to an existing object.
///
/// Creating, replacing, upserting and merging differ in this rule only; they share the code that writes values.
enum WriteRule {
    /// The object is new: properties without a member keep the default value of their type.
    case create
    /// Properties without a member become null or empty.
    case replace
    /// The given members are written, each as `replace` would; the other properties remain.
    case update
    /// As `update`, but a value that equals the stored one is not written, so that it does not count as modified.
    case updateModified
    /// As `update`, but embedded objects and dictionaries are merged, and null removes entries: a JSON merge patch.
    case merge
}
