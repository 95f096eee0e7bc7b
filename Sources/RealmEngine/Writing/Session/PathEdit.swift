// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// One change to a place in an object, in the manner of JSON Patch.
///
/// Paths lead through the object as it is shown: property names, list indexes (`-` for the end), dictionary keys.
package enum PathEdit: Sendable {
    /// Puts a value into a list, a set or a dictionary, or writes a property.
    case add(path: [InputPath.Step], InputValue)
    /// Takes an element or entry out, or makes a property null.
    case remove(path: [InputPath.Step])
    /// Writes over what is there.
    case replace(path: [InputPath.Step], InputValue)
    /// Takes a value from one place to another.
    case move(from: [InputPath.Step], path: [InputPath.Step])
    /// Writes the value of one place to another as well.
    case copy(from: [InputPath.Step], path: [InputPath.Step])
    /// Throws `patchTestFailed` unless a place has this value.
    case test(path: [InputPath.Step], InputValue)
}
