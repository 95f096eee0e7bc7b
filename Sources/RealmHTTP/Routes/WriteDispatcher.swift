// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage

/// Answers calls that write: repetitions from what is kept, all others by their endpoint.
struct WriteDispatcher: Sendable {
    typealias Endpoint = @Sendable (WriteCall) throws(Problem) -> Reply

    private let idempotency = IdempotencyStore()

    /// Answers a call that writes. Everything that is wrong with it ends the transaction it belongs to.
    func reply(to call: WriteCall, _ endpoint: Endpoint) throws(Problem) -> Reply {
        let ticket: IdempotencyStore.Ticket?
        switch try idempotency.begin(call.request) {
        case .none: ticket = nil
        case .first(let first): ticket = first
        case .known(let response): return .now(response)
        }
        return answer(call, ticket, endpoint)
    }

    /// The answer of the endpoint, which is kept for a repetition.
    private func answer(_ call: WriteCall, _ ticket: IdempotencyStore.Ticket?, _ endpoint: Endpoint) -> Reply {
        let reply: Reply
        do throws(Problem) {
            reply = try endpoint(call)
        } catch {
            reply = endTransaction(of: call, Response(error, for: call.request), error)
        }
        guard let ticket else { return reply }
        switch reply {
        case .now(let response): return .now(ticket.keep(response))
        case .work(let work): return .work { ticket.keep(work()) }
        case .attend(let work): return .attend { ticket.keep(work()) }
        case .later(let begin): return .later { promise in begin(KeepingPromise(promise, ticket)) }
        }
    }

    /// A write that failed before it came to its transaction ends it all the same, and is answered then.
    private func endTransaction(of call: WriteCall, _ response: Response, _ problem: Problem) -> Reply {
        guard let id = call.request.headers[.realmTransaction], problem.code != .transactionBusy,
            case .ready(let database)? = call.request.realm,
            (try? QueryParameters(call.request.target))?["dryRun"] != "true"
        else { return .now(response) }
        return .later { promise in
            database.abortTransaction(id, owner: Principal.none) { promise.complete(response) }
        }
    }
}
