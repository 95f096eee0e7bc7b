// SPDX-License-Identifier: Apache-2.0

/// One step into a collection.
package enum PathStep: Sendable, Hashable {
    /// An element of a list or set, by its position.
    case index(Int)
    /// An entry of a dictionary, by its key.
    case key(String)
}
