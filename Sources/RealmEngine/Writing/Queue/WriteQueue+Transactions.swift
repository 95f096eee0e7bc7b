// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// Interactive transactions from the view of their clients. Nothing here waits.
extension WriteQueue {
    /// Returns the transaction with the given id, open or ended.
    ///
    /// - Parameters:
    ///   - owner: The principal of the request; nil for access to the transactions of all owners.
    /// - Returns: The description; nil when the transaction is unknown, forgotten or has another owner.
    func transaction(_ id: String, owner: String?) -> TransactionInfo? {
        monitor.withLock { state in
            if let info = state.interactive?.info, info.id == id { return owner == nil || info.owner == owner ? info : nil }
            return state.ended[id, owner]
        }
    }

    /// Returns why a transaction takes no request; nil when it is open.
    func refusal(of id: String, owner: String?) -> WriteError? {
        guard let info = transaction(id, owner: owner) else { return WriteQueue.unknown }
        return info.state == .open ? nil : WriteQueue.over(info)
    }

    /// The transaction that holds the writer; nil when there is none.
    var openTransaction: TransactionInfo? { monitor.withLock { $0.interactive?.info } }

    /// Passes a request to the transaction, or completes it with an error at once.
    ///
    /// - Parameters:
    ///   - step: The request.
    ///   - owner: The principal of the request; nil for access to the transactions of all owners.
    func submit(_ step: TransactionStep, to id: String, owner: String?) {
        /// The result of passing on a request.
        enum Answer {
            case taken
            case refused(WriteError)
            case done
        }
        let answer = monitor.broadcast { state -> Answer in
            guard let info = state.interactive?.info, info.id == id else {
                guard let info = state.ended[id, owner] else { return .refused(WriteQueue.unknown) }
                if info.state == .aborted, case .rollBack = step.action {
                    state.ended.setState(.rolledBack, of: id)
                    return .done
                }
                return .refused(WriteQueue.over(info))
            }
            guard owner == nil || info.owner == owner else { return .refused(WriteQueue.unknown) }
            if state.interactive?.isBusy == true {
                return .refused(WriteError(.transactionBusy, "another request is running in this transaction"))
            }
            state.interactive?.isBusy = true
            state.interactive?.step = step
            return .taken
        }
        switch answer {
        case .taken: break
        case .refused(let error): step.completion(.failure(error))
        case .done: step.completion(.success(nil))
        }
    }

    /// The error for an id that belongs to no known transaction.
    private static let unknown = WriteError(.notFound, "there is no transaction of this id")

    /// Makes the error for a request in a transaction that has ended.
    static func over(_ info: TransactionInfo) -> WriteError {
        switch info.state {
        case .committed: return WriteError(.alreadyCommitted, "the transaction was committed")
        case .aborted: return WriteError(.transactionAborted, "a write of the transaction failed, and it was rolled back")
        case .open, .rolledBack, .expired: return expired
        }
    }

    /// Remembers a transaction of an earlier opening of the realm as expired.
    func rememberExpired(_ info: TransactionInfo) {
        var info = info
        info.state = .expired
        monitor.withLock { $0.ended.insert(info, limits) }
    }

    /// The error for a transaction whose lease has ended.
    static let expired = WriteError(.transactionExpired, "the transaction has ended")
}
