// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The nodes of a version in a file and in the copy of it, found side by side.
enum SharedNodes {
    /// Finds the places of shared trees in a copy, and the room of everything else there.
    ///
    /// The copy has the same nodes in the same order, so a walk through both finds them. It ends at the roots of shared trees, so
    /// it visits exactly the nodes that the later version discarded.
    ///
    /// - Parameters:
    ///   - shared: The roots of the shared trees, as refs of the original.
    ///   - snapshot: The version in the original.
    /// - Returns: The places of the shared roots by their refs, and the blocks of the other nodes.
    /// - Throws: `.corrupt` when the two differ, or a shared root is not found.
    static func find(
        _ shared: Set<UInt64>, from snapshot: Snapshot, names: Ref, tables: Ref, in copy: NodeSpace
    ) throws(StorageError) -> (places: [UInt64: Ref], given: [FreeBlock]) {
        var places: [UInt64: Ref] = [:]
        var given: [FreeBlock] = []
        var originals = PendingRefs(snapshot.space)
        var copies = PendingRefs(copy)
        for (root, copied) in [(snapshot.top.names, names), (snapshot.top.tables, tables)] {
            try originals.add(root)
            try copies.add(copied)
        }
        while let ref = originals.next(), let copied = copies.next() {
            guard !shared.contains(ref.rawValue) else {
                places[ref.rawValue] = copied
                continue
            }
            let node = try copy.node(at: copied)
            given.append(FreeBlock(node))
            try originals.addChildren(of: try snapshot.space.node(at: ref))
            try copies.addChildren(of: node)
        }
        guard places.count == shared.count else {
            throw .corrupt(ref: snapshot.top.ref, reason: "nodes of a version are not below its roots only")
        }
        return (places, given)
    }
}
