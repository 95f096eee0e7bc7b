// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// A promise that keeps a response for repetitions of its request on the way to the client.
///
/// It is used for writes that are answered later: the writer's thread completes it.
final class KeepingPromise: ResponsePromise {
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
