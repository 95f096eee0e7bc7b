// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// A copy of a version in a new file, without free space, which can follow the original to later
/// versions before it is finished.
///
/// Writes to the original continue while its nodes are copied. A later version shares most of its nodes with the copied one, so
/// following it costs only what has changed since: the nodes that the later version added are written to the copy, and the space
/// of those that it discarded is reused. The copied version stays pinned, so none of its nodes is overwritten in the meantime.
///
/// One thread uses it at a time. Nothing is readable before `finish`.
///
/// `@unchecked Sendable`: it may be passed from thread to thread, but is used by one at a time.
package final class CompactCopy: @unchecked Sendable {
    /// The version that the copy has; it is kept, because it is compared with the next one.
    package private(set) var snapshot: Snapshot
    /// The file that gets the name of the original; nil for copies that get none.
    package let file: NewFile?
    let data: DataFile
    /// The free space of the new file.
    private var free = FreeSpace(logicalSize: FileHeader.byteCount)
    /// The roots of the copied version in the new file.
    private var names = Ref.none, tables = Ref.none
    /// Checked for every node, so that a copy can be cancelled.
    private let control: WorkControl?

    /// Copies all nodes of a version.
    ///
    /// - Parameters:
    ///   - snapshot: The version.
    ///   - data: The new file, which has an empty realm.
    ///   - file: The file of `data`, if it is to get a name.
    ///   - control: Gets the progress, and can cancel the copy.
    /// - Throws: `.refused(.formatNotWritable)` when the nodes are those of an older format, `.corrupt`
    ///   for damage, `.io` when the disk rejects a write.
    init(
        of snapshot: Snapshot, in data: DataFile, file: NewFile? = nil, _ control: WorkControl? = nil
    ) throws(StorageError) {
        self.snapshot = snapshot
        self.data = data
        self.file = file
        self.control = control
        guard !snapshot.top.tables.isNone else { return }
        guard snapshot.fileFormat == FileHeader.writtenFormat else {
            throw .refused(.formatNotWritable(found: snapshot.fileFormat))
        }
        try write(snapshot, AllNodes())
    }

    /// Changes the copy from the version that it has to a later one of the same file.
    ///
    /// - Parameter later: The later version.
    /// - Returns: About how many bytes were written.
    /// - Throws: As `init` does; the copy is of no use then.
    /// - Complexity: Linear in what has changed between the two versions.
    @discardableResult
    package func follow(_ later: Snapshot) throws(StorageError) -> Int {
        guard later.version != snapshot.version else { return 0 }
        guard !snapshot.top.tables.isNone else {
            snapshot = later
            return try write(later, AllNodes())
        }
        let added = AddedNodes(since: try UnusedSpace(of: snapshot))
        let shared = try added.sharedRoots(of: later)
        let found = try SharedNodes.find(
            shared, from: snapshot, names: names, tables: tables, in: space(of: JoinedValues()))
        free.usable = FreeSpace.merged(free.usable, try FreeSpace.joined(found.given))
        snapshot = later
        return try write(later, AddedNodes(since: added.unused, places: found.places))
    }

    /// Returns when everything that was written so far is durable.
    package func sync() throws(StorageError) { try data.sync() }

    /// Writes the free lists and the top node, cuts the file to its size, and returns when it is durable.
    package func finish() throws(StorageError) {
        guard !snapshot.top.tables.isNone else { return }
        let lists = TopWriter(version: snapshot.version, slotCount: 11)
        var allocator = SpaceAllocator(free, expected: 0, atEnd: lists.reserve(free, added: 64))
        allocator.trim(keeping: lists.reserve(allocator.free))
        data.setDisposable(free.isUnused)
        var writer = NodeWriter(snapshot.space, AllNodes(), allocator: allocator, output: NodeOutput(data))
        let top = try lists.write(&writer, names: names, tables: tables)
        try writer.output.flush()
        try data.write(top.littleEndianBytes, at: 0)
        try data.write([UInt8(FileHeader.writtenFormat)], at: 20)
        try data.sync()
        try data.backend.truncate(to: data.physicalByteCount(for: writer.allocator.free.logicalSize))
        try data.backend.sync(.full)
    }

    /// Writes the selected nodes of a version; returns about how many bytes they have.
    @discardableResult
    private func write<Selection: NodeSelection>(
        _ version: Snapshot, _ selection: Selection
    ) throws(StorageError) -> Int {
        let roots = [version.top.names, version.top.tables]
        let limit = Int(clamping: max(version.space.limit, UInt64(free.logicalSize)))
        let expected = try selection.expectedByteCount(roots, in: version.space, limit: limit)
        let lists = TopWriter(version: version.version, slotCount: 11)
        let allocator = SpaceAllocator(free, expected: expected, atEnd: lists.reserve(free, added: 64))
        data.setDisposable(free.isUnused)
        var writer = NodeWriter(version.space, selection, allocator: allocator, output: NodeOutput(data))
        writer.control = control
        names = try writer.write(roots[0])
        tables = try writer.write(roots[1])
        try writer.output.flush()
        free = writer.allocator.finish()
        return expected
    }

    /// Returns the nodes of the new file; the view is valid as long as this object and `joinedValues` are.
    private func space(of joinedValues: JoinedValues) -> NodeSpace {
        data.plain.space(limit: UInt64(free.logicalSize), joinedValues: joinedValues)
    }
}

/// Selects all nodes, which are written to another file.
struct AllNodes: NodeSelection {
    static var movesNodes: Bool { false }
    static var hasWideRefs: Bool { false }
    static var keepsWidths: Bool { true }

    @inline(__always) func isWritten(_ ref: UInt64) -> Bool { true }
    @inline(__always) func present(_ element: Int64) -> Int64 { element }
}
