// SPDX-License-Identifier: Apache-2.0

/// What an index has under one key.
enum IndexSlot: Equatable {
    case absent
    case one(ObjectKey)
    /// The root of a tree of object keys.
    case list(Ref)
    case subindex(Ref)

    /// As the slot of a node.
    var raw: Int64 {
        switch self {
        case .absent: return 0
        case .one(let key): return MutableNode.tagged(UInt64(bitPattern: key.rawValue))
        case .list(let ref), .subindex(let ref): return Int64(bitPattern: ref.rawValue)
        }
    }
}
