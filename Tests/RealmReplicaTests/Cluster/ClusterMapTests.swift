// SPDX-License-Identifier: Apache-2.0

import RealmPlatform
import RealmStorage
import RealmTestSupport
import Testing

@testable import RealmReplica

/// Who gets which shards.
@Suite struct ClusterMapTests {
    /// By `zlib.crc32(name) % 1024`, which proxies calculate.
    @Test(arguments: [("a", 579), ("alpha", 362), ("store", 119), ("Ünïcode", 764), ("x.y-z_0123456789", 417)])
    func `the shard of a realm is the one that proxies calculate`(_ realm: String, _ shard: Int) {
        #expect(Shard.of(realm) == shard)
    }

    private static func map(_ nodes: [ClusterNode], _ owner: (Int) -> String) -> ClusterMap {
        ClusterMap(nodes: nodes, owners: (0..<Shard.count).map(owner), number: 1)
    }

    @Test(arguments: 1...20)
    func `each shard of a node that is gone is taken by exactly one that lives`(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let count = Int.random(in: 1...9, using: &random)
        let nodes = (0..<count).map { number in
            ClusterNode(
                id: "n\(number)", url: "", silentSeconds: Double.random(in: 0...8, using: &random),
                isLeaving: Int.random(in: 0..<5, using: &random) == 0)
        }
        let names = nodes.map(\.id) + ["", "forgotten"]
        let map = ClusterMapTests.map(nodes) { _ in names.randomElement(using: &random) ?? "" }
        let living = Set(map.living(patience: 4).map(\.id))
        var taken: [Int: [String]] = [:]
        for id in nodes.map(\.id) {
            for (former, shards) in map.vacancies(for: id, patience: 4).map({ ($0.key.text, $0.value) }) {
                #expect(living.contains(id) && !living.contains(former), "seed \(seed)")
                for shard in shards {
                    #expect(map.owners[shard] == former)
                    taken[shard, default: []].append(id)
                }
            }
        }
        for (shard, owner) in map.owners.enumerated() {
            let expected = living.isEmpty || living.contains(owner) ? 0 : 1
            #expect(taken[shard]?.count ?? 0 == expected, "shard \(shard), seed \(seed)")
        }
    }

    @Test func `shards of a lost node go to all others, about as many to each`() {
        let nodes = (0..<5).map { ClusterNode(id: "n\($0)", url: "", silentSeconds: $0 == 2 ? 9 : 0) }
        let map = ClusterMapTests.map(nodes) { "n\($0 % 5)" }
        let counts = nodes.map { node in map.vacancies(for: node.id, patience: 4).values.reduce(0) { $0 + $1.count } }
        #expect(counts[2] == 0 && counts.reduce(0, +) == map.owners.count { $0 == "n2" })
        for number in [0, 1, 3, 4] { #expect((25...85).contains(counts[number]), "\(counts)") }
    }

    @Test(arguments: 1...20)
    func `balancing moves no more shards than it has to`(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let ids = (0..<Int.random(in: 1...7, using: &random)).map { "n\($0)" }
        let names = ids + ["gone", ""]
        let map = ClusterMapTests.map([]) { _ in names.randomElement(using: &random) ?? "" }
        var owners = map.owners
        for (id, shards) in map.balanced(over: ids).map({ ($0.key.text, $0.value) }) {
            for shard in shards { owners[shard] = id }
        }
        let share = (Shard.count + ids.count - 1) / ids.count
        for id in ids { #expect((share - ids.count...share).contains(owners.count { $0 == id }), "seed \(seed)") }
        let homeless = map.owners.count { !ids.contains($0) }
        let surplus = ids.reduce(0) { sum, id in sum + max(0, map.owners.count { $0 == id } - share) }
        #expect(zip(owners, map.owners).count { $0 != $1 } == homeless + surplus, "seed \(seed)")
        let again = ClusterMap(nodes: [], owners: owners, number: 2)
        #expect(again.balanced(over: ids).isEmpty)
    }

    @Test(arguments: [
        ("n1", true), ("a.b-C_9", true), ("", false), ("a,b", false), ("ä", false), (String(repeating: "x", count: 65), false),
    ])
    func `names of nodes are plain`(_ text: String, _ isName: Bool) { #expect(ClusterNode.isName(text) == isName) }
}
