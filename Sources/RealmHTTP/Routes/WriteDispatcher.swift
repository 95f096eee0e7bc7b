// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmAccess
internal import RealmCalls
internal import RealmEngine
internal import RealmFormats
internal import RealmHosting
internal import RealmPlatform
internal import RealmStorage

/// Answers calls that write: repetitions with an idempotency key from the kept response, all others by their endpoint.
struct WriteDispatcher: Sendable {
    /// The responses that are kept for repetitions.
    private let idempotency: IdempotencyStore
    /// The threads that ask the log of a cluster.
    let workers: WorkerPool
    /// This server as a node of a cluster; nil for a single server.
    let cluster: ClusterService?

    /// Makes a dispatcher.
    ///
    /// - Parameters:
    ///   - catalog: The realms, to whose openings idempotency keys belong.
    ///   - workers: The threads that ask the log of a cluster.
    ///   - cluster: This server as a node of a cluster; nil for a single server.
    init(_ catalog: Catalog, workers: WorkerPool, cluster: ClusterService?) {
        idempotency = IdempotencyStore(catalog)
        self.workers = workers
        self.cluster = cluster
    }

    /// Answers a call that writes.
    ///
    /// A request that is refused before it reaches the interactive transaction that it belongs to leaves that as it was.
    ///
    /// - Parameters:
    ///   - call: The call, whose request was admitted.
    ///   - endpoint: The function that answers.
    /// - Returns: The response, or the work that leads to it.
    /// - Throws: A `Problem` of the idempotency key.
    func reply(to call: Call, _ endpoint: @escaping RouteOperation.Function) throws(Problem) -> Reply {
        let ticket: IdempotencyStore.Ticket?
        switch try idempotency.begin(call) {
        case .none: ticket = nil
        case .first(let first):
            call.onLateRefusal = { first.settle($0) }
            if let cluster, case .ready(let database)? = call.realm, cluster.keeps(database) {
                return answer(call, first, in: database, of: cluster, endpoint)
            }
            ticket = first
        case .known(let response):
            call.audit?.noteRepetition()
            return .now(response)
        }
        return answer(call, ticket, endpoint)
    }

    /// Answers the first request with a key that this node knows of, unless another node has carried it out. A worker asks the log.
    private func answer(
        _ call: Call, _ ticket: IdempotencyStore.Ticket, in database: Database, of cluster: ClusterService,
        _ endpoint: @escaping RouteOperation.Function
    ) -> Reply {
        return .later { promise in
            // Whatever is answered, also that there is no worker, ends the claim on the key.
            let keeping = KeepingPromise(promise, ticket)
            workers.submit(for: call, to: keeping) {
                do throws(Problem) {
                    let source = try IdempotencyStore.source(of: call)
                    guard let source, let earlier = try cluster.outcome(of: source, in: database) else {
                        call.source = source
                        return answer(call, nil, endpoint).resolve(keeping)
                    }
                    guard earlier.digest == source.digest else { throw IdempotencyStore.reused }
                    call.audit?.noteRepetition()
                    var response = Response(status: 204)
                    response.add("Realm-Version", earlier.version)
                    response.add("Idempotency-Replayed", constant: "true")
                    // The log still knows it.
                    ticket.forget()
                    promise.complete(response)
                } catch {
                    keeping.complete(Response(error, for: call))
                }
            }
        }
    }

    /// Calls the endpoint, and has its response kept under the ticket.
    ///
    /// - Parameters:
    ///   - ticket: The claim on the idempotency key; nil for a request without one.
    private func answer(_ call: Call, _ ticket: IdempotencyStore.Ticket?, _ endpoint: RouteOperation.Function) -> Reply {
        let reply: Reply
        do throws(Problem) {
            reply = try endpoint(call)
        } catch {
            reply = .now(Response(error, for: call))
        }
        guard let ticket else { return reply }
        switch reply {
        case .now(let response): return .now(ticket.keep(response))
        case .work(let work): return .work { ticket.keep(work()) }
        case .attend(let work): return .attend { ticket.keep(work()) }
        case .later(let begin): return .later { promise in begin(KeepingPromise(promise, ticket)) }
        }
    }
}

/// A promise that keeps a response for repetitions of its request on the way to the client.
///
/// It is used for writes that are answered later: the writer's thread completes it.
private final class KeepingPromise: ResponsePromise {
    /// The promise that delivers the response to the client.
    private let promise: any ResponsePromise
    /// The claim on the idempotency key of the request.
    private let ticket: IdempotencyStore.Ticket

    /// Wraps a promise.
    ///
    /// - Parameters:
    ///   - promise: The promise that delivers the response.
    ///   - ticket: The claim under which the response is kept first.
    init(_ promise: any ResponsePromise, _ ticket: IdempotencyStore.Ticket) {
        self.promise = promise
        self.ticket = ticket
    }

    /// Keeps the response, then delivers it. Called once, on any thread.
    func complete(_ response: Response) { promise.complete(ticket.keep(response)) }
    /// Passes the action on: the connection belongs to the inner promise.
    func onDisconnect(_ action: @escaping @Sendable () -> Void) { promise.onDisconnect(action) }
}
