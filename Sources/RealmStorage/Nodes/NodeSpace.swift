// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// The bytes of one version of a file, and the only way from a `Ref` to a `Node`.
///
/// `node(at:)` checks alignment, header, width and size, and that the payload lies inside the logical file, so a node that was
/// returned is safe to read. In an encrypted file it also has the pages with the node decrypted.
///
/// A space is a plain view without reference counting, because every leaf and tree view carries a
/// copy of it. It borrows from the `Snapshot` that made it, which keeps mapping and pages alive.
///
/// `@unchecked Sendable`: the bytes of a version never change; `LazyPlainPages` guards itself.
@safe package struct NodeSpace: @unchecked Sendable {
    /// The first byte of the plain file in memory.
    @usableFromInline let base: UnsafeRawPointer
    /// The logical file size in bytes: every node ends at or before it.
    package let limit: UInt64
    /// The pages of an encrypted file, which are decrypted before they are read; nil for a plain file.
    @usableFromInline let pages: Unmanaged<LazyPlainPages>?
    /// Values that are split over several nodes, joined once per snapshot.
    private let joinedValues: Unmanaged<JoinedValues>
    /// The new nodes, when this is the space of a write transaction; nil otherwise.
    @usableFromInline let arena: Unmanaged<NodeArena>?
    /// Hides links, when this is the space of a view that does not show all objects; nil otherwise.
    private let filter: Unmanaged<LinkFilter>?

    /// Makes a space of the first `limit` of some bytes, which must have an address. The caller keeps all arguments alive.
    init(_ bytes: ByteView, limit: UInt64, pages: LazyPlainPages?, joinedValues: JoinedValues) {
        guard let start = unsafe bytes.start else { preconditionFailure("a space of nodes has an address") }
        unsafe base = unsafe UnsafeRawPointer(start)
        self.limit = min(limit, UInt64(bytes.count))
        unsafe self.pages = unsafe pages.map { unsafe Unmanaged.passUnretained($0) }
        unsafe self.joinedValues = unsafe Unmanaged.passUnretained(joinedValues)
        unsafe arena = nil
        unsafe filter = nil
    }

    /// Makes a space with the bytes of another one, with the nodes of a transaction or without some links.
    private init(_ other: NodeSpace, arena: Unmanaged<NodeArena>?, filter: Unmanaged<LinkFilter>?) {
        unsafe base = unsafe other.base
        limit = other.limit
        unsafe pages = unsafe other.pages
        unsafe joinedValues = unsafe other.joinedValues
        unsafe self.arena = unsafe arena
        unsafe self.filter = unsafe filter
    }

    /// Returns the same space together with the nodes of `arena`, which must outlive it.
    func with(arena: NodeArena) -> NodeSpace {
        unsafe NodeSpace(self, arena: Unmanaged.passUnretained(arena), filter: filter)
    }

    /// Returns the same space without the links that `filter` hides, which must outlive it.
    func hidingLinks(by filter: LinkFilter) -> NodeSpace {
        unsafe NodeSpace(self, arena: arena, filter: Unmanaged.passUnretained(filter))
    }

    /// Hides links in this space; nil when all are read as they are stored.
    package var linkFilter: LinkFilter? { unsafe filter?.takeUnretainedValue() }

    /// Whether links to a table may be hidden in this space.
    func mayHideLinks(to table: TableKey) -> Bool { linkFilter?.mayHide(table) ?? false }

    /// The maximum number of nodes: a walk that visits more is in a cycle.
    package var nodeBudget: Int { unsafe Int(clamping: limit >> 3) + (arena?.takeUnretainedValue().used ?? 0) >> 3 }

    /// Returns the node at `ref`.
    ///
    /// Nodes of numbers and refs in plain files, which are most of those on the way to a value, are checked in place.
    ///
    /// - Throws: `.corrupt` when the bytes at the ref cannot be a node, `.io` or `.corrupt` when a
    ///   page cannot be decrypted.
    @inlinable @inline(__always) package func node(at ref: Ref) throws(StorageError) -> Node {
        let offset = ref.rawValue
        guard unsafe pages == nil, offset & 7 == 0, offset >= 24, offset < limit, limit - offset >= 8 else {
            return try checkedNode(at: ref)
        }
        // In bounds: offset + 8 <= limit, and limit never exceeds the mapping.
        let header = unsafe UInt64(littleEndian: base.loadUnaligned(fromByteOffset: Int(offset), as: UInt64.self))
        let flags = UInt8(truncatingIfNeeded: header >> 32)
        // Without the padding a payload has at most 2^24 times 64 bytes, so nothing overflows.
        let width = (UInt64(1) << UInt64(flags & NodeLayout.widthCodeMask)) >> 1
        let bitCount = UInt64(Node.count(ofHeader: header)) &* width &* (flags & NodeLayout.multiplyFlag == 0 ? 1 : 8)
        guard NodeSpace.isCommon(flags: flags), width > 0, (bitCount + 63) >> 6 < (limit - offset) >> 3
        else { return try checkedNode(at: ref) }
        return unsafe Node(payload: base + Int(offset) + 8, ref: ref, header: header)
    }

    /// Returns the node at `ref`, of any kind and in any file.
    ///
    /// - Throws: As `node(at:)`.
    @usableFromInline @inline(never) func checkedNode(at ref: Ref) throws(StorageError) -> Node {
        let offset = ref.rawValue
        guard offset & 7 == 0, offset >= 24, offset < limit, limit - offset >= 8 else {
            return try newNode(at: ref)
        }
        if let pages = unsafe pages { try unsafe NodeSpace.ensure(pages, offset, 8) }
        // In bounds: offset + 8 <= limit, and limit never exceeds the mapping.
        let header = unsafe UInt64(littleEndian: base.loadUnaligned(fromByteOffset: Int(offset), as: UInt64.self))
        let flags = UInt8(truncatingIfNeeded: header >> 32)
        guard NodeSpace.isLegal(flags: flags) else { throw NodeSpace.badFlags(ref, flags) }
        if flags & (NodeLayout.refsFlag | NodeLayout.widthCodeMask) == NodeLayout.refsFlag,
            Node.count(ofHeader: header) > NodeSpace.maximumEmptyCount
        {
            throw NodeSpace.emptyNode(ref)
        }
        let byteCount = UInt64(Node.byteCount(ofHeader: header))
        guard byteCount <= limit - offset else {
            throw .corrupt(ref: ref, reason: "the node's \(byteCount) bytes end after the logical file")
        }
        if let pages = unsafe pages { try unsafe NodeSpace.ensure(pages, offset, byteCount) }
        return unsafe Node(payload: base + Int(offset) + 8, ref: ref, header: header)
    }

    /// Returns a node outside the file, which only a write transaction has; throws `.corrupt` otherwise.
    private func newNode(at ref: Ref) throws(StorageError) -> Node {
        guard let arena = unsafe arena else { throw NodeSpace.badRef(ref) }
        // No retain is needed: the owner of the space keeps the arena.
        if let node = unsafe arena._withUnsafeGuaranteedRef({ $0.soundNode(at: ref) }) { return node }
        return try unsafe arena.takeUnretainedValue().node(at: ref)
    }

    /// The greatest element count that is accepted for a node of width 0, which can state millions of elements in 8 bytes.
    ///
    /// No writer makes one of more than 1000, or 65535 where tables are listed, so a greater count
    /// is damage and would only cost time.
    static let maximumEmptyCount = 0x10000

    /// Makes the error for a node of width 0 that states too many elements.
    static func emptyNode(_ ref: Ref) -> StorageError {
        .corrupt(ref: ref, reason: "a node without payload that claims more than \(maximumEmptyCount) elements")
    }

    /// Returns whether flags are those of a leaf of packed numbers or of numbers of whole bytes, or of a node with refs.
    @inlinable @inline(__always) static func isCommon(flags: UInt8) -> Bool {
        switch flags & NodeLayout.formMask {
        case 0, NodeLayout.multiplyFlag, NodeLayout.refsFlag, NodeLayout.refsFlag | NodeLayout.innerFlag: return true
        default: return false
        }
    }

    /// Returns whether flags can be those of a node: inner implies has-refs, has-refs implies width
    /// type "bits", and width type 3 does not exist.
    static func isLegal(flags: UInt8) -> Bool {
        let widthType = flags & NodeLayout.widthTypeMask
        if flags & (NodeLayout.innerFlag | NodeLayout.refsFlag) == 0 { return widthType != NodeLayout.widthTypeMask }
        return flags & NodeLayout.refsFlag != 0 && widthType == 0
    }

    /// Makes the error for a ref that cannot name a node.
    static func badRef(_ ref: Ref) -> StorageError {
        .corrupt(ref: ref, reason: "the ref is misaligned or outside the file")
    }

    /// Makes the error for a header whose flags contradict each other.
    static func badFlags(_ ref: Ref, _ flags: UInt8) -> StorageError {
        .corrupt(ref: ref, reason: "impossible node flags 0x" + String(flags, radix: 16))
    }

    /// Has the pages with some bytes of an encrypted file decrypted; throws `.corrupt` when one is damaged.
    private static func ensure(_ pages: Unmanaged<LazyPlainPages>, _ offset: UInt64, _ byteCount: UInt64) throws(StorageError) {
        try unsafe pages.takeUnretainedValue().ensure(offset: offset, byteCount: byteCount)
    }

    /// How many bytes of memory the decrypted pages take; 0 in a plain file.
    package var decryptedByteCount: Int { unsafe pages?.takeUnretainedValue().decryptedByteCount ?? 0 }

    /// How often `forgetPages` was called for the file. A reader that finds another number than before reads its present nodes again.
    package var forgetCount: Int { unsafe pages?.takeUnretainedValue().forgetCount ?? 0 }

    /// Gives back the memory of the decrypted pages. Only for a file that is read by one thread, and not written.
    ///
    /// The payloads of nodes that were read before read as zeros until their refs were passed to `node(at:)` again, which returns
    /// the same nodes.
    package func forgetPages() { unsafe pages?.takeUnretainedValue().forget() }

    /// Returns the bytes of a value that is split over the byte nodes in `parts`; they live as long as the snapshot.
    func joinedValue(of parts: Node) throws(StorageError) -> ByteView {
        try unsafe joinedValues.takeUnretainedValue().value(of: parts, in: self)
    }
}
