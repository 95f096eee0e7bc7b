// SPDX-License-Identifier: Apache-2.0

/// The place where an answer that comes later is put, once.
package protocol ResponsePromise: AnyObject, Sendable {
    /// Further calls are ignored.
    func complete(_ response: Response)

    /// Has `action` called when the client closes its side while it waits. It still has to be answered.
    func onDisconnect(_ action: @escaping @Sendable () -> Void)
}
