// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// The log of commits in PostgreSQL.
///
/// A record is durable when the server says that its transaction has been committed, with `synchronous_commit` on: on its own disk,
/// and on those of the standbys that `synchronous_standby_names` asks for. Connections go to the server itself, not through a pooler.
package final class PostgresLog: RealmLog {
    /// Which server.
    private let options: PostgresOptions
    /// Carries out the requests of owners.
    private let worker: PostgresWorker
    /// Connections for bases and records.
    private let pool: PostgresPool
    /// Keeps the bytes of bases; nil when the log does.
    private let files: (any BaseFiles)?

    /// The maximum number of idle connections for bases and records.
    private static let spareLimit = 4
    /// The number of bytes of a part of a base.
    private static let partByteCount = 1 << 20

    /// Use of the log since it was made.
    package struct Counts: Sendable {
        /// The number of waiting requests of owners.
        package var waiting = 0
        /// The number of transactions that were sent.
        package var rounds = 0
        /// The number of those whose outcome is not known.
        package var lostRounds = 0
        package var requests = 0
        /// The number of bytes of records in them.
        package var byteCount = 0
        /// The time that they took in seconds.
        package var seconds = 0.0
    }

    /// Use of the log since it was made.
    package var counts: Counts { worker.counts }

    /// Makes a log; nothing is connected yet.
    ///
    /// - Parameters:
    ///   - options: Which server.
    ///   - files: Keeps the bytes of bases; nil when the log does.
    package init(_ options: PostgresOptions, bases files: (any BaseFiles)? = nil) {
        self.options = options
        self.files = files
        worker = PostgresWorker(options)
        pool = PostgresPool(options, keeping: PostgresLog.spareLimit)
    }

    /// Makes the tables where they are missing, and checks that the server may keep a log.
    ///
    /// - Throws: `.refused(.logUnavailable)` with the reason.
    package func prepare() throws(StorageError) {
        do throws(PostgresFailure) {
            let connection = try PostgresWorker.connect(options)
            try connection.runScript(PostgresSchema.statements, until: deadline)
        } catch {
            throw .refused(.logUnavailable(error.text))
        }
    }

    /// Closes idle connections.
    package func close() {
        worker.stop()
        pool.close()
    }

    /// Carries out a request, as the protocol says.
    package func perform(_ call: LogCall, until deadline: Instant) -> LogReply { worker.perform(call, until: deadline) {} }

    /// Carries out a request while other work is done, as the protocol says.
    package func perform(_ call: LogCall, until deadline: Instant, meanwhile work: () -> Void) -> LogReply {
        worker.perform(call, until: deadline, meanwhile: work)
    }

    // MARK: - Transfers

    /// The deadline of a request that is sent now.
    private var deadline: Instant { Instant.now().adding(seconds: options.transferSeconds) }

    /// Runs statements on a connection for transfers.
    private func run<Result>(
        _ body: (PostgresConnection) throws(PostgresFailure) -> Result
    ) throws(StorageError) -> Result { try pool.run(body) }

    private func run(
        _ statement: PostgresStatement, _ values: [PostgresValue]
    ) throws(StorageError) -> PostgresAnswer {
        let deadline = deadline
        let answers = try run { connection throws(PostgresFailure) in
            try connection.run([PostgresStep(statement, values)], until: deadline)
        }
        guard let answer = answers.first else { throw .refused(.logUnavailable("the server has not answered")) }
        return answer
    }

    /// Returns the heads of some realms, as the protocol says.
    package func heads(of realms: [String], confirmedFor node: String?) throws(StorageError) -> [ByteText: LogHead] {
        guard !realms.isEmpty else { return [:] }
        let deadline = Instant.now().adding(seconds: options.connectSeconds)
        let rows = try run { connection throws(PostgresFailure) in
            let heads = PostgresStep(.heads, [.texts(realms)])
            guard let node else { return try connection.run([heads], until: deadline).first?.rows ?? [] }
            let steps = [PostgresStep(.begin), heads, PostgresStep(.touch, [.text(node)]), PostgresStep(.commit)]
            let answers = try connection.run(steps, until: deadline)
            guard answers.count == steps.count, answers.last?.tag == "COMMIT", !connection.hasWarned else {
                throw .lost("the server has not confirmed what it has")
            }
            return answers[1].rows
        }
        return Dictionary(
            texts: rows.compactMap { row in row.isDropped ? nil : row.head.flatMap { head in row.text(6).map { ($0, head) } } },
            uniquingKeysWith: { first, _ in first })
    }

    /// Returns the names of realms, as the protocol says.
    package func names(after name: String?, limit: Int) throws(StorageError) -> [String] {
        try run(.names, [.text(name ?? ""), .number(Int64(limit))]).rows.compactMap { $0.text(0) }
    }

    /// Returns what is known of a request, as the protocol says.
    package func request(_ name: String, of realm: String) throws(StorageError) -> LoggedRequest? {
        guard let row = try run(.request, [.text(realm), .text(name)]).rows.first else { return nil }
        guard let digest = row.text(0), let lineage = row.text(1), let version = row.number(2) else {
            throw .refused(.logUnavailable("it has answered something else"))
        }
        return LoggedRequest(digest: digest, lineage: lineage, version: version)
    }

    /// Begins the log of a realm, as the protocol says.
    package func create(
        _ head: LogHead, of realm: String, base: LogBase, from descriptor: Int32
    ) throws(StorageError) -> Bool {
        let create = PostgresStep(
            .create,
            [
                .text(realm), .text(head.lineage), .number(head.version), .bytes(head.checksum.bytes), .number(head.epoch),
                .text(head.owner.node), .text(head.owner.token),
            ])
        return try store(base, of: realm, from: descriptor, with: create)
    }

    /// Replaces the history of a realm, as the protocol says.
    package func restart(
        _ head: LogHead, over former: LogHead, of realm: String, base: LogBase, from descriptor: Int32
    ) throws(StorageError) -> Bool {
        let restart = PostgresStep(
            .restart,
            [
                .text(realm), .text(head.lineage), .number(head.version), .bytes(head.checksum.bytes), .number(former.epoch),
                .text(former.owner.token),
            ])
        return try store(base, of: realm, from: descriptor, with: restart)
    }

    /// Forgets a realm, as the protocol says.
    package func drop(_ realm: String, of owner: LogOwner) throws(StorageError) -> Bool {
        let deadline = deadline
        // The files of bases are deleted last: what has not been dropped needs them.
        let bases = files == nil ? [] : try bases(of: realm)
        let isDropped = try run { connection throws(PostgresFailure) in
            let drop = PostgresStep(.drop, [.text(realm), .text(owner.token)])
            let isDropped = try connection.run([PostgresStep(.begin), drop], until: deadline).last?.changedCount == 1
            let deletes: [PostgresStatement] = isDropped ? [.dropRecords, .dropBaseParts, .dropBases, .dropRequests] : []
            let steps = deletes.map { PostgresStep($0, [.text(realm)]) } + [PostgresStep(.commit)]
            guard try connection.run(steps, until: deadline).last?.tag == "COMMIT", !connection.hasWarned else {
                throw .lost("the server has not forgotten the realm")
            }
            return isDropped
        }
        for base in bases where isDropped && !base.file.isEmpty { try? files?.remove(base.file) }
        return isDropped
    }

    /// Returns whether a realm was forgotten, as the protocol says.
    package func hasDropped(_ realm: String, lineage: String) throws(StorageError) -> Bool {
        try !run(.dropped, [.text(realm), .text(lineage)]).rows.isEmpty
    }

    /// Stores a base, as the protocol says.
    package func put(_ base: LogBase, of realm: String, from descriptor: Int32) throws(StorageError) {
        _ = try store(base, of: realm, from: descriptor, with: nil)
    }

    /// Stores a base, and its bytes before that if they are kept elsewhere.
    ///
    /// - Parameter condition: A statement before that, which has to change a row; nil for none.
    /// - Returns: Whether it has.
    private func store(
        _ base: LogBase, of realm: String, from descriptor: Int32, with condition: PostgresStep?
    ) throws(StorageError) -> Bool {
        guard let files else { return try insert(base, of: realm, from: descriptor, with: condition) }
        var base = base
        base.file = base.fileName(of: realm)
        try files.put(base.file, from: descriptor, digest: base.digest)
        let isStored = try insert(base, of: realm, from: descriptor, with: condition)
        // If it is unknown whether it was, the file stays.
        if !isStored { try? files.remove(base.file) }
        return isStored
    }

    /// Stores a base in one transaction.
    private func insert(
        _ base: LogBase, of realm: String, from descriptor: Int32, with condition: PostgresStep?
    ) throws(StorageError) -> Bool {
        let key: [PostgresValue] = [.text(realm), .text(base.lineage), .number(base.version)]
        var failure: StorageError?
        let isStored = try run { connection throws(PostgresFailure) in
            _ = try connection.run([PostgresStep(.begin)], until: deadline)
            if let condition {
                guard try connection.run([condition], until: deadline).first?.changedCount == 1 else {
                    _ = try connection.run([PostgresStep(.commit)], until: deadline)
                    return false
                }
            }
            _ = try connection.run([PostgresStep(.removeBase, key), PostgresStep(.removeBaseParts, key)], until: deadline)
            let end = base.file.isEmpty ? base.byteCount : 0
            for (number, start) in stride(from: 0, to: end, by: PostgresLog.partByteCount).enumerated() {
                let bytes: [UInt8]
                do throws(StorageError) {
                    bytes = try PostgresLog.read(descriptor, from: start, upTo: base.byteCount)
                } catch {
                    failure = error
                    connection.abort()
                    return false
                }
                let part = PostgresStep(.addBasePart, key + [.number(Int64(number)), .bytes(bytes)])
                _ = try connection.run([part], until: deadline)
            }
            let row = PostgresStep(
                .addBase,
                key + [
                    .bytes(base.checksum.bytes), .bytes(base.digest), .number(Int64(base.byteCount)), .text(base.file),
                ])
            let answers = try connection.run([row, PostgresStep(.commit)], until: deadline)
            guard answers.last?.tag == "COMMIT", !connection.hasWarned else {
                throw .lost("the server has not committed a base")
            }
            return true
        }
        if let failure { throw failure }
        return isStored
    }

    /// Reads a part of a base.
    private static func read(_ descriptor: Int32, from start: Int, upTo end: Int) throws(StorageError) -> [UInt8] {
        let wanted = min(partByteCount, end - start)
        var bytes: [UInt8] = []
        while bytes.count < wanted {
            let piece = try System.read(descriptor, at: start + bytes.count, byteCount: wanted - bytes.count)
            guard !piece.isEmpty else { throw .io(operation: "read", errno: 5) }
            bytes += piece
        }
        return bytes
    }

    /// Returns the bases of a realm, as the protocol says.
    package func bases(of realm: String) throws(StorageError) -> [LogBase] {
        try run(.bases, [.text(realm)]).rows.compactMap { row in
            guard let lineage = row.text(0), let version = row.number(1),
                let checksum = row.bytes(2).flatMap({ LogChecksum($0) }), let digest = row.bytes(3),
                let count = row.number(4).flatMap({ Int(exactly: $0) })
            else { return nil }
            var base = LogBase(lineage: lineage, version: version, checksum: checksum, digest: digest, byteCount: count)
            base.file = row.text(5) ?? ""
            return base
        }
    }

    /// Copies the bytes of a base, as the protocol says.
    package func fetch(_ base: LogBase, of realm: String, into descriptor: Int32) throws(StorageError) {
        guard base.file.isEmpty else { return try fetchFile(of: base, into: descriptor) }
        let key: [PostgresValue] = [.text(realm), .text(base.lineage), .number(base.version)]
        var count = 0
        var number: Int64 = 0
        while count < base.byteCount {
            // Missing bytes show in the digest.
            guard let bytes = try run(.basePart, key + [.number(number)]).rows.first?.bytes(0), !bytes.isEmpty else { return }
            try System.write(descriptor, bytes)
            count += bytes.count
            number += 1
        }
    }

    /// Copies the bytes of a base that are kept elsewhere. Missing or damaged bytes show in the digest.
    private func fetchFile(of base: LogBase, into descriptor: Int32) throws(StorageError) {
        guard let files else {
            throw .refused(.unsuitable("the base '\(base.file)' is in a bucket, which --bases must name"))
        }
        do throws(StorageError) {
            try files.fetch(base.file, byteCount: base.byteCount, into: descriptor)
        } catch {
            switch error {
            case .refused(.fileNotFound), .corrupt: return
            default: throw error
            }
        }
    }

    /// Deletes a base, as the protocol says.
    package func remove(_ base: LogBase, of realm: String, whileLineage lineage: String) throws(StorageError) {
        let key: [PostgresValue] = [.text(realm), .text(base.lineage), .number(base.version)]
        let deadline = deadline
        let isRemoved = try run { connection throws(PostgresFailure) in
            let remove = PostgresStep(.removeBaseWhileLineage, key + [.text(lineage)])
            let isRemoved = try connection.run([PostgresStep(.begin), remove], until: deadline).last?.changedCount == 1
            let rest = isRemoved ? [PostgresStep(.removeBaseParts, key)] : []
            _ = try connection.run(rest + [PostgresStep(.commit)], until: deadline)
            return isRemoved
        }
        if isRemoved, !base.file.isEmpty { try files?.remove(base.file) }
    }

    /// Deletes records, as the protocol says.
    package func prune(_ realm: String, lineage: String, upTo version: UInt64) throws(StorageError) {
        _ = try run(.prune, [.text(realm), .text(lineage), .number(version)])
    }

    /// Reads records, as the protocol says.
    package func records(
        of realm: String, lineage: String, versions: ClosedRange<UInt64>, _ take: ([UInt8]) throws(StorageError) -> Void
    ) throws(StorageError) {
        var record: (version: UInt64, bytes: [UInt8])?
        var last: (version: UInt64, part: UInt64) = (versions.lowerBound - 1, UInt64(Int64.max))
        while true {
            let rows = try run(
                .records,
                [.text(realm), .text(lineage), .number(last.version), .number(last.part), .number(versions.upperBound)]
            ).rows
            for row in rows {
                guard let version = row.number(0), let part = row.number(1), let bytes = row.bytes(2) else { continue }
                if part == 0 {
                    if let record { try take(record.bytes) }
                    record = (version, bytes)
                } else if record?.version == version {
                    record?.bytes += bytes
                }
                last = (version, part)
            }
            guard !rows.isEmpty else { break }
        }
        if let record { try take(record.bytes) }
    }
}
