// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import Synchronization

/// The plain bytes of an encrypted file: private memory in which each page appears when it is first needed.
///
/// Reading costs one atomic load per page once the page is present. A page is decrypted exactly once, under the lock of its
/// stripe, before it counts as ready; so bytes that are visible never change. Only `forget` makes an exception, for a file that
/// one thread reads once. A write stores new bytes in ready pages, at places that no version in use needs.
///
/// `@unchecked Sendable`: the fields are set once. A page of `plain` becomes ready under the lock of its stripe, and is read
/// after its state was seen as `ready`; the ranges that are changed later are used by the writing thread alone.
@usableFromInline
@safe package final class LazyPlainPages: @unchecked Sendable {
    /// The plain bytes, with room for growth. Pages that were not needed yet, or never written, read
    /// as zeros; what is after them must not be read.
    var plain: ByteView { memory.range }
    /// The size of the plain file in bytes, in whole pages.
    var plainByteCount: Int { pageCount * EncryptionLayout.pageByteCount }

    /// The states of a page, as raw bytes, because they are stored as atomics in memory of their own.
    private enum State { static let unknown: UInt8 = 0, ready: UInt8 = 1, neverWritten: UInt8 = 2, corrupt: UInt8 = 3 }

    /// The encrypted bytes of the file in memory, with room for growth.
    private let source: ByteView
    /// The object that keeps the encrypted bytes in memory.
    private let sourceOwner: any AnyObject & Sendable
    /// The memory for the plain bytes, which is zero until a page is decrypted.
    private let memory: ReservedMemory
    private let states: AtomicBytes
    /// The number of pages of the file, for reading by any thread.
    private let grownPageCount: Atomic<Int>
    /// How many pages were decrypted since the last `forget`.
    private let decryptedPageCount = Atomic(0)
    /// The number of calls of `forget`.
    private let forgetting = Atomic(0)
    /// The first and the last page that were decrypted since then; the first one is after the last one when there are none.
    private let firstDecrypted = Atomic(Int.max), lastDecrypted = Atomic(-1)
    /// Locks with a cipher each; page `i` uses lock `i` modulo their number. There are enough for
    /// all threads of a server to decrypt at the same time.
    private let stripes: [Stripe]

    /// Returns the first encrypted bytes of a page as they are in the file now. They change whenever the
    /// page is written, because each writing has another start value.
    func sealedStart(ofPage page: Int) -> [UInt8] {
        let start = EncryptionLayout.pageOffset(page)
        return source.slice(start, start + EncryptionLayout.entryByteCount).array
    }

    /// How many pages the file has at present. Any thread may read it.
    var pageCount: Int { grownPageCount.load(ordering: .acquiring) }
    convenience init(file: FileMapping, key: EncryptionKey) throws(StorageError) {
        try self.init(source: file.bytes, owner: file, fileByteCount: file.byteCount, capacity: 0, key: key)
    }

    /// Makes the pages of a file that is read and written in `memory`; they may grow as far as the memory does.
    convenience init(memory: ReservedMemory, fileByteCount: Int, key: EncryptionKey) throws(StorageError) {
        let page = EncryptionLayout.pageByteCount
        try self.init(
            source: memory.range, owner: memory, fileByteCount: fileByteCount, capacity: memory.capacity / page * page, key: key)
    }

    /// Checks the size of the file and decrypts page 0, which reveals a wrong key.
    ///
    /// - Parameters:
    ///   - source: The encrypted bytes, with room for growth.
    ///   - owner: The object that keeps the encrypted bytes in memory.
    ///   - fileByteCount: The size of the encrypted file in bytes.
    ///   - capacity: The greatest size in bytes that the plain bytes may grow to.
    /// - Throws: `.refused(.encryptionKeyWrong)` when page 0 fails its check, or the file is a plain one; `.refused(.notARealm)` when
    ///   it is surely no encrypted Realm file; `.corrupt` when it was cut short.
    init(
        source: ByteView, owner: any AnyObject & Sendable, fileByteCount: Int, capacity: Int, key: EncryptionKey
    ) throws(StorageError) {
        self.source = source
        sourceOwner = owner
        guard EncryptionLayout.fits(fileByteCount: fileByteCount) else {
            throw LazyPlainPages.misfit(source, owner: owner, fileByteCount: fileByteCount, key)
        }
        let count = EncryptionLayout.plainPageCount(fileByteCount: fileByteCount)
        let capacity = max(capacity, count * EncryptionLayout.pageByteCount)
        memory = try ReservedMemory(capacity: capacity)
        states = try AtomicBytes(capacity: capacity / EncryptionLayout.pageByteCount)
        grownPageCount = Atomic(0)
        var stripes: [Stripe] = []
        for _ in 0..<16 { stripes.append(Stripe(try PageCipher(key))) }
        self.stripes = stripes
        try grow(toPageCount: count)
        guard try settle(page: 0) == State.ready else {
            throw LazyPlainPages.otherFile(source, mayBeEncrypted: true)
                ?? StorageError.refused(
                    .encryptionKeyWrong("page 0 fails its check: wrong encryption key, or not an encrypted Realm file"))
        }
    }

    /// Makes pages of the same file, which is only read, in memory of their own: `forget` of the ones leaves the others as they are.
    init(apartFrom other: LazyPlainPages) throws(StorageError) {
        source = other.source
        sourceOwner = other.sourceOwner
        stripes = other.stripes
        let count = other.pageCount
        memory = try ReservedMemory(capacity: count * EncryptionLayout.pageByteCount)
        states = try AtomicBytes(capacity: count)
        grownPageCount = Atomic(0)
        try grow(toPageCount: count)
    }

    /// Returns why a file is not read with a key whose size no encrypted file has.
    private static func misfit(
        _ source: ByteView, owner: any AnyObject & Sendable, fileByteCount: Int, _ key: EncryptionKey
    ) -> StorageError {
        guard fileByteCount >= FileHeader.byteCount else {
            return .refused(.notARealm("a file of \(fileByteCount) bytes is too small to be a Realm file"))
        }
        let page = EncryptionLayout.pageByteCount
        let whole = fileByteCount / page * page
        // A key that fits the first page distinguishes a truncated encrypted file from everything else.
        if EncryptionLayout.fits(fileByteCount: whole),
            (try? LazyPlainPages(source: source, owner: owner, fileByteCount: whole, capacity: 0, key: key)) != nil
        {
            let reason = "the file is cut short: its \(fileByteCount) bytes are no whole pages of \(page)"
            return .corrupt(ref: .none, reason: reason)
        }
        let reason = "not a Realm file: an encrypted one has whole pages of \(page) bytes, and this one \(fileByteCount) bytes"
        return otherFile(source, mayBeEncrypted: false) ?? StorageError.refused(.notARealm(reason))
    }

    /// Returns the refusal of a file that is surely not encrypted, by its first bytes; nil for others.
    private static func otherFile(_ source: ByteView, mayBeEncrypted: Bool) -> StorageError? {
        let prefix = source.slice(0, FileHeader.byteCount)
        if FileHeader.Statement(prefix) != nil {
            return .refused(.encryptionKeyWrong("the file is not encrypted; it opens without a key"))
        }
        return ForeignFile.kind(of: prefix, mayBeEncrypted: mayBeEncrypted).map { kind in
            StorageError.refused(.notARealm("no Realm signature: the file is \(kind)"))
        }
    }

    /// Makes the bytes readable.
    ///
    /// - Parameters:
    ///   - offset: The first byte, in the plain file.
    ///   - byteCount: How many bytes are needed.
    /// - Throws: `.corrupt` if one of their pages is damaged or was never written, or if they end
    ///   after the file.
    @usableFromInline
    func ensure(offset: UInt64, byteCount: UInt64) throws(StorageError) {
        guard byteCount > 0 else { return }
        let (end, overflow) = offset.addingReportingOverflow(byteCount)
        guard !overflow, end <= UInt64(plainByteCount) else {
            throw .corrupt(ref: Ref(offset), reason: "\(byteCount) bytes end after the plain file")
        }
        var page = Int(offset >> 12)
        let last = Int((end - 1) >> 12)
        while page <= last {
            if states[page] != State.ready { try require(page, offset) }
            page += 1
        }
    }

    /// Makes the bytes readable as far as they exist; damaged and never written pages read as zeros.
    func attempt(offset: UInt64, byteCount: UInt64) throws(StorageError) {
        guard byteCount > 0, offset < UInt64(plainByteCount) else { return }
        let last = Int((offset + min(byteCount, UInt64(plainByteCount) - offset) - 1) >> 12)
        var page = Int(offset >> 12)
        while page <= last {
            _ = try settle(page: page)
            page += 1
        }
    }

    /// Returns whether a page in `0..<pageCount` holds data, was never written or is damaged.
    func state(ofPage page: Int) throws(StorageError) -> LazyPlainPages.PageState {
        switch try settle(page: page) {
        case State.ready: return .present
        case State.neverWritten: return .neverWritten
        default: return .damaged
        }
    }

    /// Throws `.corrupt` unless the page can be read.
    private func require(_ page: Int, _ offset: UInt64) throws(StorageError) {
        switch try settle(page: page) {
        case State.ready: return
        case State.neverWritten:
            throw .corrupt(ref: Ref(offset), reason: "page \(page) of the encrypted file was never written")
        default:
            throw .corrupt(ref: Ref(offset), reason: "page \(page) of the encrypted file fails its check")
        }
    }

    /// Decrypts a page unless that was tried before, and returns its state.
    private func settle(page: Int) throws(StorageError) -> UInt8 {
        try stripes[page % stripes.count].withCipher { cipher throws(StorageError) in
            let known = states[page]
            guard known == State.unknown else { return known }
            let outcome = try cipher.open(
                page: page, entry: currentEntry(ofPage: page), from: encrypted(page: page), to: memory,
                at: page * EncryptionLayout.pageByteCount)
            let state: UInt8
            switch outcome {
            case .plain: state = State.ready
            case .neverWritten: state = State.neverWritten
            case .corrupt: state = State.corrupt
            }
            states[page] = state
            if state == State.ready {
                decryptedPageCount.wrappingAdd(1, ordering: .relaxed)
                firstDecrypted.min(page, ordering: .relaxed)
                lastDecrypted.max(page, ordering: .relaxed)
            }
            return state
        }
    }

    // MARK: - For a thread that reads the file alone

    /// How many bytes of memory the pages take that were decrypted since the last `forget`.
    var decryptedByteCount: Int { decryptedPageCount.load(ordering: .relaxed) * EncryptionLayout.pageByteCount }

    /// How often `forget` was called.
    var forgetCount: Int { forgetting.load(ordering: .relaxed) }

    /// Gives back the memory of all decrypted pages, which are decrypted again when they are needed.
    ///
    /// The bytes that were read before read as zeros until they were made readable again with `ensure`, at the same place.
    ///
    /// - Complexity: Linear in the range of the pages that were decrypted since the last call.
    func forget() {
        forgetting.wrappingAdd(1, ordering: .relaxed)
        let first = firstDecrypted.exchange(Int.max, ordering: .relaxed), last = lastDecrypted.exchange(-1, ordering: .relaxed)
        decryptedPageCount.store(0, ordering: .relaxed)
        guard first <= last else { return }
        for page in first...last where states[page] == State.ready { states[page] = State.unknown }
        memory.forget(first * EncryptionLayout.pageByteCount..<(last + 1) * EncryptionLayout.pageByteCount)
    }

    // MARK: - For the writing thread

    /// Makes room for pages that were added to the file; called by the writing thread.
    func grow(toPageCount count: Int) throws(StorageError) {
        try memory.fill(byteCount: count * EncryptionLayout.pageByteCount)
        try states.grow(to: count)
        grownPageCount.store(count, ordering: .releasing)
    }

    /// Decrypts a page that is about to be written, so that no thread reads its encrypted bytes any more.
    ///
    /// A page without contents becomes one of zeros. So does a damaged page when `isDisposable` returns that no version uses
    /// it; any other damaged page is an error, because its contents would be lost for good.
    ///
    /// - Throws: `.corrupt` for a damaged page that may be in use.
    func prepare(page: Int, isDisposable: () -> Bool) throws(StorageError) {
        switch try settle(page: page) {
        case State.ready: return
        case State.corrupt where !isDisposable():
            throw .corrupt(ref: .none, reason: "page \(page) of the encrypted file fails its check")
        default: states[page] = State.ready
        }
    }

    /// Decrypts a page whose encrypted bytes are about to change, for readers of a range of
    /// addresses that the file has outgrown.
    func readBeforeChange(page: Int) throws(StorageError) { if page < pageCount { _ = try settle(page: page) } }

    /// Replaces bytes of prepared pages that no reader uses.
    func patch(_ bytes: ByteView, at offset: Int) { memory.store(bytes, at: offset) }

    /// Copies a page from an older range of addresses, whose changes are not in the file yet.
    func adopt(page: Int, from older: LazyPlainPages) {
        let start = page * EncryptionLayout.pageByteCount
        patch(older.memory.view(at: start, byteCount: EncryptionLayout.pageByteCount), at: start)
        states[page] = State.ready
    }

    /// Returns the stamp that fits the present encrypted bytes of a page, or `.none`.
    func fittingStamp(ofPage page: Int, _ cipher: PageCipher) throws(StorageError) -> PageEntry.Stamp {
        try cipher.stamp(of: encrypted(page: page), entry: currentEntry(ofPage: page))
    }

    /// Returns the plain bytes of a prepared page.
    func plain(page: Int) -> ByteView {
        plain.slice(page * EncryptionLayout.pageByteCount, (page + 1) * EncryptionLayout.pageByteCount)
    }

    /// Returns the present entry of a page, which is in its table page.
    func currentEntry(ofPage page: Int) -> PageEntry {
        let start = EncryptionLayout.entryOffset(page)
        return PageEntry(source.slice(start, start + EncryptionLayout.entryByteCount))
    }

    /// Returns the present encrypted bytes of a page. They exist, because the number of pages was
    /// computed from the size of the file.
    private func encrypted(page: Int) -> ByteView {
        let start = EncryptionLayout.pageOffset(page)
        return source.slice(start, start + EncryptionLayout.pageByteCount)
    }

    /// A cipher and the lock of the pages that use it.
    private final class Stripe: Sendable {
        /// The cipher, which one thread at a time uses.
        private let cipher: RankedMutex<PageCipher>

        /// Makes a stripe with a cipher of its own.
        init(_ cipher: sending PageCipher) { self.cipher = RankedMutex(.leaf, cipher) }

        /// Runs `body` with the cipher while no other thread uses it.
        func withCipher(_ body: (PageCipher) throws(StorageError) -> UInt8) throws(StorageError) -> UInt8 {
            try cipher.withLock { cipher throws(StorageError) in try body(cipher) }
        }
    }
}

extension LazyPlainPages {
    /// The state of a page of 4096 plain bytes. Pages of a file that is not encrypted are always present.
    ///
    /// A page that was never written is usual at the end of a file, which may be longer than what was
    /// written to it. A damaged page is an error only for readers that need something in it.
    package enum PageState: Sendable {
        /// The page has contents that pass their check.
        case present
        /// The page has a place in the file but was never written; it reads as zeros.
        case neverWritten
        /// The contents of the page do not pass their check.
        case damaged
    }
}
