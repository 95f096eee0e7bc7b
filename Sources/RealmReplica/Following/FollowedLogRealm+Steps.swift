// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmPlatform
internal import RealmStorage

/// Taking over what the log has.
extension FollowedLogRealm {
    /// How patient a step is with readers.
    enum Patience {
        /// It waits for them up to the limits, and then asks them to end.
        case usual
        /// It leaves the file to them at once.
        case none
    }

    /// Takes the turn and advances towards the last seen head, as far as one turn reaches. Another thread may have the turn.
    func step() {
        let head = monitor.withLock { state -> LogHead? in
            guard state.isBehind, let head = state.head else { return nil }
            state.isTurn = true
            return head
        }
        guard let head else { return }
        go(to: head)
        monitor.broadcast { $0.isTurn = false }
        announceEnd()
    }

    /// Advances to a head, and records the outcome.
    private func go(to head: LogHead) {
        do throws(StorageError) {
            for _ in 0..<limits.fetchCount where try advance(to: head, .usual) { break }
            monitor.withLock { state in
                state.failure = nil
                state.failureCount = 0
                state.retry = Instant(nanoseconds: 0)
            }
        } catch {
            fail(error)
        }
    }

    /// Notes that something has failed, and when it is tried again.
    private func fail(_ error: StorageError) {
        switch error {
        case .refused(.fileChanged), .refused(.notWritable): return finish(.file(error))
        // The log continues with another key, or without one.
        case .refused(.encryptionKeyRequired), .refused(.encryptionKeyWrong): return finish(.file(error))
        case .refused(.writesStopped): work.needsFile = true
        default: break
        }
        let now = follower.clock()
        let (first, longest) = limits.retrySeconds
        monitor.withLock { state in
            let pause = min(first * Double(1 << min(state.failureCount, 10)), longest)
            state.failure = error
            state.failureCount += 1
            state.counts.failures += 1
            state.retry = now.adding(seconds: pause)
        }
    }

    /// Advances to a head, by records if they lead there.
    ///
    /// - Returns: Whether this turn is over: the head is reached, or the turn waits for readers.
    func advance(to head: LogHead, _ patience: Patience) throws(StorageError) -> Bool {
        let chain = work.chain
        guard !work.needsFile, head.lineage == chain.epoch, head.version >= chain.version else {
            try remake(to: head)
            return true
        }
        guard head.version > chain.version else {
            if head.checksum.bytes != chain.checksum { try remake(to: head) }
            return true
        }
        do throws(StorageError) {
            return try follow(to: head, patience)
        } catch {
            guard error.isDamage else { throw error }
            work.pending = nil
            guard work.hasRefetched else {
                work.hasRefetched = true
                monitor.withLock { $0.counts.refetches += 1 }
                return false
            }
            try remake(to: head)
            return true
        }
    }

    // MARK: - Records

    /// Applies the next records.
    ///
    /// - Returns: Whether this turn is over.
    /// - Throws: `.corrupt` when records are damaged or missing.
    private func follow(to head: LogHead, _ patience: Patience) throws(StorageError) -> Bool {
        if let pending = work.pending, try !takeAlone(pending.bytes, patience) { return true }
        let chain = work.chain
        guard chain.version < head.version else { return true }
        let last = min(head.version, chain.version + limits.recordCount)
        var isWaiting = false
        do throws(StorageError) {
            try log.records(
                of: name, lineage: head.lineage, versions: chain.version + 1...last
            ) { bytes throws(StorageError) in
                guard try !take(bytes, patience) else { return }
                isWaiting = true
                // Later records are of no use yet.
                throw .stopped(.cancelled)
            }
        } catch {
            try finishTaking()
            guard isWaiting else { throw error }
            return true
        }
        try finishTaking()
        guard work.chain.version >= last else {
            throw .corrupt(ref: .none, reason: "the log of '\(name)' lacks records after version \(work.chain.version)")
        }
        return work.chain.version == head.version
    }

    /// Applies a record.
    ///
    /// - Returns: Whether that was done; false while readers are waited for.
    /// - Throws: `.corrupt` when it is damaged or does not belong here.
    private func take(_ bytes: [UInt8], _ patience: Patience) throws(StorageError) -> Bool {
        var next = work.chain
        var end = 0
        let record = try next.open(bytes, at: &end, database.key)
        guard try makeRoom(for: record, bytes, patience) else { return false }
        try database.take(record, mark: record.notes.skips.isEmpty ? nil : hooks.mark(record.notes.skips))
        work.pending = nil
        work.hasRefetched = false
        work.top = record.topRef
        noteReached(next) { counts in
            counts.records += 1
            counts.bytes += bytes.count
        }
        return true
    }

    /// Applies a record after which no others come at once.
    private func takeAlone(_ bytes: [UInt8], _ patience: Patience) throws(StorageError) -> Bool {
        let isTaken = try take(bytes, patience)
        try finishTaking()
        return isTaken
    }

    /// Brings the file to the records that were applied: with one sync for all of them.
    private func finishTaking() throws(StorageError) {
        guard let top = work.top else { return }
        try database.finishTaking()
        work.top = nil
        // A position that cannot be written only lags more.
        try? work.position.move(to: work.chain, top: top)
    }

    /// Records that the realm has come to a place, and calls the waiters for its version.
    private func noteReached(_ chain: RecordChain, _ count: (inout ReplicaCounts) -> Void) {
        work.chain = chain
        database.replicationStatus.note(reached: chain.version)
        let ready = monitor.broadcast { state in
            state.place = chain
            count(&state.counts)
            return state.takeReached()
        }
        for waiter in ready { waiter.completion(true) }
    }

    // MARK: - Readers

    /// Waits until no reader uses a version that a record would overwrite.
    ///
    /// It first waits for readers, then asks them to end, and then leaves the file to them: the realm continues in a copy.
    ///
    /// - Returns: Whether the record can be applied now.
    private func makeRoom(for record: CommitRecord, _ bytes: [UInt8], _ patience: Patience) throws(StorageError) -> Bool {
        guard let oldest = database.oldestLiveVersion, record.horizon >= oldest else { return true }
        // Such a record is not for files that are read, and applying it says so.
        guard record.keepsPreviousVersion else { return true }
        if case .usual = patience, !hasWaited(for: record, bytes) { return false }
        monitor.withLock { $0.counts.renewals += 1 }
        try database.renewFile()
        return true
    }

    /// Whether readers had time enough, and the file may be left to them.
    private func hasWaited(for record: CommitRecord, _ bytes: [UInt8]) -> Bool {
        let now = follower.clock()
        guard var pending = work.pending else {
            work.pending = Pending(bytes: bytes, since: now)
            return false
        }
        guard now.seconds(since: pending.since) >= limits.patienceSeconds else { return false }
        guard let announced = pending.announced else {
            pending.announced = now
            work.pending = pending
            monitor.withLock { $0.counts.evictions += 1 }
            hooks.endReaders(record.horizon)
            return false
        }
        return now.seconds(since: announced) >= limits.graceSeconds && database.formerFileCount < limits.formerFileCount
    }

    // MARK: - Bases

    /// Makes the file anew from a base and the records after it, because records do not lead from it to a head.
    private func remake(to head: LogHead) throws(StorageError) {
        guard canAdopt(head) else { return finish(.replaced) }
        monitor.withLock { $0.counts.rebuilds += 1 }
        let file = try LogReplay(name, path: database.path, log: log, key: database.key).build(upTo: head)
        let isContinued = head.lineage == work.chain.epoch
        try database.adopt(file, version: head.version, epoch: Epoch(continuing: head.lineage))
        let chain = RecordChain(realm: name, epoch: head.lineage, version: head.version, checksum: head.checksum.bytes)
        work.pending = nil
        work.top = nil
        work.hasRefetched = false
        work.needsFile = false
        work.position = try FilePosition(chain, top: database.current.snapshot.top.ref, for: database.path)
        noteReached(chain) { _ in }
        // The versions that callers wait for were in the former history.
        if !isContinued { failWaiters() }
    }

    /// Whether the version of a head can follow the present one: it is a later one, or the same.
    private func canAdopt(_ head: LogHead) -> Bool {
        let chain = work.chain
        if head.version > chain.version { return true }
        return head.version == chain.version && head.lineage == chain.epoch && head.checksum.bytes == chain.checksum
    }
}
