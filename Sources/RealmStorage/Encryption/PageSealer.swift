// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// Writes changed plain pages to an encrypted file so that a crash at any point loses none of them.
///
/// - The entries of all changed pages are written and synced before the first page is. Until its
///   page follows, an entry still holds, as its previous stamp, the one that fits the page on the
///   disk.
/// - No page is written twice between two syncs: the previous stamp always describes what is
///   durable.
/// - The stamp that is kept is the one that *fits* the old page, not the one that is first in the
///   entry. They differ after a write that was interrupted.
///
/// Source: docs/format.md, "Encryption".
///
/// `@unchecked Sendable`: used by the one thread that holds the write transaction.
final class PageSealer: @unchecked Sendable {
    /// Pages whose newest entry is known to fit them, because this object wrote both.
    private var fitting: Set<Int> = []
    /// The pages whose contents differ from those in the file.
    private var dirty: Set<Int> = []
    /// The pages whose entry or bytes were written since the last sync, with the stamp of their durable bytes.
    private var attempted: [(page: Int, durable: PageEntry.Stamp)] = []
    /// The cipher, used by the writing thread only.
    private let cipher: PageCipher

    /// The maximum number of encrypted pages in memory.
    private static let batchCount = 2048

    /// The number of counters to skip where a page is written for the first time.
    private let skip: UInt32

    /// Makes a sealer that encrypts with `key`.
    ///
    /// - Parameters:
    ///   - skip: The number of counters to skip where this sealer writes a page for the first time. With a random number, the
    ///     pages of several copies made from scratch are encrypted with different vectors.
    init(key: EncryptionKey, skipping skip: UInt32 = 0) throws(StorageError) {
        cipher = try PageCipher(key)
        self.skip = skip
    }

    /// The entry of page 0 that was written last; nil before the first.
    private(set) var firstEntry: [UInt8]?

    /// The pages with changes that are not in the file yet.
    var changedPages: Set<Int> { dirty }

    /// Marks a page as different from what is in the file, so that the next flush writes it.
    func markChanged(page: Int) { dirty.insert(page) }

    /// Drops all marks; for changes that were taken back before any of them was written.
    func forgetChanges() { dirty.removeAll() }

    /// Writes all changed pages, and returns when they are durable.
    ///
    /// - Parameters:
    ///   - backend: The raw file.
    ///   - scope: Whether the size of the file has to be synced too.
    ///   - stage: The operation in progress, which the caller needs after an error: after one in a
    ///     write, `isIntact` returns whether the file is unchanged; after one in a sync that is
    ///     unknown.
    /// - Throws: `.io` when the disk rejects a write or a sync.
    func flush(
        _ pages: LazyPlainPages, to backend: any StorageBackend, _ scope: SyncScope, stage: inout Stage
    ) throws(StorageError) {
        let changed = dirty.sorted()
        attempted = []
        stage = .writing
        var first = 0
        while first < changed.count {
            let batch = Array(changed[first..<min(first + PageSealer.batchCount, changed.count)])
            let sealed = try seal(batch, pages)
            fitting.subtract(batch)
            attempted += sealed.durable
            try write(sealed.entries, of: batch, EncryptionLayout.entryByteCount, EncryptionLayout.entryOffset, backend)
            try sync(backend, scope, &stage)
            attempted = sealed.durable
            try write(sealed.bytes, of: batch, EncryptionLayout.pageByteCount, EncryptionLayout.pageOffset, backend)
            first += batch.count
        }
        try sync(backend, scope, &stage)
        fitting.formUnion(changed)
        dirty.removeAll(keepingCapacity: true)
    }

    /// The two operations of a flush that can fail: writing and syncing.
    enum Stage { case writing, syncing }

    /// Syncs the raw file. The stage is set before, because the outcome of a failed sync is unknown.
    private func sync(_ backend: any StorageBackend, _ scope: SyncScope, _ stage: inout Stage) throws(StorageError) {
        stage = .syncing
        try backend.sync(scope)
        stage = .writing
    }

    /// Returns whether every page that the last flush reached, which failed in a write, is the one
    /// that is durable: its bytes were not touched, and its entry has the stamp that fits them.
    ///
    /// A page that is complete but new does not count. It may never reach the disk, and the next
    /// entry would have no stamp for the old one.
    ///
    /// - Parameters:
    ///   - isDisposable: Returns whether no version uses a page, so that its state does not matter.
    func isIntact(_ pages: LazyPlainPages, isDisposable: (Int) -> Bool) throws(StorageError) -> Bool {
        for (page, durable) in attempted where !isDisposable(page) {
            guard try pages.fittingStamp(ofPage: page, cipher) == durable else { return false }
        }
        return true
    }

    /// The entries and encrypted bytes of a batch, and for each page the stamp of its durable bytes.
    private typealias Sealed = (entries: [UInt8], bytes: [UInt8], durable: [(page: Int, durable: PageEntry.Stamp)])

    /// Encrypts a batch of pages in memory, without writing anything.
    private func seal(_ batch: [Int], _ pages: LazyPlainPages) throws(StorageError) -> Sealed {
        let size = EncryptionLayout.pageByteCount
        var entries: [UInt8] = []
        entries.reserveCapacity(batch.count * EncryptionLayout.entryByteCount)
        var bytes = [UInt8](repeating: 0, count: batch.count * size)
        var durable: [(page: Int, durable: PageEntry.Stamp)] = []
        durable.reserveCapacity(batch.count)
        for (index, page) in batch.enumerated() {
            let old = pages.currentEntry(ofPage: page)
            let previous = fitting.contains(page) ? old.newest : try pages.fittingStamp(ofPage: page, cipher)
            let last = fitting.contains(page) ? old.newest.counter : old.newest.counter &+ skip
            let newest = try seal(
                page, after: last, previous, from: pages.plain(page: page), to: &bytes, at: index * size)
            let entry = PageEntry(newest: newest, previous: previous).bytes
            if page == 0 { firstEntry = entry }
            entries += entry
            durable.append((page: page, durable: previous))
        }
        return (entries, bytes, durable)
    }

    /// Encrypts one page under the next counter; 0 is skipped, and so is one whose code equals that of the old page.
    private func seal(
        _ page: Int, after counter: UInt32, _ previous: PageEntry.Stamp, from source: ByteView,
        to target: inout [UInt8], at offset: Int
    ) throws(StorageError) -> PageEntry.Stamp {
        var counter = counter
        while true {
            counter &+= 1
            if counter == 0 { counter = 1 }
            let stamp = try cipher.seal(page: page, counter: counter, from: source, to: &target, at: offset)
            if stamp.code != previous.code { return stamp }
        }
    }

    /// Writes `bytes`, which hold `size` bytes for each page of the batch, with one call for neighbouring pages.
    private func write(
        _ bytes: [UInt8], of batch: [Int], _ size: Int, _ offset: (Int) -> Int, _ backend: any StorageBackend
    ) throws(StorageError) {
        var first = 0
        while first < batch.count {
            var end = first + 1
            while end < batch.count, offset(batch[end]) == offset(batch[end - 1]) + size { end += 1 }
            try ByteView.withBytes(of: bytes) { view throws(StorageError) in
                try backend.write(view.slice(first * size, end * size), at: offset(batch[first]))
            }
            first = end
        }
    }
}
