// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// Authenticates, decrypts and encrypts single pages with one key: AES-256-CBC without padding,
/// HMAC-SHA-224 over the encrypted bytes.
///
/// Keys are scheduled once, when a cipher is made; a page only sets its initialization vector and begins a new code. The
/// contexts are used again by every call, so a cipher belongs to one thread at a time. Source: docs/format.md, "Encryption".
package final class PageCipher {
    /// The outcome of reading a page.
    package enum Outcome: Equatable, Sendable {
        /// The page was decrypted; the stamp is the one that fits it, which the next write has to keep.
        case plain(PageEntry.Stamp)
        /// There is no such page, or its first write was interrupted.
        case neverWritten
        /// Neither stamp of the entry fits the bytes.
        case corrupt
    }

    /// Encrypts with the key.
    private let encryptor: CipherContext
    /// Decrypts with the key.
    private let decryptor: CipherContext
    /// Computes authentication codes with the key.
    private let authenticator: AuthenticationContext

    /// Makes a cipher for one key; throws `.io` when the crypto library lacks memory or an algorithm.
    package init(_ key: EncryptionKey) throws(StorageError) {
        encryptor = try CipherContext(.encrypts, key: Array(key.cipherKey))
        decryptor = try CipherContext(.decrypts, key: Array(key.cipherKey))
        authenticator = try AuthenticationContext(key: Array(key.authenticationKey))
    }

    // MARK: - Pages

    /// Decrypts a page if one of the stamps of its entry fits it.
    ///
    /// The code of the encrypted bytes is compared with both stamps before anything is decrypted.
    ///
    /// - Parameters:
    ///   - page: The number of the plain page, which is part of the initialization vector.
    ///   - source: The 4096 encrypted bytes.
    ///   - memory: Where the 4096 plain bytes are stored.
    ///   - offset: The place in `memory` of the first plain byte.
    /// - Throws: `.io` only when the crypto library fails; a damaged page is an outcome.
    package func open(
        page: Int, entry: PageEntry, from source: ByteView, to memory: ReservedMemory, at offset: Int
    ) throws(StorageError) -> Outcome {
        guard entry.newest.counter != 0 else { return .neverWritten }
        let code = try authenticationCode(of: source)
        let stamp: PageEntry.Stamp
        if code == entry.newest.code {
            stamp = entry.newest
        } else if entry.previous.counter != 0, code == entry.previous.code {
            stamp = entry.previous
        } else {
            return entry.previous.counter == 0 || source.isZero ? .neverWritten : .corrupt
        }
        let target = memory.room(at: offset, byteCount: EncryptionLayout.pageByteCount)
        try decryptor.run(vector: PageCipher.vector(page: page, counter: stamp.counter), from: source, to: target)
        return .plain(stamp)
    }

    /// Returns the stamp of `entry` that fits the encrypted page in `source`, or `.none`.
    func stamp(of source: ByteView, entry: PageEntry) throws(StorageError) -> PageEntry.Stamp {
        let code = try authenticationCode(of: source)
        return [entry.newest, entry.previous].first { $0.counter != 0 && $0.code == code } ?? .none
    }

    /// Encrypts a page, and returns the stamp for its entry.
    ///
    /// Each counter results in another initialization vector, so writing the same bytes again gives other encrypted bytes.
    ///
    /// - Parameters:
    ///   - page: The number of the plain page.
    ///   - counter: The counter of this write, which must not be 0.
    ///   - source: The 4096 plain bytes.
    ///   - target: The array that receives the 4096 encrypted bytes, and must have room for them.
    ///   - offset: The place in `target` of the first encrypted byte.
    package func seal(
        page: Int, counter: UInt32, from source: ByteView, to target: inout [UInt8], at offset: Int = 0
    ) throws(StorageError) -> PageEntry.Stamp {
        precondition(counter != 0, "counter 0 means that a page was never written")
        let place = offset..<offset + EncryptionLayout.pageByteCount
        return try target.withRoom(at: place) { (room) throws(StorageError) in
            try encryptor.run(vector: PageCipher.vector(page: page, counter: counter), from: source, to: room)
            return PageEntry.Stamp(counter: counter, code: try authenticationCode(of: room.view))
        }
    }

    // MARK: - Parts of a page

    /// Returns the HMAC-SHA-224 of an encrypted page.
    private func authenticationCode(of page: ByteView) throws(StorageError) -> AuthenticationCode {
        AuthenticationCode(try authenticator.code(of: page))
    }

    /// Returns the initialization vector of a page: the counter of the write, then the plain offset of
    /// the page, both little endian, then zeros.
    private static func vector(page: Int, counter: UInt32) -> [UInt8] {
        var vector = [UInt8](repeating: 0, count: CipherContext.vectorByteCount)
        let offset = UInt64(page) * UInt64(EncryptionLayout.pageByteCount)
        for index in 0..<4 { vector[index] = UInt8(truncatingIfNeeded: counter >> UInt32(8 * index)) }
        for index in 0..<8 { vector[4 + index] = UInt8(truncatingIfNeeded: offset >> UInt64(8 * index)) }
        return vector
    }
}
