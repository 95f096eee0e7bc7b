// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The file of the audit log, used by its writing thread alone.
///
/// Whole lines are added to its end. A write that fails in the middle is undone, so the file always consists of lines. The rest
/// of a line after a crash is removed when the file is opened.
struct AuditFile: Sendable {
    private(set) var path: String
    /// The open file.
    private var descriptor: Int32
    /// Which file that is, to notice when another one has its name.
    private var identity: System.FileIdentity?
    /// The length that the file is to have before anything is added: a failed write has left more, which could not be removed.
    private var wantedByteCount: Int?
    /// Whether something was written that is not on the disk for certain.
    private var isDirty = false
    /// The time at which the file was synced, or opened.
    private var syncedAt = Instant.now()
    /// The reason why the file was not renamed although it is long enough; nil while that works.
    private(set) var rotationFailure: String?
    /// The bytes of an unfinished line that were removed when the file was opened.
    private(set) var removedByteCount = 0

    /// The seconds after which written lines are synced.
    static let syncSeconds = 0.5
    /// The number of bytes that are written at a time.
    static let pieceLimit = 1 << 20
    /// The beginning of every line.
    static let lineStart = Array("{\"time\":\"".utf8)

    /// Opens a file, or makes it with access for its owner only.
    ///
    /// - Throws: `.refused` for a file that is no audit log, or that may not be written; `.io` otherwise.
    init(path: String) throws(StorageError) {
        self.path = path
        descriptor = try System.openForAppending(path)
        do throws(StorageError) {
            removedByteCount = try AuditFile.mend(descriptor)
        } catch {
            System.close(descriptor)
            throw error
        }
        identity = System.entry(descriptor)?.identity
    }

    func close() { System.close(descriptor) }

    // MARK: - Opening

    /// Removes the unfinished line that a crash has left at the end of a file.
    ///
    /// - Returns: The number of bytes that were removed.
    private static func mend(_ descriptor: Int32) throws(StorageError) -> Int {
        let byteCount = try System.regularFileSize(descriptor)
        let start = try System.read(descriptor, at: 0, byteCount: min(byteCount, lineStart.count))
        guard lineStart.starts(with: start) else {
            // Nothing of another file is lost because its path was stated by mistake.
            throw .refused(.unsuitable("the file is not an audit log"))
        }
        var end = byteCount
        while end > 0 {
            let begin = max(0, end - (64 << 10))
            let block = try System.read(descriptor, at: begin, byteCount: end - begin)
            if let index = block.lastIndex(of: UInt8(ascii: "\n")) {
                end = begin + index + 1
                break
            }
            end = begin
        }
        if end < byteCount { try System.truncate(descriptor, to: end) }
        return byteCount - end
    }

    /// Opens the file of a path in the place of this one.
    private mutating func reopen(_ path: String) throws(StorageError) {
        let next = try AuditFile(path: path)
        close()
        self = next
    }

    // MARK: - Writing

    /// Reopens the file if the path has another one: it may have been renamed or removed.
    ///
    /// - Parameters:
    ///   - path: The path, which may have changed.
    ///   - isDemanded: Whether the file is opened again in any case.
    mutating func take(_ path: String, isDemanded: Bool) throws(StorageError) {
        guard isDemanded || path != self.path || identity == nil || System.entry(atPath: path)?.identity != identity else {
            return
        }
        // The file that is closed keeps its lines, except those that will be written again.
        if let byteCount = wantedByteCount { try? System.truncate(descriptor, to: byteCount) }
        if isDirty { try? System.sync(descriptor, dataOnly: false) }
        try reopen(path)
    }

    /// Adds lines, and removes the added ones from `lines`.
    ///
    /// - Parameters:
    ///   - lines: Whole lines.
    ///   - options: The size from which on a new file begins.
    mutating func add(_ lines: inout ArraySlice<UInt8>, _ options: AuditOptions) throws(StorageError) {
        while !lines.isEmpty {
            let piece = AuditFile.piece(of: lines, options)
            if try needsRotation(piece.count, options) { rotate(keeping: options.keptCount) }
            try add(piece)
            lines = lines[piece.endIndex...]
        }
    }

    /// Returns the first lines, as many as are written at a time: at least one, and not more than a file is to have.
    private static func piece(of lines: ArraySlice<UInt8>, _ options: AuditOptions) -> ArraySlice<UInt8> {
        let limit = options.rotationBytes > 0 ? min(pieceLimit, options.rotationBytes) : pieceLimit
        guard lines.count > limit else { return lines }
        let newLine = UInt8(ascii: "\n")
        let end = lines.prefix(limit).lastIndex(of: newLine) ?? lines.firstIndex(of: newLine)
        return end.map { lines[...$0] } ?? lines
    }

    /// Adds some lines as a whole, or nothing.
    private mutating func add(_ piece: ArraySlice<UInt8>) throws(StorageError) {
        if let byteCount = wantedByteCount {
            try System.truncate(descriptor, to: byteCount)
            wantedByteCount = nil
        }
        let before = try System.regularFileSize(descriptor)
        do throws(StorageError) {
            try System.write(descriptor, Array(piece))
            isDirty = true
        } catch {
            // The system may have taken a part, which would be there twice after the next attempt.
            wantedByteCount = before
            if (try? System.truncate(descriptor, to: before)) != nil { wantedByteCount = nil }
            throw error
        }
    }

    /// Syncs written lines to the disk, if the last time was a while ago.
    ///
    /// - Parameter isLast: Whether no lines follow, so that it syncs now.
    mutating func sync(isLast: Bool) throws(StorageError) {
        let now = Instant.now()
        guard isDirty, isLast || now.seconds(since: syncedAt) >= AuditFile.syncSeconds else { return }
        try System.sync(descriptor, dataOnly: false)
        isDirty = false
        syncedAt = Instant.now()
    }

    // MARK: - Rotation

    /// Returns whether the file would be longer than it may be. One without lines is never replaced.
    private func needsRotation(_ byteCount: Int, _ options: AuditOptions) throws(StorageError) -> Bool {
        guard options.rotationBytes > 0 else { return false }
        let present = try System.regularFileSize(descriptor)
        return present > 0 && present + byteCount > options.rotationBytes
    }

    /// Renames the file to `FILE.1` and earlier ones to higher numbers, and begins a new one.
    ///
    /// When that fails the file keeps growing, since no lines may be lost.
    private mutating func rotate(keeping count: Int) {
        do throws(StorageError) {
            try System.sync(descriptor, dataOnly: false)
            isDirty = false
            var taken = 0
            while taken < count, exists(taken + 1) { taken += 1 }
            for number in stride(from: min(taken, count - 1), through: 1, by: -1) {
                try System.rename(numbered(number), to: numbered(number + 1))
            }
            try System.rename(path, to: numbered(1))
            try reopen(path)
            try System.syncFolder(of: path)
            var excess = count + 1
            while exists(excess) {
                try System.delete(numbered(excess))
                excess += 1
            }
            rotationFailure = nil
        } catch {
            rotationFailure = "\(error)"
        }
    }

    /// The path of an earlier file.
    private func numbered(_ number: Int) -> String { path + ".\(number)" }

    /// Whether there is an earlier file of a number.
    private func exists(_ number: Int) -> Bool { System.entry(atPath: numbered(number), followsLink: false) != nil }
}
