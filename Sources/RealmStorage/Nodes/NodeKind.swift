// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The kinds of nodes that writers make, which their flags state. Source: docs/format.md, "Nodes".
package enum NodeKind: Sendable {
    /// Packed integers without refs.
    case integers
    /// Refs and tagged numbers, in a leaf or a list of parts.
    case refs
    /// Refs with the context flag: leaves of long strings, nodes of search indexes.
    case contextRefs
    /// An inner node of a tree of objects or elements.
    case inner
    /// An inner node of a search index.
    case contextInner
    /// Elements of whole bytes: names, short strings, floating-point numbers, identifiers.
    case elements
    /// Plain bytes: the contents of strings and binaries.
    case blob

    /// The flags of a new node of this kind; see `NodeLayout`.
    var flags: UInt8 {
        switch self {
        case .integers: return 0
        case .refs: return NodeLayout.refsFlag
        case .contextRefs: return NodeLayout.refsFlag | NodeLayout.contextFlag
        case .inner: return NodeLayout.innerFlag | NodeLayout.refsFlag
        case .contextInner: return NodeLayout.innerFlag | NodeLayout.refsFlag | NodeLayout.contextFlag
        case .elements: return NodeLayout.multiplyFlag
        case .blob: return NodeLayout.ignoreFlag
        }
    }
}
