// SPDX-License-Identifier: Apache-2.0

/// An exclusive lock among processes, held through a file of its own until this object is released.
///
/// Programs that replace a file take one before they read it, so that none of them loses the change of another. The lock ends
/// with its process, and the file of the lock stays.
package final class WaitingLock: Sendable {
    /// The descriptor that holds the lock.
    private let descriptor: Int32
    /// The milliseconds between two attempts.
    private static let pauseMilliseconds: UInt32 = 10

    /// Takes the lock, and waits while another program has it.
    ///
    /// - Parameters:
    ///   - path: The path of the file of the lock, which is made if there is none.
    ///   - seconds: The timeout.
    /// - Throws: `.refused` when another program holds the lock for longer, and the error of a file that cannot
    ///   be opened or made.
    package init(at path: String, seconds: Double = 10) throws(StorageError) {
        let descriptor = try WaitingLock.open(path)
        let end = Instant.now().adding(seconds: seconds)
        do throws(StorageError) {
            while try !System.lock(descriptor, .exclusive) {
                guard Instant.now() < end else { throw .refused(.unsuitable("\(path) is locked by another program")) }
                System.pause(milliseconds: WaitingLock.pauseMilliseconds)
            }
        } catch {
            System.close(descriptor)
            throw error
        }
        self.descriptor = descriptor
    }

    deinit { System.unlockAndClose(descriptor) }

    /// Opens the file of the lock, or makes it.
    private static func open(_ path: String) throws(StorageError) -> Int32 {
        if let descriptor = try System.openForWriting(path) { return descriptor }
        do throws(StorageError) {
            return try System.createForWriting(path)
        } catch {
            // Another program may have made it meanwhile.
            guard let descriptor = try System.openForWriting(path) else { throw error }
            return descriptor
        }
    }
}
