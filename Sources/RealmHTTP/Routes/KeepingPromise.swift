// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage

/// Keeps an answer for repetitions on its way to the client.
final class KeepingPromise: ResponsePromise {
    private let promise: any ResponsePromise
    private let ticket: IdempotencyStore.Ticket

    /// A promise that keeps the answer under `ticket` before it passes it on to `promise`.
    init(_ promise: any ResponsePromise, _ ticket: IdempotencyStore.Ticket) {
        self.promise = promise
        self.ticket = ticket
    }

    /// Keeps the answer and passes it on.
    func complete(_ response: Response) { promise.complete(ticket.keep(response)) }
    /// Passed on: the client is that of the promise behind this one.
    func onDisconnect(_ action: @escaping @Sendable () -> Void) { promise.onDisconnect(action) }
}
