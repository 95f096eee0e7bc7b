// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import RealmPlatform
internal import RealmStorage

/// The budget for request bodies in temporary files: the limits of files and bytes, for the whole server and for each client, and
/// the space of the disk that has to stay free.
///
/// A server has one. Files take their part as a `Share`; a lock guards the counts.
package final class SpoolRoom: Sendable {
    /// The part of the budget that a client, or all clients together, use.
    private struct Use {
        var files = 0
        var bytes = 0
    }

    /// The counts under the lock.
    private struct State {
        var total = Use()
        /// The use of each client. A client without files has no entry.
        var clients: [ByteText: Use] = [:]
        /// The number of files or more bytes that were refused since the start of the server.
        var refused = 0
    }

    /// The part of the disk that may be used, and the part that has to stay free.
    package struct Bounds: Sendable, Equatable {
        /// The maximum number of long bodies that may be kept in files at a time, while they are received and processed.
        package var files = 64
        /// The maximum number of bodies of one client that may be kept in files at a time.
        package var filesPerClient = 16
        /// The maximum number of bytes of all long bodies that are kept in files.
        package var bytes = 8 << 30
        /// The maximum number of bytes of the bodies of one client that are kept in files.
        package var bytesPerClient = 4 << 30
        /// The number of bytes that bodies in files leave free on their disk, but at most a sixteenth of the disk.
        package var reservedBytes = 256 << 20

        /// Makes the default bounds.
        package init() {}
    }

    private let bounds: Bounds
    private let state = RankedMutex(.leaf, State())

    /// Makes an unused budget.
    package init(_ bounds: Bounds) { self.bounds = bounds }

    /// The number of temporary files that exist at the moment.
    package var files: Int { state.withLock { $0.total.files } }
    /// The number of bytes of all those files.
    package var bytes: Int { state.withLock { $0.total.bytes } }
    /// The number of files or more bytes that were refused since the start of the server.
    package var refused: Int { state.withLock { $0.refused } }

    /// The part of the budget that one file uses. It is returned when this object is released.
    package final class Share: Sendable {
        fileprivate let room: SpoolRoom
        fileprivate let client: String
        /// The length of the file, and its length when the free space of the disk was last checked; in bytes.
        fileprivate let use = RankedMutex(.leaf, (bytes: 0, checked: 0))

        fileprivate init(_ room: SpoolRoom, _ client: String) {
            self.room = room
            self.client = client
        }

        deinit { room.give(back: use.withLock { $0.bytes }, client) }

        /// Takes a share for one more file of the same client, such as the decompressed form of its body.
        ///
        /// - Throws: `StorageError.io` with `EDQUOT` when there are too many files.
        func sibling() throws(StorageError) -> Share { try room.open(for: client) }

        /// Takes budget for bytes that are about to be appended. After every 4 MiB the free space of the disk is checked, too.
        ///
        /// - Parameters:
        ///   - byteCount: The number of bytes by which the file grows.
        ///   - descriptor: The open file, by which its disk is found.
        /// - Throws: `StorageError.io` with `EDQUOT` when the budget is used up, or `ENOSPC` when
        ///   the disk is too full.
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

        /// Checks that the disk of a file has as much free space as has to be left: the
        /// reserve of the bounds, but at most a sixteenth of the disk.
        ///
        /// - Parameter descriptor: An open file on the disk.
        /// - Throws: `StorageError.io` with `ENOSPC` when there is less. A disk whose free space is
        ///   unknown passes.
        func requireFreeDisk(_ descriptor: Int32) throws(StorageError) {
            guard let disk = System.diskSpace(of: descriptor) else { return }
            let reserve = min(UInt64(room.bounds.reservedBytes), disk.totalBytes / 16)
            guard disk.freeBytes < reserve else { return }
            room.noteRefusal()
            throw .io(operation: "write", errno: ENOSPC)
        }
    }

    /// The number of bytes by which a file grows between two checks of the free space on its disk.
    private static let checkedBytes = 4 << 20

    /// Takes the budget for one more file.
    ///
    /// - Parameter client: The client that the file is charged to; see `ClientName`.
    /// - Returns: The share, which has no bytes yet.
    /// - Throws: `StorageError.io` with `EDQUOT` when there would be too many files.
    package func open(for client: String) throws(StorageError) -> Share {
        try change(client) { [bounds] total, own in
            total.files += 1
            own.files += 1
            return total.files <= bounds.files && own.files <= bounds.filesPerClient
        }
        return Share(self, client)
    }

    /// Takes budget for bytes of a client. Throws `StorageError.io` with `EDQUOT` when there would be too many.
    private func take(_ byteCount: Int, _ client: String) throws(StorageError) {
        try change(client) { [bounds] total, own in
            total.bytes += byteCount
            own.bytes += byteCount
            return total.bytes <= bounds.bytes && own.bytes <= bounds.bytesPerClient
        }
    }

    /// Changes the totals and those of a client together, unless `body` returns that a limit is
    /// exceeded: then neither changes, the refusal is counted, and `EDQUOT` is thrown.
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

    /// Returns the budget of one file and its bytes.
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
    /// Makes the problem for a body that could not be kept in a file: 503 `overloaded` when the
    /// budget is used up, otherwise 507 `insufficient_storage`.
    ///
    /// - Parameter error: The error of the file.
    package init(spooling error: StorageError) {
        guard case .io(_, EDQUOT) = error else {
            let detail = "the body of this request cannot be stored: the disk for temporary files is full or fails"
            self = Problem(.insufficientStorage, detail)
            return
        }
        self = Problem(.overloaded, "too many long request bodies are being processed at the moment; try again later")
        retryAfterSeconds = 5
    }
}
