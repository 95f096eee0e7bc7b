// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The refs of nodes that a walk over everything below some roots has still to visit.
///
/// They are counted when they are added: a list of refs to the same node would otherwise fill the
/// memory before any of them is visited.
struct PendingRefs {
    /// The refs still to be visited; the last one is next.
    private var refs: [Ref] = []
    /// How many refs may still be added.
    private var budget: Int

    /// Makes an empty list to which as many refs can be added as `space` has room for nodes.
    init(_ space: NodeSpace) { budget = space.nodeBudget }

    /// Adds a ref; throws `.corrupt` when more were added than the file has room for nodes.
    mutating func add(_ ref: Ref) throws(StorageError) {
        budget -= 1
        guard budget >= 0 else {
            throw .corrupt(
                ref: ref, reason: "more refs to nodes than the file has room for nodes: it has circles or shared nodes")
        }
        refs.append(ref)
    }

    /// Adds the refs of all nodes that `node` refers to.
    mutating func addChildren(of node: Node) throws(StorageError) {
        guard node.hasRefs else { return }
        for index in 0..<node.count {
            if case .ref(let child) = try node.slot(index) { try add(child) }
        }
    }

    /// Removes and returns the ref that was added last; nil when none is left.
    mutating func next() -> Ref? { refs.popLast() }
}
