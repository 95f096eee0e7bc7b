// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The obligation to answer one request whose connection is suspended. It is fulfilled once, from any thread.
package protocol ResponsePromise: AnyObject, Sendable {
    /// Delivers the response and resumes the connection. Only the first call has an effect.
    ///
    /// - Parameter response: The response, not yet finished by the handler.
    func complete(_ response: Response)

    /// Registers an action for the case that the client closes its side of the connection while the response is awaited.
    ///
    /// Only one action can be registered, and none after the response. The promise still has to be completed.
    ///
    /// - Parameter action: Called at most once, on the thread that watches suspended connections;
    ///   it must be short.
    func onDisconnect(_ action: @escaping @Sendable () -> Void)
}
