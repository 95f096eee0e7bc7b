// SPDX-License-Identifier: Apache-2.0

package import SystemPackage

/// Everything that can go wrong below the query layer.
///
/// The cases differ in what the caller can do. `refused` concerns a whole file and lasts until something about it changes;
/// `corrupt` concerns what was read and spares the rest of the file; `limit` is a fault of the input; `io` may pass; `stopped`
/// says nothing about the file at all.
package enum StorageError: Error, Sendable, Equatable {
    /// The file cannot be opened at all; nothing in it was looked at beyond its header.
    case refused(Refusal)
    /// The file is damaged: what was found at `ref` does not fit `reason`.
    case corrupt(ref: Ref, reason: String)
    /// What should be stored does not fit the format: a value, a node or a transaction that is too large.
    case limit(String)
    /// A system call failed.
    case io(operation: String, errno: Int32)
    /// The work was given up: nothing is wrong with the file.
    case stopped(WorkStop)

    /// Why a file was refused; each case has its own code in the HTTP interface.
    package enum Refusal: Sendable, Equatable {
        /// There is nothing at the path.
        case fileNotFound
        /// Not a regular file, no permission, or a network mount where that matters.
        case unsuitable(String)
        /// The bytes are not those of a Realm file. The text says what is wrong.
        case notARealm(String)
        /// The file looks encrypted, and no key was given.
        case encryptionKeyRequired(String)
        /// The key does not fit the file, or the file is not encrypted.
        case encryptionKeyWrong(String)
        /// The key itself is not 64 bytes.
        case encryptionKeyMalformed(String)
        /// The file has a format that is not read. `reason` says what can be done.
        case formatUnsupported(found: Int, reason: String)
        /// Another program has the file open in a way that excludes this one.
        case fileInUse(String)
        /// The format is read, but not written.
        case formatNotWritable(found: Int)
        /// The file belongs to a synchronised realm: writing to it would lose changes.
        case synchronized
        /// So many old versions are being read that no new one is made.
        case tooManyVersions(Int)
        /// A write failed in a way that only opening the file again can settle; reading goes on.
        case writesStopped
        /// The file can be read, but a write might land on something in use.
        case unsound(String)
        /// Another program has removed, replaced, shortened or written to the file since it was opened.
        case fileChanged(String)
        /// Another write transaction is running, or the file was closed.
        case notWritable(String)
    }
}

/// Questions that decide what to do about an error.
extension StorageError {
    /// What a system call failed with; nil for other errors.
    package var errno: Errno? {
        guard case .io(_, let number) = self else { return nil }
        return Errno(rawValue: number)
    }

    /// Whether a file could not grow.
    package var isFullDisk: Bool {
        guard let errno else { return false }
        return [.noSpace, .diskQuotaExceeded, .fileTooLarge].contains(errno)
    }
}

/// Texts for operators and logs.
extension StorageError: CustomStringConvertible {
    /// A sentence about the error for operators. It holds no values of users.
    package var description: String {
        switch self {
        case .refused(let refusal): return refusal.text
        case .corrupt(let ref, let reason):
            return ref.isNone ? "corrupt file: \(reason)" : "corrupt file: node \(ref): \(reason)"
        case .limit(let reason): return reason
        case .io(let operation, let code): return "\(operation) failed: \(Errno(rawValue: code))"
        case .stopped(let stop): return stop.text
        }
    }
}

/// Texts for operators and logs.
extension WorkStop {
    /// Why, in words.
    package var text: String {
        switch self {
        case .expired: return "the request took longer than the server allows"
        case .cancelled: return "nobody waits for the answer any more"
        case .handOver: return "the work has to go on elsewhere"
        case .tooManyBytes(let limit): return "more than \(limit) bytes"
        case .noRoom(let limit, _): return "other answers take all of the \(limit) bytes that there are for them"
        case .tooManyValues(let limit): return "more than \(limit) values to sort or to tell apart"
        case .tooManyObjects(let limit): return "links lead to more than \(limit) objects"
        }
    }
}

/// Texts for operators; the HTTP layer has codes of its own for the cases.
extension StorageError.Refusal {
    /// Why the file was refused, in words.
    package var text: String {
        switch self {
        case .fileNotFound: return "no such file"
        case .unsuitable(let reason), .notARealm(let reason), .encryptionKeyRequired(let reason),
            .encryptionKeyWrong(let reason), .encryptionKeyMalformed(let reason), .fileInUse(let reason),
            .fileChanged(let reason):
            return reason
        case .unsound(let reason): return "the file is damaged, and writing to it might harm what is sound: \(reason)"
        case .formatUnsupported(_, let reason), .notWritable(let reason): return reason
        case .formatNotWritable(let found): return "file format \(found) can be read, but only format 24 is written"
        case .synchronized: return "the file belongs to a synchronised realm, which is not written to"
        case .tooManyVersions(let count): return "\(count) old versions are being read"
        case .writesStopped: return "an earlier write failed; the file has to be opened again before the next one"
        }
    }
}
