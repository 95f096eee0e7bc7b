// SPDX-License-Identifier: Apache-2.0

package import RealmStorage

/// What is told about an interactive transaction.
package struct TransactionInfo: Sendable {
    package enum State: String, Sendable { case open, aborted, committed, rolledBack, expired }

    package let id: String
    package let owner: String
    /// The version it started from. Only its name: this is told of long after the version is gone.
    package let version: VersionToken
    package let idleSeconds: Double
    package let expires: WallClock
    package internal(set) var state: State
    /// The version it was committed as.
    package internal(set) var committed: VersionToken?
}

/// Somebody wants to begin an interactive transaction.
struct BeginRequest: Sendable {
    let owner: String
    /// Among whose transactions it counts; nil for one that counts among nobody's.
    let client: String?
    /// When it entered the queue.
    let submitted = Instant.now()
    let waitEnds: Instant
    let idleSeconds: Double
    let lifetimeSeconds: Double
    let completion: @Sendable (Result<TransactionInfo, WriteError>) -> Void
}

/// One request inside an interactive transaction.
struct TransactionStep: Sendable {
    enum Kind: Sendable {
        /// Reads the uncommitted state; its failure changes nothing.
        case read
        case write
        /// Is undone whatever happens.
        case dryRun
    }

    enum Action: Sendable {
        case run(Kind, deadline: Instant, body: @Sendable (WriteSession) throws -> Void)
        case commit(mark: (any Sendable)?)
        case rollBack
        /// A write failed before it came here.
        case abort
    }

    let action: Action
    /// Called on the writer thread; with the new version after a commit.
    let completion: @Sendable (Result<Database.Version?, WriteError>) -> Void
}

/// The interactive transaction that holds the writer, as other threads see it.
struct InteractiveState: Sendable {
    var info: TransactionInfo
    let client: String?
    /// The end of the whole lease.
    let expires: Instant
    /// The end of the lease if nobody comes.
    var idleEnds: Instant
    /// Whether a request is in it: a second one has to come later.
    var isBusy = false
    /// A request for the writer thread.
    var step: TransactionStep?

    /// When the lease is over as things stand.
    var ends: Instant { isBusy ? expires : min(expires, idleEnds) }
}

/// Interactive transactions that are over, for those who still ask.
struct EndedTransactions {
    private var infos: [String: (info: TransactionInfo, until: Instant)] = [:]
    private var order: [String] = []

    mutating func insert(_ info: TransactionInfo, _ limits: WriteLimits) {
        infos[info.id] = (info, Instant.now().adding(seconds: limits.rememberedSeconds))
        order.append(info.id)
        while let oldest = order.first, order.count > limits.rememberedCount || isOver(oldest) {
            infos[oldest] = nil
            order.removeFirst()
        }
    }

    private func isOver(_ id: String) -> Bool { infos[id].map { $0.until <= Instant.now() } ?? true }

    /// The transaction of that id, if it is not forgotten yet.
    subscript(id: String, owner: String?) -> TransactionInfo? {
        guard let entry = infos[id], entry.until > Instant.now(), owner == nil || entry.info.owner == owner else { return nil }
        return entry.info
    }

    /// A transaction that failed may be rolled back, which changes nothing else.
    mutating func setState(_ state: TransactionInfo.State, of id: String) { infos[id]?.info.state = state }
}
