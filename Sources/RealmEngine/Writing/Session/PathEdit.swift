// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// One change at a path in an object, with the operations of JSON Patch (RFC 6902).
///
/// Paths lead through the object as it is shown: property names, list indexes (`-` for the end) and dictionary keys.
package enum PathEdit: Sendable {
    /// Inserts a value into a list, set or dictionary, or writes a property.
    case add(path: [InputPath.Step], InputValue)
    /// Removes an element or entry, or sets a property to null.
    case remove(path: [InputPath.Step])
    /// Replaces an existing value.
    case replace(path: [InputPath.Step], InputValue)
    /// Removes a value from one place and adds it at another.
    case move(from: [InputPath.Step], path: [InputPath.Step])
    /// Adds the value of one place at another.
    case copy(from: [InputPath.Step], path: [InputPath.Step])
    /// Compares a value with the one at a path; a difference fails with `patchTestFailed`.
    case test(path: [InputPath.Step], InputValue)
}
