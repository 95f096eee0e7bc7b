// SPDX-License-Identifier: Apache-2.0

/// Brings changed plain pages into an encrypted file so that a crash at any point loses none of them.
///
/// - The entries of all changed pages are written and synced before the first page is. Until its page follows, an entry
///   still holds, as its previous stamp, the one that fits the page on the disk.
/// - No page is written twice between two syncs: the previous stamp always describes what is durable.
/// - The stamp that is kept is the one that *fits* the old page, not the one that stands first in the entry. They
///   differ after a write that was cut short.
///
/// Source: docs/format.md, "Encryption".
///
/// `@unchecked Sendable`: used by the one thread that holds the write transaction.
final class PageSealer: @unchecked Sendable {
    /// Pages whose newest entry is known to fit them, because this object wrote both.
    private var fitting: Set<Int> = []
    private var dirty: Set<Int> = []
    private let cipher: PageCipher

    /// At most so many pages are held encrypted in memory.
    private static let batchCount = 2048

    init(key: EncryptionKey) throws(StorageError) { cipher = try PageCipher(key) }

    /// Pages with changes that are not in the file yet.
    var changedPages: Set<Int> { dirty }

    /// Notes that bytes of a page have changed.
    func markChanged(page: Int) { dirty.insert(page) }

    /// Forgets changes that were taken back, before any of them was written.
    func forgetChanges() { dirty.removeAll() }

    /// Writes all changed pages and returns when they are durable.
    ///
    /// After an error some entries may be new, which does no harm; with `.pages` in `stage` some pages may be too.
    func flush(
        _ pages: LazyPlainPages, to backend: any StorageBackend, _ scope: SyncScope, stage: inout Stage
    ) throws(StorageError) {
        let changed = dirty.sorted()
        var first = 0
        while first < changed.count {
            let batch = Array(changed[first..<min(first + PageSealer.batchCount, changed.count)])
            let sealed = try seal(batch, pages)
            fitting.subtract(batch)
            try write(sealed.entries, of: batch, EncryptionLayout.entryByteCount, EncryptionLayout.entryOffset, backend)
            try backend.sync(scope)
            stage = .pages
            try write(sealed.bytes, of: batch, EncryptionLayout.pageByteCount, EncryptionLayout.pageOffset, backend)
            first += batch.count
        }
        try backend.sync(scope)
        fitting.formUnion(changed)
        dirty.removeAll(keepingCapacity: true)
    }

    /// How far a flush came.
    enum Stage { case entries, pages }

    private func seal(_ batch: [Int], _ pages: LazyPlainPages) throws(StorageError) -> (entries: [UInt8], bytes: [UInt8]) {
        let size = EncryptionLayout.pageByteCount
        var entries: [UInt8] = []
        entries.reserveCapacity(batch.count * EncryptionLayout.entryByteCount)
        var bytes = [UInt8](repeating: 0, count: batch.count * size)
        for (index, page) in batch.enumerated() {
            let old = pages.currentEntry(ofPage: page)
            let previous = fitting.contains(page) ? old.newest : try pages.fittingStamp(ofPage: page, cipher)
            // In bounds: the buffer has `size` bytes for each page of the batch.
            let newest = try seal(page, after: old.newest.counter, previous, pages.address + page * size, &bytes, index * size)
            entries += PageEntry(newest: newest, previous: previous).bytes
        }
        return (entries, bytes)
    }

    /// Encrypts one page under the next counter; 0 is left out, and so is one whose code equals that of the old page.
    private func seal(
        _ page: Int, after counter: UInt32, _ previous: PageEntry.Stamp, _ source: UnsafeRawPointer,
        _ target: inout [UInt8], _ offset: Int
    ) throws(StorageError) -> PageEntry.Stamp {
        var counter = counter
        while true {
            counter &+= 1
            if counter == 0 { counter = 1 }
            var failure: StorageError?
            let stamp = target.withUnsafeMutableBytes { buffer -> PageEntry.Stamp? in
                do throws(StorageError) {
                    guard let start = buffer.baseAddress else { return nil }
                    return try cipher.seal(page: page, counter: counter, from: source, to: start + offset)
                } catch {
                    failure = error
                    return nil
                }
            }
            if let failure { throw failure }
            if let stamp, stamp.code != previous.code { return stamp }
        }
    }

    /// Writes `bytes`, which hold `size` bytes for each page of the batch, with one call for neighbours.
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
