// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The way in which a query finds the objects that it tests.
enum AccessPath {
    /// All objects of the class are read, leaf by leaf.
    case scan
    /// No object is read, because the condition cannot hold.
    case nothing
    /// The objects that indexes offer are read.
    case lookup(IndexLookup)

    /// Whether all objects of the class are read.
    var isScan: Bool {
        if case .scan = self { return true }
        return false
    }
}
