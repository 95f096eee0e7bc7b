// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
internal import RealmPlatform
import RealmReplica
import RealmStorage

/// The command `realm-rest cluster`: looks after a cluster by its log.
struct ClusterCommand: ParsableCommand {
    /// The name of the command, its description for `--help` and its own commands.
    static let configuration = CommandConfiguration(
        commandName: "cluster", abstract: "Makes a cluster, shows it, and moves shards between its nodes.",
        discussion: """
            A cluster is a log of commits in PostgreSQL and the nodes that `realm-rest serve --cluster` starts. A shard is one of 1024 \
            parts of all realms: crc32(NAME) mod 1024. See docs/scale.md.
            """,
        subcommands: [
            ClusterInitCommand.self, ClusterStatusCommand.self, ClusterMapCommand.self, ClusterMoveCommand.self,
            ClusterBalanceCommand.self, ClusterForgetCommand.self, ClusterVerifyCommand.self, ClusterRestoreCommand.self,
        ])
}

/// The options of the commands of `cluster` for reaching the log.
struct ClusterPlace: ParsableArguments {
    /// The address for the client library of PostgreSQL.
    @Option(
        help: ArgumentHelp(
            "The PostgreSQL that keeps the log. Missing parts come from the environment (PGHOST, PGPASSFILE).",
            valueName: "postgres://…"))
    var cluster: String

    /// The log, without the bases that are elsewhere.
    var log: PostgresLog { PostgresLog(PostgresOptions(cluster)) }
    func log(_ bases: BaseStoreOptions) throws -> PostgresLog {
        PostgresLog(PostgresOptions(cluster), bases: try bases.files())
    }
    /// The register of nodes and shards.
    var register: PostgresRegister { PostgresRegister(PostgresOptions(cluster)) }
}

/// Runs the work of a command with a cluster, and ends the program with a sentence when that fails.
func atCluster<Result>(_ body: () throws(StorageError) -> Result) throws -> Result {
    do throws(StorageError) {
        return try body()
    } catch {
        StandardStreams.error("\(error)")
        throw ExitCode(1)
    }
}

/// The command `realm-rest cluster init`.
struct ClusterInitCommand: ParsableCommand {
    /// The name of the command and its description for `--help`.
    static let configuration = CommandConfiguration(
        commandName: "init", abstract: "Makes the tables of a cluster where they are missing; it changes nothing otherwise.")

    /// The address of the log.
    @OptionGroup var place: ClusterPlace

    /// Makes the tables.
    func run() throws {
        let log = place.log
        defer { log.close() }
        try atCluster { () throws(StorageError) in try log.prepare() }
        print("the log is ready for a cluster")
    }
}

/// The command `realm-rest cluster status`.
struct ClusterStatusCommand: ParsableCommand {
    /// The name of the command and its description for `--help`.
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Lists the nodes with their shards, or shows the owner of a realm.")

    /// The address of the log.
    @OptionGroup var place: ClusterPlace

    /// The name of a realm; nil for the nodes.
    @Argument(help: "The name of a realm; without it all nodes are listed.")
    var realm: String?

    /// Prints a line for each node, or the state of a realm in the log.
    func run() throws {
        let map = try atCluster { () throws(StorageError) in try place.register.map() }
        if let realm { return try show(realm, map) }
        let patience = ClusterMember.Limits().patienceSeconds
        for node in map.nodes {
            let count = map.owners.count { $0 == node.id }
            let silence = Int(min(max(0, node.silentSeconds), 1e9))
            let state = node.state(patience: patience)
            print("\(node.id): \(state == .silent ? "silent for \(silence) s" : state.rawValue), \(count) shards, \(node.url)")
        }
        let vacant = map.owners.count { $0.isEmpty }
        if vacant > 0 { print("\(vacant) shards have no node yet") }
    }

    /// Prints the intended owner of a realm, the present one, and its state in the log.
    private func show(_ realm: String, _ map: ClusterMap) throws {
        let log = place.log
        defer { log.close() }
        let call = LogCall(realm: realm, owner: .unowned, request: .head)
        let reply = log.perform(call, until: Instant.now().adding(seconds: 10))
        let id = map.owner(of: realm)
        print("shard \(Shard.of(realm)), of \(id.isEmpty ? "no node" : id)")
        switch reply {
        case .head(let head?):
            print("version \(head.version) of \(head.lineage), owned by \(head.owner.node.isEmpty ? "no node" : head.owner.node)")
            for base in try atCluster({ () throws(StorageError) in try log.bases(of: realm) }) {
                print("base of version \(base.version) of \(base.lineage), \(base.byteCount) bytes")
            }
        case .head(nil): print("the log does not know a realm of this name")
        case .unsent(let reason):
            StandardStreams.error("the log cannot be reached: \(reason)")
            throw ExitCode(1)
        default:
            StandardStreams.error("the log has not answered in time")
            throw ExitCode(1)
        }
    }
}

/// The command `realm-rest cluster map`.
struct ClusterMapCommand: ParsableCommand {
    /// The name of the command and its description for `--help`.
    static let configuration = CommandConfiguration(
        commandName: "map", abstract: "Prints which node each shard has, in the form that HAProxy reads with map_int.")

    /// The address of the log.
    @OptionGroup var place: ClusterPlace

    /// Prints a line for each shard.
    func run() throws {
        let map = try atCluster { () throws(StorageError) in try place.register.map() }
        for (shard, id) in map.owners.enumerated() where !id.isEmpty { print("\(shard) \(id)") }
    }
}

/// The command `realm-rest cluster move`.
struct ClusterMoveCommand: ParsableCommand {
    /// The name of the command and its description for `--help`.
    static let configuration = CommandConfiguration(
        commandName: "move", abstract: "Gives shards to a node; the one that has them hands them over.")

    /// The address of the log.
    @OptionGroup var place: ClusterPlace

    @Argument(
        help: ArgumentHelp("A shard, a range of them, or realm:NAME for the shard of a realm.", valueName: "SHARD|FIRST-LAST"))
    var shards: String

    @Argument(help: "The name of the node that gets them.")
    var node: String

    /// The shards that the argument names; nil when it names none.
    private var numbers: [Int]? {
        if shards.hasPrefix("realm:") { return [Shard.of(String(shards.dropFirst(6)))] }
        let ends = shards.split(separator: "-", omittingEmptySubsequences: false).compactMap { Int($0) }
        guard let first = ends.first, let last = ends.last, ends.count <= 2, first <= last, first >= 0, last < Shard.count,
            shards.split(separator: "-", omittingEmptySubsequences: false).count == ends.count
        else { return nil }
        return Array(first...last)
    }

    /// Checks the values; ArgumentParser calls it before `run`.
    func validate() throws {
        guard numbers != nil else {
            throw ValidationError(
                "'\(shards)' is neither a shard from 0 to \(Shard.count - 1), nor a range such as 0-511, nor realm:NAME")
        }
    }

    /// Assigns the shards.
    func run() throws {
        let register = place.register
        let map = try atCluster { () throws(StorageError) in try register.map() }
        guard map.node(node) != nil else {
            StandardStreams.error("there is no node '\(node)'; there are \(map.nodes.map(\.id).joined(separator: ", "))")
            throw ExitCode(1)
        }
        let count = try atCluster { () throws(StorageError) in
            try register.assign(numbers ?? [], to: node, from: nil, ifSilentFor: nil)
        }
        print("\(count) shards have moved to \(node)")
    }
}

/// The command `realm-rest cluster balance`.
struct ClusterBalanceCommand: ParsableCommand {
    /// The name of the command and its description for `--help`.
    static let configuration = CommandConfiguration(
        commandName: "balance", abstract: "Spreads the shards evenly over the living nodes, with as few moves as possible.")

    /// The address of the log.
    @OptionGroup var place: ClusterPlace

    /// Over which nodes; nil for those that live.
    @Option(help: ArgumentHelp("The nodes that get shards; without it those that live.", valueName: "n1,n2,…"))
    var nodes: String?

    /// Assigns the shards.
    func run() throws {
        let register = place.register
        let map = try atCluster { () throws(StorageError) in try register.map() }
        let living = map.living(patience: ClusterMember.Limits().patienceSeconds).map(\.id)
        let chosen = nodes.map { $0.split(separator: ",").map(String.init) } ?? living
        if let unknown = chosen.first(where: { map.node($0) == nil }) {
            StandardStreams.error("there is no node '\(unknown)'; there are \(map.nodes.map(\.id).joined(separator: ", "))")
            throw ExitCode(1)
        }
        guard !chosen.isEmpty else {
            StandardStreams.error("no node lives")
            throw ExitCode(1)
        }
        var count = 0
        for (id, shards) in map.balanced(over: chosen).sorted(by: { $0.key < $1.key }).map({ ($0.key.text, $0.value) }) {
            count += try atCluster { () throws(StorageError) in
                try register.assign(shards, to: id, from: nil, ifSilentFor: nil)
            }
        }
        print("\(count) shards have moved")
    }
}

/// The command `realm-rest cluster forget`.
struct ClusterForgetCommand: ParsableCommand {
    /// The name of the command and its description for `--help`.
    static let configuration = CommandConfiguration(
        commandName: "forget", abstract: "Removes a node that has no shards any more and will not come back.")

    /// The address of the log.
    @OptionGroup var place: ClusterPlace

    @Argument(help: "The name of the node.")
    var node: String

    /// Removes the node.
    func run() throws {
        guard try atCluster({ () throws(StorageError) in try place.register.forget(node) }) else {
            StandardStreams.error("there is no node '\(node)' without shards")
            throw ExitCode(1)
        }
        print("\(node) is forgotten")
    }
}
