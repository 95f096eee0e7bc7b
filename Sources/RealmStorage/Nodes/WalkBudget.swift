// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform
internal import Synchronization

/// The number of nodes that a walk over several trees, or over nested collections, may visit in total.
///
/// In a sound file every node has one parent, so nothing that is visited once takes more nodes than
/// the file has room for. Where nodes share their children, a few of them can lead to more than
/// can ever be read: a walk that visits more than there is room for fails as damage.
///
/// It is a class, because the cursors of all levels of a walk spend from it.
package final class WalkBudget: Sendable {
    /// The maximum nesting of collections; realm-core nests them up to 100 levels deep.
    package static let maximumDepth = 128

    /// How many nodes may still be visited, by the cursors of all levels together.
    private let nodes: Atomic<Int>
    /// How many collections are nested around the present one, itself included.
    private let depth = Atomic<Int>(0)

    /// Makes a budget for one walk through the nodes of `space`.
    package init(_ space: NodeSpace) { nodes = Atomic(space.nodeBudget) }

    /// Subtracts visited nodes; throws `.corrupt` when more were visited than the file has room for.
    ///
    /// - Parameters:
    ///   - count: How many nodes were visited.
    ///   - ref: The node that the error names.
    package func spend(_ count: Int = 1, at ref: Ref) throws(StorageError) {
        guard nodes.wrappingSubtract(count, ordering: .relaxed).newValue >= 0 else {
            throw .corrupt(ref: ref, reason: "nodes share their children: a walk meets more of them than the file has room for")
        }
    }

    /// Enters the nested collection at `ref`, which counts as a visited node; `leave` has to follow.
    ///
    /// - Throws: `.corrupt` for collections that are nested too deeply.
    package func enter(_ ref: Ref) throws(StorageError) {
        guard depth.wrappingAdd(1, ordering: .relaxed).newValue <= WalkBudget.maximumDepth else {
            throw .corrupt(ref: ref, reason: "collections nested deeper than \(WalkBudget.maximumDepth)")
        }
        try spend(at: ref)
    }

    /// Leaves the nested collection that was entered last.
    package func leave() { depth.wrappingSubtract(1, ordering: .relaxed) }
}
