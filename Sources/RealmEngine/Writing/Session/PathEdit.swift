// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// One change to a place in an object, in the manner of JSON Patch.
///
/// Paths lead through the object as it is shown: property names, list indexes (`-` for the end), dictionary keys.
package enum PathEdit: Sendable {
    case add(path: [InputPath.Step], InputValue)
    case remove(path: [InputPath.Step])
    case replace(path: [InputPath.Step], InputValue)
    case move(from: [InputPath.Step], path: [InputPath.Step])
    case copy(from: [InputPath.Step], path: [InputPath.Step])
    case test(path: [InputPath.Step], InputValue)
}
