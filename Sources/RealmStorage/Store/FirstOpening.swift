// SPDX-License-Identifier: Apache-2.0

/// What has to be done with a file before the first commit to it: checks first, then repairs, each safe against crashes.
///
/// - An empty file becomes an empty realm.
/// - Streaming form, whose top ref is at the end of the file, is left, because the file is going to grow.
/// - What a crash or an SDK's shrinking left after the logical end is cut off.
///
/// Nothing is changed in a file that is refused. Source: docs/format.md, "Opening for writing".
enum FirstOpening {
    /// Which files are looked through here.
    enum Audit {
        /// None.
        case never
        /// Those whose logical size is not greater, and those in which something has to be changed.
        case upTo(byteCount: UInt64)

        /// Which files the options want looked through.
        init(_ options: FileStore.Options) {
            switch options.verification {
            case .off: self = .never
            case .always: self = .upTo(byteCount: .max)
            case .auto: self = .upTo(byteCount: UInt64(clamping: options.smallFileBytes))
            }
        }
    }

    /// Opens the bytes of `backend`, which are owned by an `OwnershipLock` or unknown to other processes.
    ///
    /// `willConvert` is called before anything is changed in a file of an older format. `isChecked` is false when the file
    /// has to be looked through before it is written to.
    static func open(
        _ backend: any StorageBackend, key: EncryptionKey?, converting: FileStore.Conversions = [], _ audit: Audit = .never,
        willConvert: ((_ format: Int) throws(StorageError) -> Void)? = nil
    ) throws(StorageError) -> (data: DataFile, isChecked: Bool) {
        if backend.byteCount == 0 { try writeEmpty(backend, key) }
        var data = try DataFile(backend, key: key)
        let header = try data.plain.header()
        let top = try requireWritable(data, header, converting)
        let isChecked = try check(data, header, top, by: audit)
        if header.isOutdated { try willConvert?(header.fileFormat) }
        if header.isStreaming {
            try leaveStreamingForm(data, header)
            data = try DataFile(backend, key: key)
        }
        return (try fitted(data, to: wantedByteCount(top), key), isChecked)
    }

    /// How long the plain file has to be.
    private static func wantedByteCount(_ top: TopNode) -> Int {
        top.ref.isNone ? FileHeader.byteCount : Int(clamping: top.logicalSize)
    }

    // MARK: - Checks

    /// Far more commits than can ever be made, and far less than what fits a slot of the top node.
    private static let maximumVersion: UInt64 = 1 << 56

    /// The top node, if this program may write to the file.
    private static func requireWritable(
        _ data: DataFile, _ header: FileHeader, _ converting: FileStore.Conversions
    ) throws(StorageError) -> TopNode {
        guard !header.isOutdated || converting.contains(.olderFormats) else {
            throw .refused(.formatNotWritable(found: header.fileFormat))
        }
        let joinedValues = JoinedValues()
        return try withExtendedLifetime(joinedValues) { () throws(StorageError) -> TopNode in
            let space = data.plain.space(limit: UInt64(data.plainByteCount), joinedValues: joinedValues)
            let top = try TopNode.read(header.topRef, space)
            guard top.version < maximumVersion else {
                throw .corrupt(ref: top.ref, reason: "version \(top.version) is no number of commits")
            }
            try checkHistory(top, converting)
            do throws(StorageError) {
                _ = try FreeSpace(top, space)
            } catch {
                throw .refused(.unsound("\(error)"))
            }
            return top
        }
    }

    /// Looks the file through unless that may be done later. False then.
    private static func check(
        _ data: DataFile, _ header: FileHeader, _ top: TopNode, by audit: Audit
    ) throws(StorageError) -> Bool {
        guard case .upTo(let byteCount) = audit else { return true }
        let isLonger = data.plainByteCount > ReservedMemory.wholePages(wantedByteCount(top))
        guard top.logicalSize <= byteCount || isLonger || header.isStreaming || header.isOutdated else { return false }
        let joinedValues = JoinedValues()
        return try withExtendedLifetime(joinedValues) { () throws(StorageError) -> Bool in
            var audit = try SpaceAudit(top, data.plain.space(limit: top.logicalSize, joinedValues: joinedValues))
            return try audit.run()
        }
    }

    /// Throws `.refused` for a history that this program cannot continue.
    private static func checkHistory(_ top: TopNode, _ converting: FileStore.Conversions) throws(StorageError) {
        switch TopNode.HistoryType(rawValue: top.historyType) {
        case .none?: return
        case .inFile?:
            guard top.historySchemaVersion <= TopNode.writtenHistorySchema else {
                throw .refused(.unsuitable("the history of the file has layout \(top.historySchemaVersion), which is unknown"))
            }
        case .syncClient?, .syncServer?:
            guard converting.contains(.synchronized) else { throw .refused(.synchronized) }
        case .obsolete?, nil:
            throw .refused(.unsuitable("the history of the file is of type \(top.historyType), which is unknown"))
        }
    }

    // MARK: - Repairs

    /// A header without any version; one write, so that there is all of it or a file of 0 bytes.
    static func writeEmpty(_ backend: any StorageBackend, _ key: EncryptionKey?) throws(StorageError) {
        var page = [UInt8](repeating: 0, count: FileHeader.byteCount)
        page.replaceSubrange(16..<20, with: FileHeader.signature)
        if let key {
            try writeEncrypted(page, backend, key)
        } else {
            try backend.extend(to: page.count)
            try ByteView.withBytes(of: page) { view throws(StorageError) in try backend.write(view, at: 0) }
        }
        try backend.sync(.full)
    }

    /// Writes the first page of an encrypted file, with its entry.
    private static func writeEncrypted(
        _ header: [UInt8], _ backend: any StorageBackend, _ key: EncryptionKey
    ) throws(StorageError) {
        try backend.extend(to: EncryptionLayout.fileByteCount(plainPageCount: 1))
        let plain = header + [UInt8](repeating: 0, count: EncryptionLayout.pageByteCount - header.count)
        var sealed = [UInt8](repeating: 0, count: EncryptionLayout.pageByteCount)
        let stamp = try unsafe PageCipher(key).seal(page: 0, counter: 1, from: plain, to: &sealed)
        for (bytes, offset) in [
            (PageEntry(newest: stamp, previous: .none).bytes, EncryptionLayout.entryOffset(0)),
            (sealed, EncryptionLayout.pageOffset(0)),
        ] {
            try ByteView.withBytes(of: bytes) { view throws(StorageError) in try backend.write(view, at: offset) }
        }
    }

    /// Puts the top ref into slot 1, then selects it. Slot 0 keeps its mark until the next commit.
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
