// SPDX-License-Identifier: Apache-2.0

package import RealmStorage
internal import Synchronization

/// Whether the file of a realm is still what was opened. Once it is not, it never is again: the file has to be opened again.
///
/// Answers are made from mapped memory, and another program may take the file away under it. So every answer asks `isSound`
/// before it is sent; requests and commits look at the file itself, not too often.
package final class FileHealth: Sendable {
    /// Nil for realms in memory.
    private let witness: FileWitness?
    /// Whether a look has found the file changed; never taken back.
    private let hasFailed = Atomic<Bool>(false)
    /// What the first look has found that found anything.
    private let reason = RankedMutex<StorageError?>(.leaf, nil)
    /// When a request looks again, in nanoseconds.
    private let nextLook = Atomic<UInt64>(0)

    /// Requests look at the file so often, all of a realm together.
    private static let pauseNanoseconds: UInt64 = 20_000_000

    /// Looks through `witness`; without one the realm is in memory and always sound.
    init(_ witness: FileWitness?) { self.witness = witness }

    /// Whether nothing is known against the file. Costs two loads, so every answer can ask.
    package var isSound: Bool { !hasFailed.load(ordering: .acquiring) && !(witness?.loss.isSet ?? false) }

    /// Why the file cannot be served any more; nil as long as nothing is known. Does not look.
    package var failure: StorageError? {
        if isSound { return nil }
        return reason.withLock { $0 } ?? look()
    }

    /// Looks at the file unless that was just done.
    package func lookIfDue(_ now: Instant) -> StorageError? {
        guard isSound else { return failure }
        let next = nextLook.load(ordering: .relaxed)
        guard now.nanoseconds >= next,
            nextLook.compareExchange(
                expected: next, desired: now.nanoseconds + FileHealth.pauseNanoseconds, ordering: .relaxed
            ).exchanged
        else { return nil }
        return look()
    }

    /// Looks at the file: a system call or two.
    @discardableResult
    package func look() -> StorageError? {
        if let known = reason.withLock({ $0 }) { return known }
        do throws(StorageError) {
            try witness?.look()
            return nil
        } catch {
            fail(error)
            return error
        }
    }

    /// Notes what was found elsewhere.
    func fail(_ error: StorageError) {
        reason.withLock { reason in if reason == nil { reason = error } }
        hasFailed.store(true, ordering: .releasing)
    }
}

extension StorageError {
    /// Whether another program has changed the file since it was opened.
    package var isFileChange: Bool {
        if case .refused(.fileChanged) = self { return true }
        return false
    }

    /// Whether opening fails in the same way as long as the file stays as it is.
    var isAboutContents: Bool {
        switch self {
        case .corrupt, .limit: return true
        case .io, .stopped: return false
        case .refused(let refusal):
            switch refusal {
            case .notARealm, .encryptionKeyRequired, .encryptionKeyWrong, .encryptionKeyMalformed, .formatUnsupported,
                .formatNotWritable, .synchronized, .unsound:
                return true
            case .fileNotFound, .unsuitable, .fileInUse, .tooManyVersions, .writesStopped, .fileChanged, .notWritable:
                return false
            }
        }
    }
}
