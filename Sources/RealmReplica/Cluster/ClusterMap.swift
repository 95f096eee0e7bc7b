// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// Which nodes there are, and which of them should serve which shards.
///
/// It says which node should own a realm; the head of its log decides which one does. A map that is old costs a request a detour.
package struct ClusterMap: Sendable, Equatable {
    /// The nodes in the order of their names.
    package let nodes: [ClusterNode]
    /// For each shard the name of its node; empty where it has none.
    package let owners: [String]
    /// Counts changes of `owners`.
    package let number: UInt64

    /// A map without nodes.
    package static let empty = ClusterMap(nodes: [], owners: [String](repeating: "", count: Shard.count), number: 0)

    package init(nodes: [ClusterNode], owners: [String], number: UInt64) {
        self.nodes = nodes
        self.owners = owners
        self.number = number
    }

    /// The node of a name; nil when there is none.
    package func node(_ id: String) -> ClusterNode? { nodes.first { $0.id == id } }

    /// The name of the node that should own a realm; empty when its shard has none.
    package func owner(of realm: String) -> String { owners[Shard.of(realm)] }

    /// The nodes that can be given shards.
    ///
    /// - Parameter patience: After how many silent seconds a node counts as gone.
    package func living(patience: Double) -> [ClusterNode] {
        nodes.filter { !$0.isLeaving && $0.silentSeconds < patience }
    }

    /// Returns the vacant shards that a node should take: those without a node or with a dead one, for which this node ranks
    /// first among the living. All nodes calculate the same.
    ///
    /// - Parameters:
    ///   - id: The name of the node.
    ///   - patience: After how many silent seconds a node counts as gone.
    /// - Returns: The shards by the name of the node that has them.
    package func vacancies(for id: String, patience: Double) -> [ByteText: [Int]] {
        let living = living(patience: patience).map(\.id)
        guard living.contains(id) else { return [:] }
        var vacancies: [ByteText: [Int]] = [:]
        for (shard, owner) in owners.enumerated() where !living.contains(owner) {
            let first = living.max { ClusterMap.rank($0, shard) < ClusterMap.rank($1, shard) }
            if first == id { vacancies[owner, default: []].append(shard) }
        }
        return vacancies
    }

    /// The rank of a node for a shard (highest random weight), the same on all machines.
    private static func rank(_ id: String, _ shard: Int) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in Array(id.utf8) + [0, UInt8(shard & 0xFF), UInt8(shard >> 8)] {
            hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3
        }
        // The last bytes would hardly change the highest bits.
        hash = (hash ^ hash >> 33) &* 0xFF51_AFD7_ED55_8CCD
        return hash ^ hash >> 33
    }

    /// Returns the assignments that spread the shards evenly over nodes, with as few moves as possible.
    ///
    /// - Parameter ids: The names of the nodes, at least one.
    /// - Returns: The shards that move, by their new node.
    package func balanced(over ids: [String]) -> [ByteText: [Int]] {
        let ids = Set<ByteText>(texts: ids).sorted().map(\.text)
        guard !ids.isEmpty else { return [:] }
        var kept: [ByteText: Int] = [:]
        var moving: [Int] = []
        let share = (Shard.count + ids.count - 1) / ids.count
        for (shard, owner) in owners.enumerated() {
            guard ids.contains(owner), kept[owner, default: 0] < share else {
                moving.append(shard)
                continue
            }
            kept[owner, default: 0] += 1
        }
        var moves: [ByteText: [Int]] = [:]
        for shard in moving {
            guard let poorest = ids.min(by: { (kept[$0, default: 0], $0) < (kept[$1, default: 0], $1) }) else { break }
            kept[poorest, default: 0] += 1
            moves[poorest, default: []].append(shard)
        }
        return moves
    }
}
