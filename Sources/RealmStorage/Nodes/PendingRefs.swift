// SPDX-License-Identifier: Apache-2.0

/// Refs of nodes that a walk over everything below some roots has yet to visit.
///
/// Counted as they come in: a list of refs to the same node would otherwise fill the memory before any of them is visited.
struct PendingRefs {
    /// Refs still to be visited; the last is next.
    private var refs: [Ref] = []
    /// How many refs may still be added.
    private var budget: Int

    /// No refs yet, and as many to come as `space` has room for nodes.
    init(_ space: NodeSpace) { budget = space.nodeBudget }

    /// Adds a ref. Throws `.corrupt` when more were added than the file has room for nodes.
    mutating func add(_ ref: Ref) throws(StorageError) {
        budget -= 1
        guard budget >= 0 else {
            throw .corrupt(
                ref: ref, reason: "more refs to nodes than the file has room for nodes: it has circles or shared nodes")
        }
        refs.append(ref)
    }

    /// Adds all nodes that `node` refers to.
    mutating func addChildren(of node: Node) throws(StorageError) {
        guard node.hasRefs else { return }
        for index in 0..<node.count {
            if case .ref(let child) = try node.slot(index) { try add(child) }
        }
    }

    /// Takes a ref out, the last one first; nil when none is left.
    mutating func next() -> Ref? { refs.popLast() }
}
