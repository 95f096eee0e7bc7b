// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import SystemPackage

/// Exclusive ownership of a Realm file, in a way that makes every SDK refuse it at once instead of waiting.
///
/// SDKs hold a shared lock on `<path>.lock` while they have a file open, and the first of them prepares that file. The
/// owner holds a shared lock too, over a lock file whose layout version no SDK knows:
///
/// | offset | size | field |
/// |---|---|---|
/// | 0 | 1 | 1: prepared |
/// | 6 | 2 | layout version; 0xffff here |
/// | 64 | 16 | a random token of the owner |
///
/// An exclusive lock would keep others out as well, but they would wait for it for ever. A lock ends with its process,
/// and what is left of the file is prepared anew by the next program. Source: docs/format.md, "Lock file".
///
/// Other programs have files that end with `.lock`, too. What does not look like a lock file of Realm is never written to.
package final class OwnershipLock: Sendable {
    /// Negative when it was released.
    private let descriptor: Atomic<Int32>
    /// The path of the lock file.
    private let path: String
    /// Whether there was no lock file before.
    private let isNew: Bool

    /// The size of a lock file of this program in bytes.
    private static let byteCount = 4096
    /// Where the token of the owner is.
    private static let tokenOffset = 64
    /// A layout version that no SDK knows, so that every one refuses the file at once.
    private static let layoutVersion: [UInt8] = [0xff, 0xff]
    /// How often to try again when another program comes in between.
    private static let attempts = 10

    /// Takes ownership of the Realm file at `path`, which need not exist and has no symbolic links in it.
    ///
    /// Throws `.refused(.fileInUse)` when an SDK or another server has it open. After an error nothing has changed.
    package init(ofFile path: String) throws(StorageError) {
        self.path = path + ".lock"
        for _ in 0..<OwnershipLock.attempts {
            if let (descriptor, isNew) = try OwnershipLock.attempt(path) {
                self.descriptor = Atomic(descriptor)
                self.isNew = isNew
                return
            }
        }
        throw OwnershipLock.inUse
    }

    deinit { release() }

    /// Gives the file up.
    ///
    /// Any thread may call it, and more than once. The lock file stays: removing it could take it away from a program that has
    /// just opened it.
    package func release() {
        let descriptor = descriptor.exchange(-1, ordering: .acquiringAndReleasing)
        if descriptor >= 0 { System.close(descriptor) }
    }

    /// Gives the file up after nothing came of opening it: a lock file that was made for that goes, too.
    ///
    /// A lock file that was there before is left as any program leaves it.
    package func discard() {
        let descriptor = descriptor.exchange(-1, ordering: .acquiringAndReleasing)
        guard descriptor >= 0 else { return }
        if isNew { OwnershipLock.remove(path, descriptor) }
        System.close(descriptor)
    }

    /// Whether the lock file still has its name: without it another program could take a lock beside this one.
    var isNamed: Bool {
        let descriptor = descriptor.load(ordering: .acquiring)
        guard descriptor >= 0, let place = try? System.place(descriptor) else { return false }
        return place.linkCount > 0
    }

    /// Removes a lock file that this process has made and still holds. Whoever opened it meanwhile read who holds it.
    private static func remove(_ path: String, _ descriptor: Int32) {
        guard let here = System.identity(descriptor), System.entry(atPath: path, followsLink: false)?.identity == here,
            System.lockCount(on: here) <= 1
        else { return }
        System.remove(path)
    }

    /// What is thrown when another program has the file open.
    private static var inUse: StorageError {
        .refused(
            .fileInUse(
                "the file is open in another program, which uses it through the Realm SDK or serves it; mode 'copy' serves a private copy"
            ))
    }

    // MARK: - Looking

    /// Throws what taking ownership of the file at `path` would throw, but changes nothing.
    ///
    /// Used by trial runs, which must leave no trace. What it finds may have changed by the time the file is opened.
    package static func check(ofFile path: String) throws(StorageError) {
        let lock = path + ".lock"
        guard System.entry(atPath: lock, followsLink: false) != nil else { return try System.requireWritableFolder(of: path) }
        let descriptor = try openExisting(lock)
        defer { System.close(descriptor) }
        guard let file = System.identity(descriptor), System.lockCount(on: file) == 0 else { throw inUse }
        try requireLockFile(descriptor)
    }

    /// Throws `.refused(.fileInUse)` when another program has the file at `path` open to write to it, as far as that can be seen.
    package static func requireUnused(_ path: String) throws(StorageError) {
        if holders(ofFile: path) > 0 { throw inUse }
    }

    /// How many programs hold the lock of the file at `path`.
    ///
    /// Counts what the system lists. Programs in other containers, or on other machines, may not be in the list.
    package static func holders(ofFile path: String) -> Int {
        System.entry(atPath: path + ".lock", followsLink: false).map { System.lockCount(on: $0.identity) } ?? 0
    }

    // MARK: - Taking

    /// The descriptor that holds the lock; nil when another program came in between.
    private static func attempt(_ file: String) throws(StorageError) -> (descriptor: Int32, isNew: Bool)? {
        let path = file + ".lock"
        let isNew = System.entry(atPath: path, followsLink: false) == nil
        guard let descriptor = isNew ? try create(path) : try openExisting(path) else { return nil }
        do throws(StorageError) {
            guard try System.lock(descriptor, .exclusive) else { throw inUse }
            if System.identity(descriptor) == System.entry(atPath: path, followsLink: false)?.identity {
                if isNew { System.share(descriptor, withWritersOf: file) } else { try requireLockFile(descriptor) }
                if try prepare(descriptor) { return (descriptor, isNew) }
            }
        } catch {
            if isNew { remove(path, descriptor) }
            System.close(descriptor)
            throw error
        }
        System.close(descriptor)
        return nil
    }

    /// Nil when another program was first.
    private static func create(_ path: String) throws(StorageError) -> Int32? {
        do throws(StorageError) {
            return try System.createForWriting(path)
        } catch {
            guard error.errno == .fileExists else { throw error }
            return nil
        }
    }

    /// Opens a lock file that is a regular file with one name.
    private static func openExisting(_ path: String) throws(StorageError) -> Int32 {
        guard let facts = System.entry(atPath: path, followsLink: false), facts.isRegular, facts.linkCount == 1 else {
            throw foreign
        }
        do throws(StorageError) {
            return try System.openRegular(path, writing: true, followsLink: false)
        } catch {
            guard case .refused(.unsuitable) = error else { throw error }
            throw .refused(.unsuitable("no permission to write the lock file beside the file"))
        }
    }

    /// What is thrown for a file that ends with `.lock` and is none of Realm's.
    private static var foreign: StorageError {
        .refused(.unsuitable("the file of the same name with '.lock' is no lock file of Realm, and is left alone"))
    }

    /// Throws unless an open file is what SDKs or this program leave: empty, zeros, or with the fields that never change.
    private static func requireLockFile(_ descriptor: Int32) throws(StorageError) {
        let size = try System.regularFileSize(descriptor)
        guard size > 0 else { return }
        guard size <= 1 << 20 else { throw foreign }
        let bytes = try System.read(descriptor, at: 0, byteCount: size)
        guard bytes.count == size, isLockFile(bytes) else { throw foreign }
    }

    /// Byte 0 says whether it is prepared, 1 and 2 the sizes of two structures, 3 and 5 small numbers, 6 the version.
    private static func isLockFile(_ bytes: [UInt8]) -> Bool {
        if bytes.allSatisfy({ $0 == 0 }) { return bytes.count <= 16 << 10 }
        guard bytes.count >= 8, bytes[0] <= 1 else { return false }
        if bytes[6] == 0xff, bytes[7] == 0xff {
            return bytes.count == byteCount && bytes[1..<6].allSatisfy { $0 == 0 }
                && bytes[8..<tokenOffset].allSatisfy { $0 == 0 }
                && bytes[(tokenOffset + 16)...].allSatisfy { $0 == 0 }
        }
        return bytes[1] > 0 && bytes[1] <= 128 && bytes[2] <= 128 && bytes[3] <= 1 && bytes[5] <= 8 && (1...64).contains(bytes[6])
            && bytes[7] == 0
    }

    /// Fills the file in and turns the lock into a shared one. Another program may prepare it in that moment; false then.
    private static func prepare(_ descriptor: Int32) throws(StorageError) -> Bool {
        var generator = SystemRandomNumberGenerator()
        let token = (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        try System.truncate(descriptor, to: 0)
        try System.truncate(descriptor, to: byteCount)
        for (bytes, offset) in [(token, tokenOffset), (layoutVersion, 6), ([1], 0)] {
            try ByteView.withBytes(of: bytes) { view throws(StorageError) in try System.write(descriptor, view, at: offset) }
        }
        guard try share(descriptor) else { return false }
        let now = try System.read(descriptor, at: 0, byteCount: tokenOffset + token.count)
        return now.count == tokenOffset + token.count && now[0] == 1 && Array(now[6..<8]) == layoutVersion
            && Array(now[tokenOffset...]) == token
    }

    /// Somebody who tries for an exclusive lock just then gives it up soon.
    private static func share(_ descriptor: Int32) throws(StorageError) -> Bool {
        for _ in 0..<100 {
            if try System.lock(descriptor, .shared) { return true }
            System.pause(milliseconds: 10)
        }
        return false
    }
}
