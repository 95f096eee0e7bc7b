// SPDX-License-Identifier: Apache-2.0

internal import DequeModule
internal import RealmPlatform
internal import RealmStorage

/// The interactive transactions that have ended, remembered so that later requests get a precise error.
///
/// It is guarded by the monitor of the queue.
struct EndedTransactions {
    /// The transactions by their ids, with the instant until which they are remembered.
    private var infos: [ByteText: (info: TransactionInfo, until: Instant)] = [:]
    /// The ids, oldest first.
    private var order: Deque<String> = []

    /// Remembers a transaction, and forgets those that are too old or too many.
    mutating func insert(_ info: TransactionInfo, _ limits: WriteLimits) {
        infos[info.id] = (info, Instant.now().adding(limits.rememberedTime))
        order.append(info.id)
        while let oldest = order.first, order.count > limits.rememberedCount || isOver(oldest) {
            infos[oldest] = nil
            order.removeFirst()
        }
    }

    /// Returns whether the time for which a transaction is remembered has passed.
    private func isOver(_ id: String) -> Bool { infos[id].map { $0.until <= Instant.now() } ?? true }

    /// The transaction with the given id; nil when it is unknown, forgotten or has another owner. A nil
    /// owner accepts all.
    subscript(id: String, owner: String?) -> TransactionInfo? {
        guard let entry = infos[id], entry.until > Instant.now(), owner == nil || entry.info.owner == owner else { return nil }
        return entry.info
    }

    /// Changes the state of a remembered transaction: one that was aborted may still be rolled back by
    /// its client.
    mutating func setState(_ state: TransactionInfo.State, of id: String) { infos[id]?.info.state = state }
}
