// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import RealmStorage
internal import Synchronization

/// The room for bodies in files: how many files and bytes there are, in all and by client, and what stays free on the disk.
package final class SpoolRoom: Sendable {
    private struct Use {
        var files = 0
        var bytes = 0
    }

    private struct State {
        var total = Use()
        var clients: [String: Use] = [:]
        var refused = 0
    }

    private let limits: Limits
    private let state = RankedMutex(.leaf, State())

    /// Room for as many files and bytes as the limits say.
    package init(_ limits: Limits) { self.limits = limits }

    /// How many files there are at the moment.
    package var files: Int { state.withLock { $0.total.files } }
    /// How many bytes they take together.
    package var bytes: Int { state.withLock { $0.total.bytes } }
    /// How many files or bytes were refused since the start.
    package var refused: Int { state.withLock { $0.refused } }

    /// A file's part of the room; given back when nobody has it any more.
    package final class Share: Sendable {
        fileprivate let room: SpoolRoom
        fileprivate let client: String
        fileprivate let use = RankedMutex(.leaf, (bytes: 0, checked: 0))

        fileprivate init(_ room: SpoolRoom, _ client: String) {
            self.room = room
            self.client = client
        }

        deinit { room.give(back: use.withLock { $0.bytes }, client) }

        /// A share for one more file of the same client, such as the unpacked form of its body.
        func sibling() throws(StorageError) -> Share { try room.open(for: client) }

        /// The file becomes longer.
        func grow(by byteCount: Int, _ descriptor: Int32) throws(StorageError) {
            try room.take(byteCount, client)
            let isDue = use.withLock { use in
                use.bytes += byteCount
                guard use.bytes - use.checked > SpoolRoom.checkedBytes else { return false }
                use.checked = use.bytes
                return true
            }
            if isDue { try requireFreeDisk(descriptor) }
        }

        /// Throws when the disk of a file has less free space than is to be left on it.
        func requireFreeDisk(_ descriptor: Int32) throws(StorageError) {
            guard let disk = System.diskSpace(of: descriptor) else { return }
            let reserve = min(UInt64(room.limits.spoolReserveBytes), disk.totalBytes / 16)
            guard disk.freeBytes < reserve else { return }
            room.noteRefusal()
            throw .io(operation: "write", errno: ENOSPC)
        }
    }

    /// The disk is looked at each time a file grew so much.
    private static let checkedBytes = 4 << 20

    /// The room for one more file. Throws EDQUOT where there are, or would be, too many.
    package func open(for client: String) throws(StorageError) -> Share {
        try change(client) { [limits] total, own in
            total.files += 1
            own.files += 1
            return total.files <= limits.spoolFiles && own.files <= limits.spoolFilesPerPrincipal
        }
        return Share(self, client)
    }

    private func take(_ byteCount: Int, _ client: String) throws(StorageError) {
        try change(client) { [limits] total, own in
            total.bytes += byteCount
            own.bytes += byteCount
            return total.bytes <= limits.spoolBytes && own.bytes <= limits.spoolBytesPerPrincipal
        }
    }

    private func change(_ client: String, _ body: (inout Use, inout Use) -> Bool) throws(StorageError) {
        let isInBounds = state.withLock { state -> Bool in
            var (total, own) = (state.total, state.clients[client] ?? Use())
            guard body(&total, &own) else {
                state.refused += 1
                return false
            }
            state.total = total
            state.clients[client] = own
            return true
        }
        guard isInBounds else { throw .io(operation: "write", errno: EDQUOT) }
    }

    private func give(back byteCount: Int, _ client: String) {
        state.withLock { state in
            state.total.files -= 1
            state.total.bytes -= byteCount
            guard var own = state.clients.removeValue(forKey: client) else { return }
            own.files -= 1
            own.bytes -= byteCount
            if own.files > 0 { state.clients[client] = own }
        }
    }

    private func noteRefusal() { state.withLock { $0.refused += 1 } }
}

extension Problem {
    /// A body that has no room in a file.
    init(spooling error: StorageError) {
        guard case .io(_, EDQUOT) = error else {
            self = Problem(.insufficientStorage, "there is no room for the body of this request")
            return
        }
        self = Problem(.overloaded, "too many long bodies are kept at the moment; come again when others are done")
        retryAfterSeconds = 5
    }
}
