// SPDX-License-Identifier: Apache-2.0

/// One step into a collection.
package enum PathStep: Sendable, Hashable {
    case index(Int)
    case key(String)
}
