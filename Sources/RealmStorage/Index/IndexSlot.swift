// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// The entry that an index has under one key.
///
/// A list is a single leaf, or a B+ tree when it is long, marked by the inner flag of its root. The
/// context flag distinguishes a subindex from a list. Source: docs/format.md, "Search indexes".
package enum IndexSlot: Equatable {
    /// Nothing is filed under the key.
    case absent
    /// A single object is filed under the key.
    case one(ObjectKey)
    /// Several objects are filed under the key: the root of their list.
    case list(Ref)
    /// The root of another level, for the next four bytes.
    case subindex(Ref)

    /// The element of the node that stores the entry.
    var raw: Int64 {
        switch self {
        case .absent: return 0
        case .one(let key): return MutableNode.tagged(UInt64(bitPattern: key.rawValue))
        case .list(let ref), .subindex(let ref): return Int64(bitPattern: ref.rawValue)
        }
    }
}
