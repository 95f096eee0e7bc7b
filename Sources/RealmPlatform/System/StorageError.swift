// SPDX-License-Identifier: Apache-2.0

package import SystemPackage

/// The errors of the storage layer.
///
/// The cases differ in what the caller can do. `refused` concerns a whole file and lasts until
/// something about it changes; `corrupt` concerns what was read, and other parts of the file may be
/// sound; `limit` is a fault of the input; `io` may pass; `stopped` states nothing about the file.
package enum StorageError: Error, Sendable, Equatable {
    /// The file cannot be opened, or not written to. The reason decides what can be done.
    case refused(Refusal)
    /// The file is damaged: `reason` states what is wrong with the node at `ref`.
    case corrupt(ref: Ref, reason: String)
    /// A value, a node or a transaction does not fit the format, mostly because it is too large.
    case limit(String)
    /// A system call failed: `operation` is its name, `errno` the system's error number.
    case io(operation: String, errno: Int32)
    /// The work was stopped before its end, although nothing is wrong with the file.
    case stopped(WorkStop)

    /// The reasons for which a file is rejected; each has its own code in the HTTP interface.
    package enum Refusal: Sendable, Equatable {
        /// There is no file at the path.
        case fileNotFound
        /// The file is not a regular file, there is no permission, or it is on a network mount where that matters.
        case unsuitable(String)
        /// The bytes are not those of a Realm file. The text states what is wrong.
        case notARealm(String)
        /// The file looks encrypted, and no key was given.
        case encryptionKeyRequired(String)
        /// The key does not fit the file, or the file is not encrypted.
        case encryptionKeyWrong(String)
        /// The encryption key does not have 64 bytes, or its text is not one of a key.
        case encryptionKeyMalformed(String)
        /// The file has a format that is not read. `reason` states what can be done.
        case formatUnsupported(found: Int, reason: String)
        /// Another program has the file open in a way that excludes this one.
        case fileInUse(String)
        /// The file has a format that is read, but not written.
        case formatNotWritable(found: Int)
        /// The file belongs to a synchronized realm: writing to it would lose changes.
        case synchronized
        /// The options of the realm name a class or property that the file does not have, or state a value of another
        /// type. The text says which.
        case unfittingOptions(String)
        /// So many old versions are in use that no new one is made.
        case tooManyVersions(Int)
        /// A write failed in a way that leaves the file uncertain until it is opened again; reading continues.
        case writesStopped
        /// The file can be read, but a write might destroy something in use.
        case unsound(String)
        /// Another program has removed, replaced, shortened or written to the file since it was opened.
        case fileChanged(String)
        /// Another write transaction is running, or the file was closed.
        case notWritable(String)
        /// Another node has become the owner of the realm: nothing was written, and nothing will be until the realm was
        /// opened again. The text is the name of that node.
        case notOwner(String)
        /// It is unknown whether the log of the realm has stored a commit, and will be known when the realm was opened again.
        case outcomeUnknown
        /// The log of the realm could not be reached in time; the commit did not happen, and never will.
        case logUnavailable(String)
    }
}

/// Properties of errors by which callers decide what to do.
extension StorageError {
    /// The error of a failed system call; nil for other errors.
    package var errno: Errno? {
        guard case .io(_, let number) = self else { return nil }
        return Errno(rawValue: number)
    }

    /// Whether the log of a realm may have what its file does not have, so that nothing may be written to the file until it was
    /// brought up to the log.
    package var leavesFileBehind: Bool {
        switch self {
        case .refused(.notOwner), .refused(.outcomeUnknown): return true
        default: return false
        }
    }

    /// Whether a key is missing or wrong.
    package var isAboutKey: Bool {
        switch self {
        case .refused(.encryptionKeyRequired), .refused(.encryptionKeyWrong): return true
        default: return false
        }
    }

    /// Whether the error means that a file could not grow.
    package var isFullDisk: Bool {
        guard let errno else { return false }
        return [.noSpace, .diskQuotaExceeded, .fileTooLarge].contains(errno)
    }
}

/// Texts of errors for operators and logs.
extension StorageError: CustomStringConvertible {
    /// A sentence about the error for operators. It contains no values of users.
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

/// Texts of reasons to stop, for operators and logs.
extension WorkStop {
    /// The reason for which the work was stopped, in words.
    package var text: String {
        switch self {
        case .expired: return "the request took longer than the server allows"
        case .cancelled: return "no client waits for the response any more"
        case .handOver: return "the work has to continue on another thread"
        case .tooManyBytes(let limit): return "more than \(limit) bytes"
        case .noRoom(let limit, _): return "other responses use all of the \(limit) bytes of memory for responses"
        case .tooManyValues(let limit): return "more than \(limit) values to sort, compare, find or group rows"
        case .tooManyGroups(let limit): return "more than \(limit) groups"
        case .tooManyObjects(let limit): return "links lead to more than \(limit) objects"
        }
    }
}

/// Texts of rejections, for operators; the HTTP layer has codes of its own for the cases.
extension StorageError.Refusal {
    /// The reason for the rejection in words.
    package var text: String {
        switch self {
        case .fileNotFound: return "no such file"
        case .unsuitable(let reason), .notARealm(let reason), .encryptionKeyRequired(let reason),
            .encryptionKeyWrong(let reason), .encryptionKeyMalformed(let reason), .fileInUse(let reason),
            .fileChanged(let reason), .unfittingOptions(let reason):
            return reason
        case .unsound(let reason): return "the file is damaged, and writing to it might harm what is sound: \(reason)"
        case .formatUnsupported(_, let reason), .notWritable(let reason): return reason
        case .formatNotWritable(let found): return "file format \(found) can be read, but only format 24 is written"
        case .synchronized:
            return "the file belongs to a synchronized realm, which is not written to; a copy of it is a local realm that "
                + "can be written to: mode 'copy', or `realm-rest copy`"
        case .tooManyVersions(let count): return "\(count) old versions are being read"
        case .notOwner(""): return "the realm belongs to another node now"
        case .notOwner(let node): return "the realm belongs to the node '\(node)' now"
        case .outcomeUnknown: return "it is unknown whether the log has stored the commit"
        case .logUnavailable(let reason): return "the log of commits cannot be reached: \(reason)"
        case .writesStopped: return "an earlier write failed; the file must be opened again before the next one"
        }
    }
}
