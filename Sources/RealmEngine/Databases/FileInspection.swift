// SPDX-License-Identifier: Apache-2.0

internal import RealmLegacy
package import RealmPlatform
package import RealmStorage

/// A quick description of a file: its kind, contents and outlook.
///
/// It needs no server and mostly no key, and describes files that cannot be opened as well. The file is opened for reading only;
/// nothing is locked, created or changed. The roots of tables state the numbers of objects, so the size of the file does not matter.
package struct FileInspection: Sendable {
    /// The facts in the first bytes.
    package let glance: FileGlance
    /// The contents of the newest version; nil when it cannot be read.
    package let contents: Contents?
    /// The reason why the contents cannot be read; nil when they can.
    package let failure: StorageError?
    /// The way in which a server would open the file.
    package private(set) var outlook: FileOutlook

    /// The contents of the newest version of a file.
    package struct Contents: Sendable {
        /// All tables in the order of the file.
        package let tables: [Table]
        /// The schema version; nil when the file has none.
        package let schemaVersion: UInt64?
        /// The number of the version; nil when the file does not state it.
        package let version: UInt64?
        /// The number of the kind of history; see `TopNode.HistoryType`.
        package let historyType: Int
        /// The number of bytes in use, before encryption.
        package let usedBytes: Int
        /// The number of bytes of the file that are not in use.
        package let freeBytes: Int
    }

    package struct Table: Sendable {
        /// The name in the file, whose bytes need not be UTF-8 in old formats.
        package let name: String
        /// The name of the class; nil for a table of the SDK.
        package let className: String?
        /// The role of its objects.
        package let kind: TableKind
        /// The number of objects or rows that its root states.
        package let count: Int
        package let propertyCount: Int
    }

    /// Looks at a file that a server would open without a mode.
    ///
    /// - Parameters:
    ///   - key: The key of an encrypted file; nil when it is not known.
    /// - Throws: As `init(path:_:)`.
    package init(path: String, key: EncryptionKey? = nil) throws(StorageError) {
        try self.init(path: path, Database.OpenOptions(key: key))
    }

    /// Looks at the file of a realm.
    ///
    /// - Parameters:
    ///   - options: How the realm is opened.
    /// - Throws: `.refused` when there is no such file, it is no regular one, or may not be read; `.io` when the disk fails.
    ///   Damage to its bytes becomes `failure`.
    package init(path: String, _ options: Database.OpenOptions) throws(StorageError) {
        let place = options.isExactPath ? path : try System.resolved(path)
        var before = try? System.facts(path: place)
        var file = try FileInspection(at: place, options)
        // A file that another program is writing looks damaged.
        for _ in 0..<FileInspection.repetitions where file.failure != nil {
            let after = try? System.facts(path: place)
            guard after != before else { break }
            before = after
            file = try FileInspection(at: place, options)
        }
        self = file
    }

    /// The number of retries for a file that another program changed during the inspection.
    private static let repetitions = 3

    /// Looks at a file once.
    private init(at path: String, _ options: Database.OpenOptions) throws(StorageError) {
        glance = try FileGlance(path: path, key: options.key, isExact: true)
        do throws(StorageError) {
            (contents, outlook) = try FileInspection.read(path, glance, options)
            failure = nil
        } catch {
            if case .io = error { throw error }
            let reason = FileInspection.reason(error, glance.encryption)
            (contents, failure, outlook) = (nil, reason, .refused(reason))
        }
    }

    /// Returns an error about the key that fits the facts in the first bytes; other errors unchanged.
    private static func reason(_ error: StorageError, _ encryption: FileGlance.Encryption) -> StorageError {
        switch (error, encryption) {
        case (.refused(.encryptionKeyRequired), .encrypted):
            return .refused(.encryptionKeyRequired("the file is encrypted, and no key was given"))
        case (.refused(.encryptionKeyWrong), .encrypted):
            return .refused(.encryptionKeyWrong("the key does not fit the file, or the first page of the file is damaged"))
        case (.refused(.encryptionKeyWrong), .plain):
            return .refused(.encryptionKeyWrong("the file is not encrypted; it opens without a key"))
        default: return error
        }
    }

    /// Changes the outlook to that of a server that is for reading only.
    package mutating func restrictToReading() { outlook = outlook.onlyReading }

    /// Whether the file is a Realm file; nil when it could also be an encrypted one.
    package var isRealm: Bool? {
        if glance.format != nil || glance.encryption == .encrypted { return true }
        guard case .refused(.notARealm)? = failure else { return nil }
        return false
    }

    /// Whether the file is encrypted; nil when that is unknown.
    package var isEncrypted: Bool? { glance.encryption == .unknown ? nil : glance.encryption == .encrypted }

    /// Reads the contents in the way that the format needs.
    private static func read(
        _ path: String, _ glance: FileGlance, _ options: Database.OpenOptions
    ) throws(StorageError) -> (Contents, FileOutlook) {
        if let format = glance.format, FileFormat.treatment(of: format) == .converted {
            let old = try LegacyFile(path: path, key: options.key, isExact: true, countsRows: false)
            let contents = try Contents(old)
            try old.file.requireWhole()
            return (contents, FileOutlook.ofOpening(old, at: path, options))
        }
        let snapshot = try Snapshot(file: try RealmFile(path: path, key: options.key, isExact: true))
        let contents = try Contents(snapshot)
        try snapshot.file.requireWhole()
        return (contents, FileOutlook.ofOpening(snapshot, at: path, options))
    }
}

extension FileInspection.Contents {
    /// Describes a file of formats 2 to 9.
    fileprivate init(_ file: LegacyFile) throws(StorageError) {
        tables = file.tables.map { table in
            FileInspection.Table(
                name: String(decoding: table.name, as: UTF8.self),
                className: table.className.map { String(decoding: $0, as: UTF8.self) }, kind: .topLevel, count: table.rowCount,
                propertyCount: table.spec.publicCount)
        }
        schemaVersion = try file.schemaVersion()
        version = file.top?.statedVersion
        historyType = file.top?.historyType ?? 0
        usedBytes = try file.usedByteCount()
        freeBytes = max(0, file.file.plainByteCount - usedBytes)
    }

    /// Describes a file of formats 10 and later.
    fileprivate init(_ snapshot: Snapshot) throws(StorageError) {
        tables = snapshot.tables.map { table in
            FileInspection.Table(
                name: table.name, className: table.className, kind: table.kind, count: table.count,
                propertyCount: table.columns.count)
        }
        let top = snapshot.top
        schemaVersion = snapshot.schemaVersion
        version = top.statedVersion
        historyType = top.historyType
        let used = top.ref.isNone ? FileHeader.byteCount : try top.usedByteCount(in: snapshot.space)
        usedBytes = used
        freeBytes = max(0, snapshot.file.plainByteCount - used)
    }
}
