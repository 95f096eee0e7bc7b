// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// One step of a path into a collection.
///
/// A path of such steps leads from the value of a property, which holds a list or dictionary, to a
/// collection nested in it at any depth.
package enum PathStep: Sendable, Hashable {
    /// An element of a list or set, by its position.
    case index(Int)
    /// An entry of a dictionary, by its key.
    case key(String)
}
