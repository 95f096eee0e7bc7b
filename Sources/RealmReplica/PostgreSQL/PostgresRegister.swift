// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// The register of a cluster in the PostgreSQL that has its log.
///
/// Any thread may call it.
package final class PostgresRegister: ClusterRegister {
    /// The connections.
    private let pool: PostgresPool
    /// The number of seconds that an answer is waited for.
    private static let answerSeconds = 3.0

    /// The number of seconds between two deletions of old requests.
    private static let forgettingSeconds = 60.0
    /// When old requests were deleted last.
    private let forgotten = RankedMutex<Instant?>(.leaf, nil)

    /// Makes a register; nothing is connected yet.
    package init(_ options: PostgresOptions) { pool = PostgresPool(options, keeping: 1) }

    package func beat(_ node: ClusterNode, token: String, _ known: ClusterMap) throws(StorageError) -> ClusterMap {
        let beat = PostgresStep(.beat, [.text(node.id), .text(node.url), .text(token), .text(node.isLeaving ? "t" : "f")])
        let answers = try run([beat, PostgresStep(.nodes), PostgresStep(.assignments)])
        guard answers.count == 3, answers[0].changedCount == 1 else {
            throw .refused(.unsuitable("another process is the node '\(node.id)' of this cluster"))
        }
        forgetRequests()
        return try map(answers[1], number: answers[2].rows.first?.number(0) ?? 0, known)
    }

    /// Deletes, once a minute, the requests that are remembered for long enough.
    private func forgetRequests() {
        let now = Instant.now()
        let isDue = forgotten.withLock { last in
            guard last.map({ now.seconds(since: $0) > PostgresRegister.forgettingSeconds }) ?? true else { return false }
            last = now
            return true
        }
        // A failed deletion is retried later.
        if isDue { _ = try? run([PostgresStep(.forgetRequests)]) }
    }

    /// Returns the map, as the protocol says.
    package func map() throws(StorageError) -> ClusterMap {
        let answers = try run([PostgresStep(.nodes), PostgresStep(.assignments)])
        guard answers.count == 2 else { throw .refused(.logUnavailable("the server has not answered")) }
        return try map(answers[0], number: answers[1].rows.first?.number(0) ?? 0, .empty)
    }

    /// Returns the number of the map, as the protocol says.
    package func number() throws(StorageError) -> UInt64 {
        guard let number = try run([PostgresStep(.assignments)]).first?.rows.first?.number(0) else {
            throw .refused(.logUnavailable("the server has not answered"))
        }
        return number
    }

    /// Returns the map of the nodes in an answer. The owners of shards are queried only after a change.
    private func map(_ answer: PostgresAnswer, number: UInt64, _ known: ClusterMap) throws(StorageError) -> ClusterMap {
        let nodes = answer.rows.compactMap { row -> ClusterNode? in
            guard let id = row.text(0), let url = row.text(1), let silence = row.number(2) else { return nil }
            return ClusterNode(
                id: id, url: url, silentSeconds: Double(Int64(bitPattern: silence)) / 1000, isLeaving: row.text(3) == "true")
        }
        guard number != known.number || number == 0 else { return ClusterMap(nodes: nodes, owners: known.owners, number: number) }
        var owners = ClusterMap.empty.owners
        for row in try run([PostgresStep(.shards)]).first?.rows ?? [] {
            guard let shard = row.number(0), owners.indices.contains(Int(clamping: shard)), let id = row.text(1) else { continue }
            owners[Int(clamping: shard)] = id
        }
        return ClusterMap(nodes: nodes, owners: owners, number: number)
    }

    /// Gives shards to a node, as the protocol says.
    package func assign(
        _ shards: [Int], to id: String, from former: String?, ifSilentFor patience: Double?
    ) throws(StorageError) -> Int {
        let list = "{" + shards.map(String.init).joined(separator: ",") + "}"
        let milliseconds = patience.map { Int64($0 * 1000) } ?? -1
        let assign = PostgresStep(
            .assign, [.text(id), .text(list), .text(former ?? "*"), .number(milliseconds)])
        let answers = try run([PostgresStep(.begin), PostgresStep(.noteAssignment), assign, PostgresStep(.commit)])
        guard answers.count == 4, answers[3].tag == "COMMIT" else {
            throw .refused(.logUnavailable("PostgreSQL did not commit the assignment of shards"))
        }
        return answers[2].changedCount
    }

    /// Forgets a node, as the protocol says.
    package func forget(_ id: String) throws(StorageError) -> Bool {
        try run([PostgresStep(.forgetNode, [.text(id)])]).first?.changedCount == 1
    }

    /// Closes the idle connection.
    package func close() { pool.close() }

    /// Runs statements in one round trip.
    private func run(_ steps: [PostgresStep]) throws(StorageError) -> [PostgresAnswer] {
        let deadline = Instant.now().adding(seconds: PostgresRegister.answerSeconds)
        return try pool.run { connection throws(PostgresFailure) in try connection.run(steps, until: deadline) }
    }
}
