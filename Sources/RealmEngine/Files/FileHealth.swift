// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform
internal import RealmStorage
internal import Synchronization

/// States whether the file of a realm is still the one that was opened. If it is not, it has to be opened again.
///
/// Responses are made from mapped memory, and another program may remove the file under it. Every response therefore checks
/// `isSound` before it is sent; requests and commits check the file itself, at intervals. All threads may use this.
package final class FileHealth: Sendable {
    /// Compares the file with its last known state; nil for realms in memory.
    private let witness: FileWitness?
    /// Whether a check has found the file changed; never reset.
    private let hasFailed = Atomic<Bool>(false)
    /// The error of the first check that failed.
    private let reason = RankedMutex<StorageError?>(.leaf, nil)
    /// The instant in nanoseconds from which a request checks the file again.
    private let nextLook = Atomic<UInt64>(0)

    /// The time in nanoseconds between two checks by requests, for all requests of a realm together.
    private static let pauseNanoseconds: UInt64 = 20_000_000

    /// Makes the health of a file; without a witness the realm is in memory and always sound.
    init(_ witness: FileWitness?) { self.witness = witness }

    /// The identity of the file; nil in memory.
    var identity: System.FileIdentity? { witness?.identity }

    /// Whether no problem of the file is known. It costs two atomic loads, so every response can check it.
    package var isSound: Bool { !hasFailed.load(ordering: .acquiring) && !(witness?.loss.isSet ?? false) }

    /// Why the file cannot be served any more; nil as long as no problem is known.
    package var failure: StorageError? {
        if isSound { return nil }
        return reason.withLock { $0 } ?? checkFile()
    }

    /// Checks the file unless that was done within the last 20 milliseconds.
    ///
    /// - Parameter now: The present instant.
    /// - Returns: The problem; nil when none is known.
    package func checkFileIfDue(_ now: Instant) -> StorageError? {
        guard isSound else { return failure }
        let next = nextLook.load(ordering: .relaxed)
        guard now.nanoseconds >= next,
            nextLook.compareExchange(
                expected: next, desired: now.nanoseconds + FileHealth.pauseNanoseconds, ordering: .relaxed
            ).exchanged
        else { return nil }
        return checkFile()
    }

    /// Checks the file with one or two system calls.
    ///
    /// - Returns: The problem; nil when there is none.
    @discardableResult
    package func checkFile() -> StorageError? {
        if let known = reason.withLock({ $0 }) { return known }
        do throws(StorageError) {
            try witness?.checkFile()
            return nil
        } catch {
            fail(error)
            return error
        }
    }

    /// Records a problem that was found elsewhere.
    func fail(_ error: StorageError) {
        reason.withLock { reason in if reason == nil { reason = error } }
        hasFailed.store(true, ordering: .releasing)
    }
}

extension StorageError {
    /// Whether the error states that another program has changed the file since it was opened.
    package var isFileChange: Bool {
        if case .refused(.fileChanged) = self { return true }
        return false
    }

    /// Whether a file was found to be damaged when it was audited.
    var isUnsound: Bool {
        if case .refused(.unsound) = self { return true }
        return false
    }

    /// Whether opening fails in the same way as long as the file remains as it is.
    package var isAboutContents: Bool {
        switch self {
        case .corrupt, .limit: return true
        case .io, .stopped: return false
        case .refused(let refusal):
            switch refusal {
            case .notARealm, .encryptionKeyRequired, .encryptionKeyWrong, .encryptionKeyMalformed, .formatUnsupported,
                .formatNotWritable, .synchronized, .unsound, .unfittingOptions:
                return true
            case .fileNotFound, .unsuitable, .fileInUse, .tooManyVersions, .writesStopped, .fileChanged, .notWritable,
                .notOwner, .outcomeUnknown, .logUnavailable:
                return false
            }
        }
    }
}
