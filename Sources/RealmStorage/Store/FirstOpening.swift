// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The steps before the first commit to a file: checks first, then repairs, each safe against crashes.
///
/// - An empty file becomes an empty realm.
/// - Streaming form, whose top ref is at the end of the file, is replaced by normal form, because
///   the file is going to grow.
/// - Bytes after the logical end, left by a crash or by an SDK that shrinks the file, are cut off.
///
/// Nothing is changed in a file that is rejected. Source: docs/format.md, "Opening for writing".
enum FirstOpening {
    /// The files that are audited while they are opened.
    enum Audit {
        /// No file is audited while it is opened.
        case never
        /// Files of at most this logical size, and those in which something has to be changed.
        case upTo(byteCount: UInt64)

        /// Derives the choice of files from the options of the store.
        init(_ options: FileStore.Options) {
            switch options.verification {
            case .off: self = .never
            case .always: self = .upTo(byteCount: .max)
            case .auto: self = .upTo(byteCount: UInt64(clamping: options.smallFileBytes))
            }
        }
    }

    /// Findings in a file, valid as long as it has the same version.
    struct Findings {
        /// Where the top node of the newest version is.
        let top: Ref
        let version: UInt64
        /// The number of bytes that it needs.
        let logicalSize: UInt64
        /// The length of the file without its page tables.
        let plainByteCount: Int
        /// Whether the file may be written to without another audit.
        fileprivate(set) var isChecked = false

        /// Describes an open file and its newest version, before an audit.
        fileprivate init(_ data: DataFile, _ top: TopNode) {
            self.top = top.ref
            version = top.version
            logicalSize = top.logicalSize
            plainByteCount = data.plainByteCount
        }

        /// Returns whether both were found in the same version.
        fileprivate func isSameVersion(as other: Findings) -> Bool {
            (top, version, logicalSize, plainByteCount)
                == (other.top, other.version, other.logicalSize, other.plainByteCount)
        }
    }

    /// Opens the bytes of `backend`, which are owned through an `OwnershipLock` or unknown to other processes.
    ///
    /// - Parameters:
    ///   - backend: The bytes.
    ///   - converting: The conversions that are allowed.
    ///   - audit: Which files are audited.
    ///   - control: Can cancel the audit, before anything is changed.
    ///   - known: The findings in the file before it was owned. The audit is not repeated if the file has not changed since; nil
    ///     when it was not looked at.
    ///   - willConvert: Called before anything is changed in a file of an older format; its errors
    ///     end the opening.
    /// - Returns: The file in its repaired form, and what was found before that.
    static func open(
        _ backend: any StorageBackend, key: EncryptionKey?, converting: FileStore.Conversions = [], _ audit: Audit = .never,
        _ control: WorkControl? = nil, after known: Findings? = nil,
        willConvert: ((_ format: Int) throws(StorageError) -> Void)? = nil
    ) throws(StorageError) -> (data: DataFile, findings: Findings) {
        if backend.byteCount == 0 { try EmptyFile.write(backend, key) }
        var data = try DataFile(backend, key: key)
        let header = try data.plain.header()
        let top = try requireWritable(data, header, converting)
        var findings = Findings(data, top)
        if let known, known.isSameVersion(as: findings) {
            findings.isChecked = known.isChecked
        } else {
            findings.isChecked = try check(data, header, top, by: audit, control)
        }
        if header.isOutdated { try willConvert?(header.fileFormat) }
        if header.isStreaming {
            try leaveStreamingForm(data, header)
            data = try DataFile(backend, key: key)
        }
        return (try fitted(data, to: wantedByteCount(top), key), findings)
    }

    /// Returns the length in bytes that the plain file must have at least.
    private static func wantedByteCount(_ top: TopNode) -> Int {
        top.ref.isNone ? FileHeader.byteCount : Int(clamping: top.logicalSize)
    }

    // MARK: - Checks

    /// The greatest version number that is accepted: far more commits than can ever be made, and
    /// far less than what fits into a slot of the top node.
    private static let maximumVersion: UInt64 = 1 << 56

    /// Returns the top node, after checking that this program may write to the file.
    ///
    /// - Throws: `.refused` for an older format, a foreign history or unsound free lists;
    ///   `.corrupt` for damage.
    private static func requireWritable(
        _ data: DataFile, _ header: FileHeader, _ converting: FileStore.Conversions
    ) throws(StorageError) -> TopNode {
        let joinedValues = JoinedValues()
        return try withExtendedLifetime(joinedValues) { () throws(StorageError) -> TopNode in
            let space = data.plain.space(limit: UInt64(data.plainByteCount), joinedValues: joinedValues)
            let top = try TopNode.read(header.topRef, space)
            guard top.version < maximumVersion else {
                throw .corrupt(ref: top.ref, reason: "version \(top.version) is not a number of commits")
            }
            // The reason that stays comes first: an upgrade would not change it.
            try top.requireWritableHistory(isDropped: converting.contains(.foreignHistories))
            guard !header.isOutdated || converting.contains(.olderFormats) else {
                throw .refused(.formatNotWritable(found: header.fileFormat))
            }
            do throws(StorageError) {
                _ = try FreeSpace(top, space)
            } catch {
                throw .refused(.unsound("\(error)"))
            }
            return top
        }
    }

    /// Audits the file unless that may be done later, and returns whether it may be written to.
    private static func check(
        _ data: DataFile, _ header: FileHeader, _ top: TopNode, by audit: Audit, _ control: WorkControl?
    ) throws(StorageError) -> Bool {
        guard case .upTo(let byteCount) = audit else { return true }
        let isLonger = data.plainByteCount > ReservedMemory.wholePages(wantedByteCount(top))
        guard top.logicalSize <= byteCount || isLonger || header.isStreaming || header.isOutdated else { return false }
        let joinedValues = JoinedValues()
        return try withExtendedLifetime(joinedValues) { () throws(StorageError) -> Bool in
            var audit = try SpaceAudit(top, data.plain.space(limit: top.logicalSize, joinedValues: joinedValues))
            let isComplete = try audit.run { control?.continues ?? true }
            if !isComplete { try control?.check() }
            return isComplete
        }
    }

    // MARK: - Repairs

    /// Replaces streaming form by normal form: stores the top ref in slot 1, then selects that
    /// slot. Slot 0 keeps the mark of streaming form until the next commit.
    private static func leaveStreamingForm(_ data: DataFile, _ header: FileHeader) throws(StorageError) {
        let bytes = try data.plain.view(at: 0, byteCount: FileHeader.byteCount).array
        try data.write(header.topRef.littleEndianBytes, at: 8)
        try data.write([bytes[20]], at: 21)
        try data.sync()
        try data.write([bytes[23] | 1], at: 23)
        try data.sync()
    }

    /// Makes the file as long as its logical size, in whole pages.
    private static func fitted(_ data: DataFile, to logicalSize: Int, _ key: EncryptionKey?) throws(StorageError) -> DataFile {
        let wanted = (logicalSize + DataFile.pageByteCount - 1) / DataFile.pageByteCount * DataFile.pageByteCount
        guard data.plainByteCount > wanted else {
            try data.extend(to: wanted)
            return data
        }
        let backend = data.backend
        try backend.truncate(to: data.physicalByteCount(for: logicalSize))
        return try DataFile(backend, key: key)
    }
}
