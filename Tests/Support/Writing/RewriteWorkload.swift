// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform
package import RealmStorage

/// Copies nodes of a real file to other places without changing what they say.
package enum RewriteWorkload {
    /// Rewrites the table names now and then, and some nodes below the tables with all that lies above them.
    package static func change(
        _ transaction: StoreWrite, using random: inout SeededGenerator
    ) throws -> (names: Ref, tables: Ref) {
        let top = transaction.base.top
        var names = top.names
        if Int.random(in: 0..<4, using: &random) == 0 { names = try transaction.nodes.writable(names).ref }
        var budget = 2000
        return (names, try rewrite(top.tables, transaction.nodes, &budget, using: &random))
    }

    private static func rewrite(
        _ ref: Ref, _ nodes: WriteSpace, _ budget: inout Int, using random: inout SeededGenerator
    ) throws -> Ref {
        var node = try nodes.writable(ref)
        budget -= 1
        // In a damaged file there may be no end.
        guard node.hasRefs, budget > 0 else { return node.ref }
        let slots = (0..<node.count).filter { !node.ref($0).isNone }
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            guard let slot = slots.randomElement(using: &random) else { break }
            // A fresh node was rewritten a moment ago.
            guard !WriteSpace.isNew(node.ref(slot)) else { continue }
            try node.set(slot, try rewrite(node.ref(slot), nodes, &budget, using: &random))
        }
        return node.ref
    }
}
