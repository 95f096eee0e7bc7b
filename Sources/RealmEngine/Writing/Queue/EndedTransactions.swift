// SPDX-License-Identifier: Apache-2.0

internal import DequeModule
internal import RealmStorage

/// Interactive transactions that are over, for those who still ask.
struct EndedTransactions {
    /// By id, with the time until which they are remembered.
    private var infos: [String: (info: TransactionInfo, until: Instant)] = [:]
    /// Ids, oldest first.
    private var order: Deque<String> = []

    /// Remembers a transaction, and forgets those that are over for too long or are too many.
    mutating func insert(_ info: TransactionInfo, _ limits: WriteLimits) {
        infos[info.id] = (info, Instant.now().adding(limits.rememberedTime))
        order.append(info.id)
        while let oldest = order.first, order.count > limits.rememberedCount || isOver(oldest) {
            infos[oldest] = nil
            order.removeFirst()
        }
    }

    /// Whether a transaction need not be remembered any more.
    private func isOver(_ id: String) -> Bool { infos[id].map { $0.until <= Instant.now() } ?? true }

    /// The transaction of that id, if it is not forgotten yet.
    subscript(id: String, owner: String?) -> TransactionInfo? {
        guard let entry = infos[id], entry.until > Instant.now(), owner == nil || entry.info.owner == owner else { return nil }
        return entry.info
    }

    /// A transaction that failed may be rolled back, which changes nothing else.
    mutating func setState(_ state: TransactionInfo.State, of id: String) { infos[id]?.info.state = state }
}
