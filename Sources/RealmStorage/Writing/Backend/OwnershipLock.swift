// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

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
/// and what is left of the file is prepared anew by whoever comes next. Source: docs/format.md, "Lock file".
package final class OwnershipLock: Sendable {
    /// Negative when it was released.
    private let descriptor: Atomic<Int32>

    private static let byteCount = 4096
    private static let tokenOffset = 64
    private static let layoutVersion: [UInt8] = [0xff, 0xff]
    private static let attempts = 10

    /// Takes ownership of the Realm file at `path`, which need not exist and has no symbolic links in it.
    ///
    /// Throws `.refused(.fileInUse)` when an SDK or another server has it open.
    package init(ofFile path: String) throws(StorageError) {
        for _ in 0..<OwnershipLock.attempts {
            if let descriptor = try OwnershipLock.attempt(path + ".lock") {
                self.descriptor = Atomic(descriptor)
                return
            }
        }
        throw OwnershipLock.inUse
    }

    deinit { release() }

    /// Gives the file up.
    package func release() {
        let descriptor = descriptor.exchange(-1, ordering: .acquiringAndReleasing)
        if descriptor >= 0 { System.close(descriptor) }
    }

    /// Whether the lock file still has its name: without it somebody else could take a lock beside this one.
    var isNamed: Bool {
        let descriptor = descriptor.load(ordering: .acquiring)
        guard descriptor >= 0, let facts = try? System.facts(descriptor) else { return false }
        return facts.linkCount > 0
    }

    private static var inUse: StorageError {
        .refused(.fileInUse("the file is open in another program, which uses it through the Realm SDK or serves it"))
    }

    /// The descriptor that holds the lock; nil when somebody came in between.
    private static func attempt(_ path: String) throws(StorageError) -> Int32? {
        let descriptor = try System.openLockFile(path)
        do throws(StorageError) {
            guard try System.lock(descriptor, .exclusive) else { throw inUse }
            if System.identity(descriptor) == System.identity(path: path), try prepare(descriptor) { return descriptor }
        } catch {
            System.close(descriptor)
            throw error
        }
        System.close(descriptor)
        return nil
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
