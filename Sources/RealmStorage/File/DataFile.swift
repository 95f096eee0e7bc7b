// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The plain bytes of a Realm file that is open for writing, whether it is encrypted or not.
///
/// - What is written is readable at once, in the same memory that snapshots read.
/// - Nothing is durable before `sync` returns. In an encrypted file nothing even reaches the file before.
/// - Every offset is one of the plain file.
///
/// `@unchecked Sendable`: used by the thread that holds the write transaction, but for `isUncertain`, which is atomic;
/// snapshots get copies of `plain`.
package final class DataFile: @unchecked Sendable {
    /// The size of a page in bytes.
    package static let pageByteCount = EncryptionLayout.pageByteCount

    /// The file below, encrypted or not.
    let backend: any StorageBackend
    /// The key of an encrypted file.
    private let key: EncryptionKey?
    /// Encrypts changed pages; nil for a plain file.
    private let sealer: PageSealer?
    /// The plain bytes as they are now. Replaced when the file grows; snapshots have copies.
    private(set) var plain: PlainBytes
    /// Decrypted pages that older snapshots still read in, after the range of addresses was exhausted.
    private var olderPages: [WeakReference<LazyPlainPages>] = []
    /// What is free: its pages may be written even if they cannot be read.
    private var isUnused: ((Range<Int>) -> Bool)?
    /// Whether the size has changed since the last sync.
    private var hasGrown = false
    /// The first bytes of the file below, as this object left them; see `MappedHead`.
    private(set) var head: [UInt8]
    /// Whether a failed sync or a failed write has left the file in a state that only a new opening reveals.
    package var isUncertain: Bool { uncertain.load(ordering: .acquiring) }
    /// Set when what is in the file is unknown; never cleared.
    private let uncertain = Atomic(false)

    /// The file that `backend` shows. Throws `.refused` when `key` does not fit it.
    package init(_ backend: any StorageBackend, key: EncryptionKey? = nil) throws(StorageError) {
        self.backend = backend
        self.key = key
        sealer = if let key { try PageSealer(key: key) } else { nil }
        plain = try DataFile.plain(of: backend, key, previous: nil)
        head = try DataFile.mappedHead(of: backend, isEncrypted: key != nil).bytes
    }

    /// The first bytes of the file below as they are.
    func mappedHead() throws(StorageError) -> MappedHead { try DataFile.mappedHead(of: backend, isEncrypted: isEncrypted) }

    /// The first bytes of a file. Throws `.refused` when there are too few.
    private static func mappedHead(of backend: any StorageBackend, isEncrypted: Bool) throws(StorageError) -> MappedHead {
        guard backend.byteCount >= MappedHead.byteCount(isEncrypted: isEncrypted) else {
            throw .refused(.notARealm("a file of \(backend.byteCount) bytes is too small to be a Realm file"))
        }
        return MappedHead(try backend.memory(), isEncrypted: isEncrypted)
    }

    /// The size of the plain file in bytes.
    var plainByteCount: Int { plain.byteCount }
    /// Whether the file below is encrypted.
    var isEncrypted: Bool { key != nil }

    /// The plain bytes of a file, with the decrypted pages of `previous` where they still lie in the same memory.
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

    /// The size of a file whose plain bytes are `byteCount`, in whole pages.
    func physicalByteCount(for byteCount: Int) -> Int {
        let pageCount = (byteCount + DataFile.pageByteCount - 1) / DataFile.pageByteCount
        return isEncrypted ? EncryptionLayout.fileByteCount(plainPageCount: pageCount) : pageCount * DataFile.pageByteCount
    }

    /// Makes sure that the first `byteCount` bytes exist on the disk.
    func extend(to byteCount: Int) throws(StorageError) {
        guard byteCount > plainByteCount else { return }
        try backend.extend(to: physicalByteCount(for: byteCount))
        hasGrown = true
        let older = plain.pages
        plain = try DataFile.plain(of: backend, key, previous: plain)
        if let older, let pages = plain.pages, older !== pages {
            for page in sealer?.changedPages ?? [] { pages.adopt(page: page, from: older) }
            olderPages.append(WeakReference(older))
        }
    }

    // MARK: - Bytes

    /// Says where no version has anything: pages that lie wholly there need not be readable.
    func setDisposable(_ isUnused: @escaping (Range<Int>) -> Bool) { self.isUnused = isUnused }

    /// Writes inside the plain file, where no version that is being read has anything.
    func write(_ bytes: ByteView, at offset: Int) throws(StorageError) {
        precondition(offset >= 0 && bytes.count <= plainByteCount - offset, "a write at \(offset) beyond the file")
        guard let pages = plain.pages, let sealer else {
            try backend.write(bytes, at: offset)
            if offset < head.count { noteHead(bytes, at: offset) }
            return
        }
        guard bytes.count > 0 else { return }
        for page in offset / DataFile.pageByteCount...(offset + bytes.count - 1) / DataFile.pageByteCount {
            // Those who read in older memory must not meet encrypted bytes that are about to change.
            for older in olderPages { try older.value?.readBeforeChange(page: page) }
            try pages.prepare(page: page) { isDisposable(page) }
            sealer.markChanged(page: page)
        }
        pages.patch(bytes, at: offset)
    }

    /// The same for bytes in an array.
    func write(_ bytes: [UInt8], at offset: Int) throws(StorageError) {
        try ByteView.withBytes(of: bytes) { view throws(StorageError) in try write(view, at: offset) }
    }

    /// Notes what was written over the first bytes.
    private func noteHead(_ bytes: ByteView, at offset: Int) {
        for index in 0..<min(bytes.count, head.count - offset) { head[offset + index] = bytes[index] }
    }

    /// Whether nothing that any version has lies in a page.
    private func isDisposable(_ page: Int) -> Bool {
        guard let isUnused else { return false }
        let start = page * DataFile.pageByteCount
        return isUnused(start..<start + DataFile.pageByteCount)
    }

    /// Returns when everything written is durable.
    ///
    /// After an error that leaves the file certain nothing of what was written is in it, where it would matter.
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

    /// Whether the file is what it was before a write failed.
    private var isIntact: Bool {
        guard let pages = plain.pages, let sealer else { return true }
        return (try? sealer.isIntact(pages, isDisposable: isDisposable)) ?? false
    }

    /// Replaces one byte, which was `old`, and returns when that is durable. What was written before has been synced.
    ///
    /// After an error that leaves the file certain the byte is what it was, in the file and for readers. A disk that
    /// refuses a byte does not take a part of it; reading it back shows that it did not take all of it either.
    func publish(_ byte: UInt8, insteadOf old: UInt8, at offset: Int) throws(StorageError) {
        do throws(StorageError) {
            try write([byte], at: offset)
        } catch {
            if (try? plain.view(at: offset, byteCount: 1)[0]) != old { markUncertain() }
            throw error
        }
        do throws(StorageError) {
            try sync()
        } catch {
            if !isUncertain { try takeBack(old, at: offset) }
            throw error
        }
    }

    /// The file never got the new byte: the page with it is the old one.
    private func takeBack(_ old: UInt8, at offset: Int) throws(StorageError) {
        try ByteView.withBytes(of: [old]) { plain.pages?.patch($0, at: offset) }
        forgetChanges()
    }

    /// Notes that what is in the file is unknown from now on.
    private func markUncertain() { uncertain.store(true, ordering: .releasing) }

    /// Gives up what was written since the last sync; for a commit that fails before its version is selected.
    ///
    /// The bytes may stay where they are, because no version has anything there.
    func forgetChanges() { sealer?.forgetChanges() }
}
