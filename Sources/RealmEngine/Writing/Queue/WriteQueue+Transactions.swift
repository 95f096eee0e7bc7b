// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// Interactive transactions as their clients see them. Nothing here waits.
extension WriteQueue {
    /// The transaction of that id, open or ended; nil when it never was, is forgotten, or has another owner.
    ///
    /// `owner` nil asks for everybody's.
    func transaction(_ id: String, owner: String?) -> TransactionInfo? {
        monitor.withLock { state in
            if let info = state.interactive?.info, info.id == id { return owner == nil || info.owner == owner ? info : nil }
            return state.ended[id, owner]
        }
    }

    /// The transaction that is open now.
    var openTransaction: TransactionInfo? { monitor.withLock { $0.interactive?.info } }

    /// Hands a request to the transaction, or refuses it at once.
    func submit(_ step: TransactionStep, to id: String, owner: String?) {
        /// What is done with a request.
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

    private static let unknown = WriteError(.notFound, "there is no transaction of this id")

    /// Why nothing can be done in a transaction that has ended.
    static func over(_ info: TransactionInfo) -> WriteError {
        switch info.state {
        case .committed: return WriteError(.alreadyCommitted, "the transaction was committed")
        case .aborted: return WriteError(.transactionAborted, "a write of the transaction failed, and it was rolled back")
        case .open, .rolledBack, .expired: return expired
        }
    }

    /// The error of a transaction whose lease has ended.
    static let expired = WriteError(.transactionExpired, "the transaction is over")
}
