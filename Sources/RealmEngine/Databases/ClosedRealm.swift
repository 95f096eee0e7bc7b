// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform
package import RealmStorage

/// A realm that is known but not open: a file of the data folder that was not requested yet, or a realm that was closed when
/// idle. The next request opens it.
package final class ClosedRealm: Sendable {
    /// The name under which it is served.
    package let name: RealmName
    /// The path of its file, as it is opened.
    package let path: String
    /// Whether the data folder lists it, so that it is gone when its file is.
    package let isListed: Bool
    private let options: @Sendable () throws(StorageError) -> Database.OpenOptions
    /// The state when it was closed; nil when it was not open before.
    package let former: Former?

    /// The state of a closed realm, kept so that clients notice no reopening unless another program wrote to its file.
    package struct Former: Sendable {
        /// The name of the opening, which the next one takes over.
        package let epoch: Epoch
        /// The number of the newest version.
        package let version: UInt64
        /// The state of the file after it was closed; nil when that could not be read.
        let state: FileState?
        /// The outcomes of asynchronous writes.
        let asyncWrites: AsyncWrites
    }

    /// Makes a realm of the data folder that was not open before.
    ///
    /// - Parameters:
    ///   - name: The name under which it is served.
    ///   - path: The path of its file.
    ///   - options: Makes the options with which it is opened; it may read a key.
    package init(
        listed name: RealmName, path: String,
        _ options: @escaping @Sendable () throws(StorageError) -> Database.OpenOptions
    ) {
        self.name = name
        self.path = path
        self.options = options
        isListed = true
        former = nil
    }

    /// Makes a realm that an earlier server has attached.
    ///
    /// - Parameters:
    ///   - name: The name under which it is served.
    ///   - path: The path of its file.
    package init(attached name: RealmName, path: String, _ options: Database.OpenOptions) {
        self.name = name
        self.path = path
        self.options = { options }
        isListed = false
        former = nil
    }

    /// Makes what is left of a realm that was open.
    ///
    /// - Parameters:
    ///   - source: Its file and how it was opened.
    ///   - isListed: Whether the data folder lists it.
    ///   - state: The state of the file after it was closed.
    package init(_ database: Database, _ source: Database.Source, isListed: Bool, state: FileState?) {
        name = database.name
        path = source.path
        self.isListed = isListed
        let options = source.options.forReopening
        self.options = { options }
        former = Former(
            epoch: database.epoch, version: database.current.token.version, state: state, asyncWrites: database.asyncWrites)
    }

    /// The size of the file in bytes; nil when there is none.
    package var byteCount: Int? { System.entry(atPath: path)?.byteCount }

    /// Returns the options with which it is opened. They contain what was known before if the file is still the same.
    ///
    /// - Throws: `StorageError` when its key cannot be read.
    package func openOptions() throws(StorageError) -> Database.OpenOptions {
        var options = try options()
        if let former, let state = former.state, state == (try? FileState(path: path)) { options.former = former }
        return options
    }

    /// The key of the file, as far as it is known.
    package var key: EncryptionKey? { try? options().key }
}

extension Database.OpenOptions {
    /// The options for opening a file again: a missing file is not made, and no progress is reported.
    package var forReopening: Database.OpenOptions {
        var options = self
        options.createsMissingFile = false
        options.compaction = nil
        options.requiresNames = true
        options.control = nil
        options.former = nil
        options.replication = nil
        options.beginsHistory = false
        return options
    }
}
