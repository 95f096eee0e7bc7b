// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform
internal import Synchronization

/// The plain bytes of a Realm file that is open for writing, whether it is encrypted or not.
///
/// - Written bytes are readable at once, in the same memory that snapshots read.
/// - Nothing is durable before `sync` returns. In an encrypted file nothing even reaches the file
///   before.
/// - Every offset is one of the plain file.
///
/// `@unchecked Sendable`: used by the thread that holds the write transaction, except for
/// `isUncertain`, which is atomic; snapshots get copies of `plain`.
package final class DataFile: @unchecked Sendable {
    /// The size in bytes of a page, the unit of encryption and of the file's growth.
    package static let pageByteCount = EncryptionLayout.pageByteCount

    /// The raw file below the plain bytes, which is encrypted if there is a key.
    let backend: any StorageBackend
    /// The key of an encrypted file; nil for a plain one.
    let key: EncryptionKey?
    /// Encrypts changed pages; nil for a plain file.
    private let sealer: PageSealer?
    /// The plain bytes in their present state. The value is replaced when the file grows; snapshots have copies.
    private(set) var plain: PlainBytes
    /// The decrypted pages of former ranges of addresses, which older snapshots may still read.
    private var olderPages: [OlderPages] = []
    /// Returns whether no version uses some bytes; pages that lie wholly there may be written even if they cannot be read.
    private var isUnused: ((Range<Int>) -> Bool)?
    /// Whether the size has changed since the last sync.
    private var hasGrown = false
    /// Keeps a copy of written bytes; nil when none is needed.
    private var recorder: ExtentRecorder?
    /// The first bytes of the raw file as this object left them; see `MappedHead`.
    private(set) var head: [UInt8]
    /// Whether a failed sync or a failed write has left the file in a state that only a new opening reveals.
    package var isUncertain: Bool { doubts.load(ordering: .acquiring) != 0 }
    /// Why nothing may be written, as bits of `Doubt`.
    private let doubts = Atomic<UInt8>(0)

    /// The reasons for which nothing may be written.
    private enum Doubt {
        /// The contents of the file are unknown; this is never cleared.
        static let contents: UInt8 = 1
        /// The log of the file may have what the file has not.
        static let log: UInt8 = 2
    }

    /// Opens the file that `backend` gives access to.
    ///
    /// - Parameters:
    ///   - backend: The raw file.
    ///   - skip: The number of counters to skip where a page is written; see `PageSealer`.
    /// - Throws: `.refused` when the key does not fit or the file is too small; `.io` when it
    ///   cannot be mapped.
    package init(
        _ backend: any StorageBackend, key: EncryptionKey? = nil, skippingCounters skip: UInt32 = 0
    ) throws(StorageError) {
        self.backend = backend
        self.key = key
        sealer = if let key { try PageSealer(key: key, skipping: skip) } else { nil }
        plain = try DataFile.plain(of: backend, key, previous: nil)
        head = try DataFile.mappedHead(of: backend, isEncrypted: key != nil).bytes
    }

    /// Returns an access to the first bytes of the raw file as they are at any moment.
    func mappedHead() throws(StorageError) -> MappedHead { try DataFile.mappedHead(of: backend, isEncrypted: isEncrypted) }

    /// Returns an access to the first bytes of a file; throws `.refused` when there are too few.
    private static func mappedHead(of backend: any StorageBackend, isEncrypted: Bool) throws(StorageError) -> MappedHead {
        guard backend.byteCount >= MappedHead.byteCount(isEncrypted: isEncrypted) else {
            throw .refused(.notARealm("a file of \(backend.byteCount) bytes is too small to be a Realm file"))
        }
        return MappedHead(try backend.memory(), isEncrypted: isEncrypted)
    }

    /// The size of the plain file in bytes.
    var plainByteCount: Int { plain.byteCount }
    /// Whether the raw file is encrypted.
    var isEncrypted: Bool { key != nil }

    /// Returns the plain bytes of a file, with the decrypted pages of `previous` where these are in the same memory.
    private static func plain(
        of backend: any StorageBackend, _ key: EncryptionKey?, previous: PlainBytes?
    ) throws(StorageError) -> PlainBytes {
        let memory = try backend.memory()
        guard let key else { return PlainBytes(memory: memory, pages: nil, byteCount: backend.byteCount) }
        let pages: LazyPlainPages
        if let old = previous?.pages, previous?.isIn(memory) == true {
            pages = old
            try old.grow(toPageCount: EncryptionLayout.plainPageCount(fileByteCount: backend.byteCount))
        } else {
            pages = try LazyPlainPages(memory: memory, fileByteCount: backend.byteCount, key: key)
        }
        return PlainBytes(memory: memory, pages: pages, byteCount: pages.plainByteCount)
    }

    // MARK: - Size

    /// Returns the size in bytes of a raw file whose plain bytes are `byteCount`, in whole pages.
    func physicalByteCount(for byteCount: Int) -> Int {
        let pageCount = (byteCount + DataFile.pageByteCount - 1) / DataFile.pageByteCount
        return isEncrypted ? EncryptionLayout.fileByteCount(plainPageCount: pageCount) : pageCount * DataFile.pageByteCount
    }

    /// Makes sure that the first `byteCount` plain bytes exist on the disk. The file never gets shorter here.
    ///
    /// - Throws: `.io`, for example when the disk is full.
    func extend(to byteCount: Int) throws(StorageError) {
        guard byteCount > plainByteCount else { return }
        try backend.extend(to: physicalByteCount(for: byteCount))
        hasGrown = true
        let older = plain.pages
        plain = try DataFile.plain(of: backend, key, previous: plain)
        if let older, let pages = plain.pages, older !== pages {
            for page in sealer?.changedPages ?? [] { pages.adopt(page: page, from: older) }
            olderPages.append(OlderPages(value: older))
        }
    }

    // MARK: - Recording

    /// Keeps a copy of all plain bytes that are written from here on.
    ///
    /// - Parameter limit: The greatest number of bytes that is kept.
    func beginRecording(limit: Int) { recorder = ExtentRecorder(limit: limit) }

    /// Ends the recording.
    ///
    /// - Returns: The written extents; nil when they exceeded the limit, or nothing was recorded.
    func endRecording() -> [CommitRecord.Extent]? {
        defer { recorder = nil }
        return recorder?.extents
    }

    /// Keeps a copy of what will be written later, as if it had been written now.
    func record(_ bytes: [UInt8], at offset: Int) {
        ByteView.withBytes(of: bytes) { recorder?.add($0, at: offset) }
    }

    // MARK: - Bytes

    /// Sets the test for bytes that no version uses: pages that lie wholly there need not be readable to be written.
    func setDisposable(_ isUnused: @escaping (Range<Int>) -> Bool) { self.isUnused = isUnused }

    /// Writes inside the plain file, where no version in use has anything.
    ///
    /// - Parameters:
    ///   - bytes: The plain bytes.
    ///   - offset: Their place in the plain file, which must be long enough.
    /// - Throws: `.io` when the disk rejects the write, `.corrupt` when a page that is partly kept
    ///   cannot be decrypted.
    func write(_ bytes: ByteView, at offset: Int) throws(StorageError) {
        precondition(offset >= 0 && bytes.count <= plainByteCount - offset, "a write at \(offset) beyond the file")
        guard let pages = plain.pages, let sealer else {
            try backend.write(bytes, at: offset)
            if offset < head.count { noteHead(bytes, at: offset) }
            recorder?.add(bytes, at: offset)
            return
        }
        guard bytes.count > 0 else { return }
        for page in offset / DataFile.pageByteCount...(offset + bytes.count - 1) / DataFile.pageByteCount {
            // Readers of older memory must not decrypt bytes that are about to change.
            for older in olderPages { try older.value?.readBeforeChange(page: page) }
            try pages.prepare(page: page) { isDisposable(page) }
            sealer.markChanged(page: page)
        }
        pages.patch(bytes, at: offset)
        recorder?.add(bytes, at: offset)
    }

    /// Writes the bytes of an array, as the function for byte views does.
    func write(_ bytes: [UInt8], at offset: Int) throws(StorageError) {
        try ByteView.withBytes(of: bytes) { view throws(StorageError) in try write(view, at: offset) }
    }

    /// Copies what was written over the first bytes of the file to `head`.
    private func noteHead(_ bytes: ByteView, at offset: Int) {
        for index in 0..<min(bytes.count, head.count - offset) { head[offset + index] = bytes[index] }
    }

    /// Returns whether no version uses any byte of a page.
    private func isDisposable(_ page: Int) -> Bool {
        guard let isUnused else { return false }
        let start = page * DataFile.pageByteCount
        return isUnused(start..<start + DataFile.pageByteCount)
    }

    /// Returns when everything that was written is durable.
    ///
    /// After an error that leaves the file certain, none of the bytes that were written is in the
    /// file at a place that any version uses.
    ///
    /// - Throws: `.io`; after a failed sync the file is uncertain.
    func sync() throws(StorageError) {
        let scope: SyncScope = hasGrown ? .full : .data
        var stage = PageSealer.Stage.syncing
        do throws(StorageError) {
            if let pages = plain.pages, let sealer, !sealer.changedPages.isEmpty {
                try sealer.flush(pages, to: backend, scope, stage: &stage)
                head = sealer.firstEntry ?? head
            } else {
                try backend.sync(scope)
            }
        } catch {
            if stage == .syncing || !isIntact { markUncertain() }
            throw error
        }
        hasGrown = false
        olderPages.removeAll { $0.value == nil }
    }

    /// Whether the file is the same as before a write failed.
    private var isIntact: Bool {
        guard let pages = plain.pages, let sealer else { return true }
        return (try? sealer.isIntact(pages, isDisposable: isDisposable)) ?? false
    }

    /// Replaces one byte, which was `old`, and returns when that is durable. Everything written before must have been synced.
    ///
    /// After an error that leaves the file certain, the byte is `old`, in the file and for readers. A disk that rejects a byte
    /// does not write a part of it; reading it back shows that it did not write all of it either.
    ///
    /// - Throws: `.io`; `isUncertain` states afterwards whether the outcome is known.
    func publish(_ byte: UInt8, insteadOf old: UInt8, at offset: Int) throws(StorageError) {
        try publish([byte], insteadOf: [old], at: offset)
    }

    /// Replaces some bytes of one page, as the function for one byte does.
    private func publish(_ bytes: [UInt8], insteadOf old: [UInt8], at offset: Int) throws(StorageError) {
        try replace(old, at: offset, by: bytes)
        do throws(StorageError) {
            try sync()
        } catch {
            if !isUncertain { takeBack(old, at: offset) }
            throw error
        }
    }

    /// Returns the plain header as this object left it.
    func header() throws(StorageError) -> [UInt8] {
        isEncrypted ? try plain.view(at: 0, byteCount: FileHeader.byteCount).array : head
    }

    /// Replaces the header, after everything that was written before was synced. The disk gets it as a whole or not at all.
    ///
    /// The header of a plain file is a part of one sector, and is not synced. That of an encrypted file is a part of page 0, which
    /// reaches the file with a sync only.
    ///
    /// - Throws: `.io`; `isUncertain` states afterwards whether the outcome is known.
    func replaceHeader(by new: [UInt8]) throws(StorageError) {
        if isEncrypted { return try publish(new, insteadOf: header(), at: 0) }
        try replace(head, at: 0, by: new)
    }

    /// Replaces some bytes, and marks the file as uncertain when that fails and may nevertheless have been done.
    private func replace(_ old: [UInt8], at offset: Int, by new: [UInt8]) throws(StorageError) {
        do throws(StorageError) {
            try write(new, at: offset)
        } catch {
            if (try? plain.view(at: offset, byteCount: old.count).array) != old { markUncertain() }
            throw error
        }
    }

    /// Restores old bytes in memory, because the file never got the new ones.
    private func takeBack(_ old: [UInt8], at offset: Int) {
        ByteView.withBytes(of: old) { plain.pages?.patch($0, at: offset) }
        forgetChanges()
    }

    /// Marks the contents of the file as unknown from now on.
    func markUncertain() { doubts.bitwiseOr(Doubt.contents, ordering: .releasing) }

    /// Notes that the log of the file may have what the file has not.
    func markBehind() { doubts.bitwiseOr(Doubt.log, ordering: .releasing) }

    /// Notes that the file is going to be brought up to its log from where it is.
    ///
    /// - Returns: Whether that is possible, because the contents of the file are known.
    func forgetBehind() -> Bool {
        doubts.bitwiseAnd(~Doubt.log, ordering: .acquiringAndReleasing).newValue == 0
    }

    /// Drops what was written since the last sync; for a commit that fails before its version is selected.
    ///
    /// In a plain file the bytes stay where they are, which does no harm because no version uses their place.
    func forgetChanges() { sealer?.forgetChanges() }
}

/// Pages that older snapshots may still read: they are updated as long as a reader holds them, and dropped after that.
private struct OlderPages { weak let value: LazyPlainPages? }
