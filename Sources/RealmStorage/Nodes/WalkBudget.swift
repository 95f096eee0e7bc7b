// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// What a walk over several trees, or over collections that hold others, may visit in all.
///
/// In a sound file every node has one parent, so nothing that is visited once takes more nodes than the file has room
/// for. Where nodes share their children, a few of them can mean more than can ever be read: a walk that visits
/// more than there is room for ends as damage.
///
/// A class, because the cursors of all levels of a walk spend from it.
package final class WalkBudget: Sendable {
    /// realm-core nests collections up to 100 levels deep.
    package static let maximumDepth = 128

    /// How many nodes may still be visited; shared by the cursors of all levels.
    private let nodes: Atomic<Int>
    /// How many collections are nested around the present one.
    private let depth = Atomic<Int>(0)

    /// For one walk through the nodes of `space`.
    package init(_ space: NodeSpace) { nodes = Atomic(space.nodeBudget) }

    /// Throws `.corrupt` when more was visited than the file has room for.
    package func spend(_ count: Int = 1, at ref: Ref) throws(StorageError) {
        guard nodes.wrappingSubtract(count, ordering: .relaxed).newValue >= 0 else {
            throw .corrupt(ref: ref, reason: "nodes share their children: a walk meets more of them than the file has room for")
        }
    }

    /// Goes one collection deeper, to the one at `ref`; `leave` goes back.
    package func enter(_ ref: Ref) throws(StorageError) {
        guard depth.wrappingAdd(1, ordering: .relaxed).newValue <= WalkBudget.maximumDepth else {
            throw .corrupt(ref: ref, reason: "collections nested deeper than \(WalkBudget.maximumDepth)")
        }
        try spend(at: ref)
    }

    /// Goes back out of a collection.
    package func leave() { depth.wrappingSubtract(1, ordering: .relaxed) }
}
