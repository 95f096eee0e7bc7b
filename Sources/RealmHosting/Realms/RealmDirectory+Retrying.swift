// SPDX-License-Identifier: Apache-2.0

package import MicroHTTP
internal import RealmEngine
internal import RealmFormats
package import RealmPlatform
package import RealmStorage

/// Realms that were attached in the background and could not be opened. The whole request is carried out again, with
/// its schema and its migrations, when a request needs the realm or brings another key.
extension RealmDirectory {
    /// A request to attach a realm that has failed.
    struct FailedAttach: Sendable {
        /// The attempt that has failed.
        fileprivate let operation: AttachOperation
        /// The state of the file if the attempt fails in the same way as long as the file remains as it is.
        fileprivate let facts: System.FileFacts?
        /// The instant of the last attempt.
        fileprivate var lastTry = Instant.now()
    }

    /// The time between two attempts that requests cause.
    private static let retryPause = Duration.seconds(1)
    /// The time in nanoseconds for which a file must not have changed; it may otherwise be in the middle of being copied.
    private static let quietNanoseconds: Int64 = 500_000_000

    /// Keeps a failed attempt, which is listed as failed from now on. Attempts of realms that are no longer listed are forgotten.
    ///
    /// - Parameters:
    ///   - operation: The attempt.
    ///   - isAboutContents: Whether the content of the file is the reason.
    func noteFailure(of operation: AttachOperation, isAboutContents: Bool) {
        let facts = isAboutContents ? operation.attachment.firstPath.flatMap { try? System.facts(path: $0) } : nil
        let name = operation.attachment.name.text
        let known = failedAttaches.withLock { $0.keys.texts }
        let gone = known.filter { catalog[$0] == nil }
        failedAttaches.withLock { failed in
            for name in gone { failed[name] = nil }
            failed[name] = FailedAttach(operation: operation, facts: facts)
        }
    }

    /// Forgets a failed attempt.
    func forgetFailure(of name: String) {
        let forgotten = failedAttaches.withLock { $0.removeValue(forKey: name) }
        withExtendedLifetime(forgotten) {}
    }

    /// Carries out the request of a failed realm again, at most once a second, on a worker.
    package func retry(_ name: String, _ now: Instant) {
        let failed = failedAttaches.withLock { all -> FailedAttach? in
            guard let failed = all[name], now >= failed.lastTry.adding(RealmDirectory.retryPause) else { return nil }
            all[name]?.lastTry = now
            return failed
        }
        guard let failed else { return }
        _ = workers.submitContinuation(for: WorkerPool.server) { [self] in
            let facts = failed.operation.attachment.firstPath.flatMap { try? System.facts(path: $0) }
            if let known = failed.facts, known == facts { return }
            if let facts, facts.wasModified(within: RealmDirectory.quietNanoseconds) { return }
            _ = attach(failed, key: nil, nil)
        }
    }

    /// Carries out the request of a failed realm with another key. Called on a worker.
    ///
    /// - Parameters:
    ///   - promise: Receives 204, or the problem.
    /// - Returns: False when there is no such request, or when it is being carried out; the promise is then not
    ///   used.
    package func retry(_ name: String, with key: EncryptionKey, _ promise: any ResponsePromise) -> Bool {
        guard let failed = failedAttaches.withLock({ $0[name] }) else { return false }
        return attach(failed, key: key, KeyPromise(promise))
    }

    /// Begins an attempt; false when the realm is no longer listed as failed.
    private func attach(_ failed: FailedAttach, key: EncryptionKey?, _ promise: (any ResponsePromise)?) -> Bool {
        let former = failed.operation
        guard catalog.beginAgain(former.attachment.name) else { return false }
        AttachOperation(former.attachment.again(with: key), former.call, self, isDryRun: false, repeating: former).run(promise)
        return true
    }
}

/// Answers a request that has given a key when the realm is open: 204, as the client did not ask for the realm.
private final class KeyPromise: ResponsePromise {
    /// Receives the response.
    private let promise: any ResponsePromise

    /// Makes a promise that passes problems on as they are.
    init(_ promise: any ResponsePromise) { self.promise = promise }

    func complete(_ response: Response) { promise.complete(response.status < 300 ? RealmDirectory.keyAccepted : response) }

    func onDisconnect(_ action: @escaping @Sendable () -> Void) { promise.onDisconnect(action) }
}
