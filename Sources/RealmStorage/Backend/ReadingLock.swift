// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// Shows other servers that this process serves a file for reading only, so that none of them deletes it.
///
/// It is a shared lock on the Realm file itself, which SDKs never lock. Their lock file is not touched: a
/// lock on it would keep them from opening the file. A lock ends with its process.
package final class ReadingLock: Sendable {
    /// The descriptor that holds the lock, which is used for nothing else.
    private let descriptor: Int32

    /// Locks a file that is open for reading.
    ///
    /// Without locks, as on some file systems, the file can be served all the same: this returns nil then, and
    /// when the path does not lead to the file any more.
    ///
    /// - Parameters:
    ///   - path: The path of the file, without symbolic links.
    ///   - identity: The file that was opened.
    package init?(path: String, of identity: System.FileIdentity) {
        guard let descriptor = try? System.openRegular(path, isExact: true) else { return nil }
        guard System.identity(descriptor) == identity, (try? System.lock(descriptor, .shared)) == true else {
            System.unlockAndClose(descriptor)
            return nil
        }
        self.descriptor = descriptor
    }

    deinit { System.unlockAndClose(descriptor) }

    /// Returns how many programs serve the file at `path` for reading only, of those whose locks the system lists.
    package static func holders(ofFile path: String) -> Int {
        System.entry(atPath: path, followsLink: false).map { System.lockCount(on: $0.identity) } ?? 0
    }
}
