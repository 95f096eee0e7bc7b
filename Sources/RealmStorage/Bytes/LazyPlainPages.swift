// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The plain bytes of an encrypted file: private memory in which each page appears when it is first asked for.
///
/// Reading costs one atomic load per page once the page is there. A page is decrypted exactly once, under the lock of
/// its stripe, before anybody is told that it is ready; so bytes that are visible never change.
///
/// `@unchecked Sendable`: the fields are set once. The memory at `address` is written under the stripe locks only, and
/// read after the state of the page was seen as `ready`.
@usableFromInline
final class LazyPlainPages: @unchecked Sendable {
    /// First plain byte. Pages that were not asked for, or never written, read as zeros.
    let address: UnsafeRawPointer
    let plainByteCount: Int

    private enum State { static let unknown: UInt8 = 0, ready: UInt8 = 1, neverWritten: UInt8 = 2, corrupt: UInt8 = 3 }

    private let file: FileMapping
    private let memory: AnonymousMapping
    private let stateMemory: AnonymousMapping
    let pageCount: Int
    /// Enough for all threads of a server to decrypt at the same time.
    private let stripes: [Stripe]

    /// Checks the size of the file and opens page 0, which tells a wrong key.
    init(file: FileMapping, key: EncryptionKey) throws(StorageError) {
        self.file = file
        pageCount = try EncryptionLayout.plainPageCount(fileByteCount: file.byteCount)
        plainByteCount = pageCount * EncryptionLayout.pageByteCount
        memory = try AnonymousMapping(byteCount: plainByteCount)
        stateMemory = try AnonymousMapping(byteCount: pageCount)
        address = UnsafeRawPointer(memory.address)
        var stripes: [Stripe] = []
        for _ in 0..<16 { stripes.append(Stripe(try PageCipher(key))) }
        self.stripes = stripes
        guard try settle(page: 0) == State.ready else {
            throw .refused(.encryptionKeyWrong("page 0 fails its check: wrong encryption key, or not an encrypted Realm file"))
        }
    }

    /// Makes the bytes readable; throws `.corrupt` if one of their pages is damaged or was never written.
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
            if states[page].load(ordering: .acquiring) != State.ready { try require(page, offset) }
            page += 1
        }
    }

    /// Makes the bytes readable as far as they are there; damaged and never written pages read as zeros.
    func attempt(offset: UInt64, byteCount: UInt64) throws(StorageError) {
        guard byteCount > 0, offset < UInt64(plainByteCount) else { return }
        let last = Int((offset + min(byteCount, UInt64(plainByteCount) - offset) - 1) >> 12)
        var page = Int(offset >> 12)
        while page <= last {
            _ = try settle(page: page)
            page += 1
        }
    }

    /// Whether a page (0..<pageCount) holds data, was never written or is damaged.
    func state(ofPage page: Int) throws(StorageError) -> RealmFile.PageState {
        switch try settle(page: page) {
        case State.ready: return .present
        case State.neverWritten: return .neverWritten
        default: return .damaged
        }
    }

    private func require(_ page: Int, _ offset: UInt64) throws(StorageError) {
        switch try settle(page: page) {
        case State.ready: return
        case State.neverWritten:
            throw .corrupt(ref: Ref(offset), reason: "page \(page) of the encrypted file was never written")
        default:
            throw .corrupt(ref: Ref(offset), reason: "page \(page) of the encrypted file fails its check")
        }
    }

    /// Decrypts a page unless that was tried before; returns its state.
    private func settle(page: Int) throws(StorageError) -> UInt8 {
        try stripes[page % stripes.count].withCipher { cipher throws(StorageError) in
            let known = states[page].load(ordering: .acquiring)
            guard known == State.unknown else { return known }
            // In bounds: `page` is below the page count that was computed from the size of the file.
            let entryStart = (file.address + EncryptionLayout.entryOffset(page)).assumingMemoryBound(to: UInt8.self)
            let entry = PageEntry(ByteView(start: entryStart, count: EncryptionLayout.entryByteCount))
            let outcome = try cipher.open(
                page: page, entry: entry, from: file.address + EncryptionLayout.pageOffset(page),
                to: memory.address + page * EncryptionLayout.pageByteCount)
            let state: UInt8
            switch outcome {
            case .plain: state = State.ready
            case .neverWritten: state = State.neverWritten
            case .corrupt: state = State.corrupt
            }
            states[page].store(state, ordering: .releasing)
            return state
        }
    }

    /// One byte a page. Fresh anonymous memory is zero, which is a valid `Atomic<UInt8>` that says `unknown`.
    private var states: UnsafeMutablePointer<Atomic<UInt8>> {
        stateMemory.address.assumingMemoryBound(to: Atomic<UInt8>.self)
    }

    /// A cipher and the lock of the pages that it serves.
    private final class Stripe: Sendable {
        private let cipher: Mutex<PageCipher>

        init(_ cipher: sending PageCipher) { self.cipher = Mutex(cipher) }

        func withCipher(_ body: (PageCipher) throws(StorageError) -> UInt8) throws(StorageError) -> UInt8 {
            try cipher.withLock { cipher throws(StorageError) in try body(cipher) }
        }
    }
}

/// Zero-filled private memory.
private final class AnonymousMapping {
    let address: UnsafeMutableRawPointer
    private let byteCount: Int

    init(byteCount: Int) throws(StorageError) {
        address = try System.mapAnonymous(byteCount: byteCount)
        self.byteCount = byteCount
    }

    deinit { System.unmap(address, byteCount: byteCount) }
}
