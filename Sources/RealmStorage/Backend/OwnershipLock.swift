// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform
internal import Synchronization
internal import SystemPackage

/// Exclusive ownership of a Realm file, in a way that makes every SDK reject it at once instead of waiting.
///
/// SDKs hold a shared lock on `<path>.lock` while they have a file open, and the first of them prepares that file. The owner
/// holds a shared lock too, over a lock file whose layout version no SDK knows:
///
/// | offset | size | field |
/// |---|---|---|
/// | 0 | 1 | 1: prepared |
/// | 6 | 2 | layout version; 0xffff here |
/// | 64 | 16 | a random token of the owner |
///
/// An exclusive lock would keep others out as well, but they would wait for it for ever. A lock ends with its process, and the
/// lock file that remains is prepared again by the next program. Source: docs/format.md, "Lock file".
///
/// Other programs have files that end with `.lock`, too. A file that does not have the form of a
/// lock file of Realm is never written to.
package final class OwnershipLock: Sendable {
    /// The descriptor that holds the lock; negative after it was released.
    private let descriptor: Atomic<Int32>
    /// The path of the lock file, which is that of the Realm file followed by `.lock`.
    private let path: String
    /// Whether this object made the lock file, so that `discard` removes it.
    private let isNew: Bool

    /// The size in bytes of a lock file that this program writes.
    private static let byteCount = 4096
    /// The offset in the lock file of the owner's random token of 16 bytes.
    private static let tokenOffset = 64
    /// A layout version that no SDK knows, so that every one rejects the file at once.
    private static let layoutVersion: [UInt8] = [0xff, 0xff]
    /// The number of attempts while another program interferes.
    private static let attempts = 10

    /// Takes ownership of the Realm file at `path`. After an error nothing has changed.
    ///
    /// - Parameter path: The path without symbolic links; the file need not exist.
    /// - Throws: `.refused(.fileInUse)` when an SDK or another server has the file open,
    ///   `.refused(.unsuitable)` when the lock file cannot be used.
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

    /// Releases the ownership. Any thread may call it, and more than once.
    ///
    /// The lock file stays: removing it could take it away from a program that has just opened it.
    package func release() {
        let descriptor = descriptor.exchange(-1, ordering: .acquiringAndReleasing)
        if descriptor >= 0 { System.unlockAndClose(descriptor) }
    }

    /// Releases the ownership after a failed opening, and removes the lock file if it was made for that.
    ///
    /// A lock file that existed before stays, as every program leaves it.
    package func discard() {
        let descriptor = descriptor.exchange(-1, ordering: .acquiringAndReleasing)
        guard descriptor >= 0 else { return }
        if isNew { OwnershipLock.remove(path, descriptor) }
        System.unlockAndClose(descriptor)
    }

    /// Whether the lock file still has its name: without it another program could take a lock on a new lock file.
    var isNamed: Bool {
        let descriptor = descriptor.load(ordering: .acquiring)
        guard descriptor >= 0, let place = try? System.place(descriptor) else { return false }
        return place.linkCount > 0
    }

    /// Removes a lock file that this process has made and still holds, unless another program has
    /// locked it too or another file has its name.
    private static func remove(_ path: String, _ descriptor: Int32) {
        guard let here = System.identity(descriptor), System.entry(atPath: path, followsLink: false)?.identity == here,
            System.lockCount(on: here) <= 1
        else { return }
        System.remove(path)
    }

    /// The error for a file that another program has open.
    private static var inUse: StorageError {
        .refused(
            .fileInUse(
                "the file is open in another program, which uses it through the Realm SDK or serves it; mode 'follow' shows it while the other program writes, mode 'copy' serves a private copy"
            ))
    }

    // MARK: - Looking

    /// Throws what taking ownership of the file at `path` would throw, but changes nothing.
    ///
    /// Trial runs use it, as they must leave no trace. The result may be outdated by the time the file is opened.
    package static func check(ofFile path: String) throws(StorageError) {
        let lock = path + ".lock"
        guard System.entry(atPath: lock, followsLink: false) != nil else { return try System.requireWritableFolder(of: path) }
        let descriptor = try openExisting(lock)
        defer { System.close(descriptor) }
        guard let file = System.identity(descriptor), System.lockCount(on: file) == 0 else { throw inUse }
        try requireLockFile(descriptor)
    }

    /// Throws `.refused(.fileInUse)` when another program has the file at `path` open for writing, as far as that can be seen.
    package static func requireUnused(_ path: String) throws(StorageError) {
        if holders(ofFile: path) > 0 { throw inUse }
    }

    /// Returns how many programs hold the lock of the file at `path`.
    ///
    /// The locks that the system lists are counted. Locks of programs in other containers, or on other machines, may be missing
    /// from the list.
    package static func holders(ofFile path: String) -> Int {
        System.entry(atPath: path + ".lock", followsLink: false).map { System.lockCount(on: $0.identity) } ?? 0
    }

    // MARK: - Taking

    /// Returns the descriptor that holds the lock, and whether the lock file is new; nil when another program interfered.
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
            System.unlockAndClose(descriptor)
            throw error
        }
        System.unlockAndClose(descriptor)
        return nil
    }

    /// Makes the lock file; nil when another program made it first.
    private static func create(_ path: String) throws(StorageError) -> Int32? {
        do throws(StorageError) {
            return try System.createForWriting(path)
        } catch {
            guard error.errno == .fileExists else { throw error }
            return nil
        }
    }

    /// Opens a lock file; throws unless it is a regular file with one name.
    private static func openExisting(_ path: String) throws(StorageError) -> Int32 {
        guard let facts = System.entry(atPath: path, followsLink: false), facts.isRegular, facts.linkCount == 1 else {
            throw foreign
        }
        do throws(StorageError) {
            return try System.openRegular(path, writing: true, followsLink: false)
        } catch {
            guard case .refused(.unsuitable) = error else { throw error }
            throw .refused(.unsuitable("no permission to write the lock file next to the file"))
        }
    }

    /// The error for a file that ends with `.lock` and does not have the form of Realm's.
    private static var foreign: StorageError {
        .refused(.unsuitable("the file of the same name with '.lock' is not a lock file of Realm, and is not touched"))
    }

    /// Throws unless an open file has contents that SDKs or this program leave: none, zeros, or the fields that never change.
    private static func requireLockFile(_ descriptor: Int32) throws(StorageError) {
        let size = try System.regularFileSize(descriptor)
        guard size > 0 else { return }
        guard size <= 1 << 20 else { throw foreign }
        let bytes = try System.read(descriptor, at: 0, byteCount: size)
        guard bytes.count == size, isLockFile(bytes) else { throw foreign }
    }

    /// Returns whether bytes have the form of a lock file: byte 0 states whether it is prepared, 1
    /// and 2 are the sizes of two structures, 3 and 5 small numbers, 6 the version.
    private static func isLockFile(_ bytes: [UInt8]) -> Bool {
        if bytes.allSatisfy({ $0 == 0 }) { return bytes.count <= 16 << 10 }
        guard bytes.count >= 8, bytes[0] <= 1 else { return false }
        // A process that was killed while it prepared the file may have left the token alone.
        if bytes.count == byteCount, bytes[..<tokenOffset].allSatisfy({ $0 == 0 }) {
            return bytes[(tokenOffset + 16)...].allSatisfy { $0 == 0 }
        }
        if bytes[6] == 0xff, bytes[7] == 0xff {
            return bytes.count == byteCount && bytes[1..<6].allSatisfy { $0 == 0 }
                && bytes[8..<tokenOffset].allSatisfy { $0 == 0 }
                && bytes[(tokenOffset + 16)...].allSatisfy { $0 == 0 }
        }
        return bytes[1] > 0 && bytes[1] <= 128 && bytes[2] <= 128 && bytes[3] <= 1 && bytes[5] <= 8 && (1...64).contains(bytes[6])
            && bytes[7] == 0
    }

    /// Fills in the lock file and turns the lock into a shared one; returns false when another
    /// program prepared the file in the meantime.
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

    /// Tries for up to a second to take the shared lock: another program that holds an exclusive
    /// lock at that moment only tests the file and releases the lock soon.
    private static func share(_ descriptor: Int32) throws(StorageError) -> Bool {
        for _ in 0..<100 {
            if try System.lock(descriptor, .shared) { return true }
            System.pause(milliseconds: 10)
        }
        return false
    }
}
