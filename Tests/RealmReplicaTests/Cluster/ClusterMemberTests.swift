// SPDX-License-Identifier: Apache-2.0

import RealmPlatform
import RealmStorage
import RealmTestSupport
import Synchronization
import Testing

@testable import RealmReplica

/// What a node does with the answers of the register.
@Suite struct ClusterMemberTests {
    /// A register in memory, whose other nodes are as silent as the test says.
    private final class Register: ClusterRegister {
        struct State {
            var nodes: [String: ClusterNode] = [:]
            var owners = ClusterMap.empty.owners
            var number: UInt64 = 1
            var isDown = false
            var delay = 0.0
            var beats = 0
        }
        let state = Mutex(State())

        func beat(_ node: ClusterNode, token: String, _ known: ClusterMap) throws(StorageError) -> ClusterMap {
            Threads.sleep(seconds: state.withLock(\.delay))
            let isDown = state.withLock { state in
                state.beats += 1
                if !state.isDown { state.nodes[node.id] = node }
                return state.isDown
            }
            if isDown { throw .refused(.logUnavailable("it is down")) }
            return try map()
        }

        func map() throws(StorageError) -> ClusterMap {
            state.withLock { state in
                ClusterMap(nodes: state.nodes.values.sorted { $0.id < $1.id }, owners: state.owners, number: state.number)
            }
        }

        func number() throws(StorageError) -> UInt64 { state.withLock(\.number) }

        func assign(
            _ shards: [Int], to id: String, from former: String?, ifSilentFor patience: Double?
        ) throws(StorageError) -> Int {
            state.withLock { state in
                var count = 0
                for shard in shards where former == nil || state.owners[shard] == former {
                    state.owners[shard] = id
                    count += 1
                }
                state.number += 1
                return count
            }
        }

        func forget(_ id: String) throws(StorageError) -> Bool { false }

        func shards(of id: String) -> Int { state.withLock { state in state.owners.count { $0 == id } } }
    }

    private func member(_ register: Register) -> ClusterMember {
        var limits = ClusterMember.Limits()
        limits.beatSeconds = 0.02
        limits.patienceSeconds = 1.5
        limits.currentSeconds = 0.3
        return ClusterMember("n1", url: "http://n1", register: register, limits: limits)
    }

    @Test func `a shard that moves is noticed between two calls`() throws {
        let register = Register()
        var limits = ClusterMember.Limits()
        limits.beatSeconds = 60
        limits.lookSeconds = 0.01
        let member = ClusterMember("n1", url: "http://n1", register: register, limits: limits)
        let known = Mutex(0)
        member.whenChanged { map in known.withLock { $0 = map.owners.count { $0 == "n2" } } }
        try member.start()
        _ = try register.assign([3, 4], to: "n2", from: nil, ifSilentFor: nil)
        #expect(eventually { known.withLock { $0 } == 2 })
        #expect(register.state.withLock(\.beats) == 2)
        member.stop()
    }

    @Test func `shards of nobody are taken soon, and the change is told`() throws {
        let register = Register()
        let member = member(register)
        let told = Mutex(0)
        member.whenChanged { map in told.withLock { $0 = map.owners.count { $0 == "n1" } } }
        try member.start()
        defer { member.stop() }
        #expect(eventually { register.shards(of: "n1") == Shard.count })
        #expect(eventually { told.withLock { $0 } == Shard.count })
        #expect(member.counts.takenShards == Shard.count && member.map.owner(of: "any") == "n1")
    }

    @Test func `shards of a node that lives stay, and those of one that falls silent are taken`() throws {
        let register = Register()
        register.state.withLock { state in
            state.nodes["n2"] = ClusterNode(id: "n2", url: "http://n2")
            state.owners = [String](repeating: "n2", count: Shard.count)
        }
        let member = member(register)
        try member.start()
        defer { member.stop() }
        Threads.sleep(seconds: 1.8)
        #expect(register.shards(of: "n1") == 0)
        register.state.withLock { $0.nodes["n2"] = ClusterNode(id: "n2", url: "http://n2", silentSeconds: 2) }
        #expect(eventually { register.shards(of: "n1") == Shard.count })
    }

    /// The register is away, or does not answer for a while, for all nodes.
    @Test(arguments: [false, true]) func `nobody is judged just after the register was away`(isSlow: Bool) throws {
        let register = Register()
        register.state.withLock { state in
            state.nodes["n2"] = ClusterNode(id: "n2", url: "http://n2")
            state.owners = [String](repeating: "n2", count: Shard.count)
        }
        let member = member(register)
        try member.start()
        defer { member.stop() }
        Threads.sleep(seconds: 1.7)
        register.state.withLock { state in
            state.isDown = !isSlow
            state.delay = isSlow ? 1 : 0
        }
        #expect(eventually { !member.isCurrent })
        #expect(eventually { isSlow || member.failure != nil && member.counts.failures > 3 })
        // When it is back everybody seems to have been silent.
        register.state.withLock { state in
            state.isDown = false
            state.delay = 0
            state.nodes["n2"] = ClusterNode(id: "n2", url: "http://n2", silentSeconds: 9)
        }
        #expect(eventually { member.isCurrent && member.failure == nil })
        Threads.sleep(seconds: 0.5)
        #expect(register.shards(of: "n1") == 0)
        #expect(eventually { register.shards(of: "n1") == Shard.count })
    }

    @Test func `a node that leaves takes nothing, and its shards are taken at once`() throws {
        let register = Register()
        let member = member(register)
        try member.start()
        #expect(eventually { register.shards(of: "n1") == Shard.count })
        member.leave()
        #expect(register.state.withLock { $0.nodes["n1"]?.isLeaving } == true)
        let other = ClusterMember("n2", url: "http://n2", register: register, limits: member.limits)
        try other.start()
        let begin = Instant.now()
        #expect(eventually { register.shards(of: "n2") == Shard.count })
        #expect(Instant.now().seconds(since: begin) < 1.5)
        Threads.sleep(seconds: 0.2)
        #expect(register.shards(of: "n2") == Shard.count)
        member.stop()
        other.stop()
    }
}

/// The register in PostgreSQL.
@Suite(.enabled(if: PostgresServer.isPresent), .serialized) struct PostgresRegisterTests {
    @Test func `nodes, shards and names are kept`() throws {
        let server = try PostgresServer()
        let log = try server.makeLog()
        defer { log.close() }
        let register = PostgresRegister(PostgresOptions(server.address))
        defer { register.close() }
        let first = ClusterNode(id: "n1", url: "http://n1")
        let second = ClusterNode(id: "n2", url: "http://n2")
        var map = try register.beat(first, token: "a", .empty)
        #expect(map.nodes.map(\.id) == ["n1"] && map.owners.allSatisfy(\.isEmpty))
        map = try register.beat(second, token: "b", map)
        #expect(map.nodes.map(\.url) == ["http://n1", "http://n2"] && map.nodes.allSatisfy { $0.silentSeconds < 5 })

        #expect(throws: StorageError.self) { try register.beat(first, token: "c", .empty) }
        #expect(try register.assign([0, 1, 2], to: "n1", from: "", ifSilentFor: 4) == 3)
        // It lives, so it keeps what it has; a person may move it.
        #expect(try register.assign([0, 1], to: "n2", from: "n1", ifSilentFor: 4) == 0)
        #expect(try register.assign([0], to: "n2", from: "other", ifSilentFor: nil) == 0)
        #expect(try register.assign([0], to: "n2", from: nil, ifSilentFor: nil) == 1)
        map = try register.beat(first, token: "a", map)
        #expect(Array(map.owners[0..<4]) == ["n2", "n1", "n1", ""])
        #expect(try register.map().owners == map.owners)

        #expect(try register.forget("n1") == false)
        _ = try register.beat(ClusterNode(id: "n1", url: "http://n1", isLeaving: true), token: "a", map)
        #expect(try register.assign([1, 2], to: "n2", from: "n1", ifSilentFor: 4) == 2)
        // What has left may come back as another process.
        _ = try register.beat(first, token: "c", map)
        #expect(try register.forget("n1"))
        #expect(try register.map().nodes.map(\.id) == ["n2"])
    }

    @Test(arguments: ["+ interval '1 hour'", "- interval '1 hour'"])
    func `a name is free although the clock of the server was set`(_ change: String) throws {
        let server = try PostgresServer()
        let log = try server.makeLog()
        defer { log.close() }
        let register = PostgresRegister(PostgresOptions(server.address))
        defer { register.close() }
        let node = ClusterNode(id: "n1", url: "http://n1")
        let map = try register.beat(node, token: "a", .empty)
        #expect(try register.assign([0, 1], to: "n1", from: "", ifSilentFor: 4) == 2)
        let connection = try PostgresConnection(to: server.address, until: .now().adding(seconds: 10))
        try connection.runScript(["update realm_rest.node set beat = beat \(change)"], until: .now().adding(seconds: 10))
        #expect(try register.map().nodes[0].silentSeconds > 3000)
        // Others may take its shards, and the process that comes after it has its name.
        #expect(try register.assign([0, 1], to: "n2", from: "n1", ifSilentFor: 4) == 2)
        #expect(try register.beat(node, token: "b", map).nodes[0].silentSeconds < 5)
    }

    @Test func `a register that is not there is told of`() throws {
        let register = PostgresRegister(PostgresOptions("host=/nowhere"))
        #expect(throws: StorageError.self) { try register.map() }
    }
}
