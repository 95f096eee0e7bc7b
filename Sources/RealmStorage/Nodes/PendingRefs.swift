// SPDX-License-Identifier: Apache-2.0

/// Refs of nodes that a walk over everything below some roots has yet to visit.
///
/// Counted as they come in: a list of refs to the same node would otherwise fill the memory before any of them is visited.
struct PendingRefs {
    private var refs: [Ref] = []
    private var budget: Int

    init(_ space: NodeSpace) { budget = space.nodeBudget }

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

    mutating func next() -> Ref? { refs.popLast() }
}
