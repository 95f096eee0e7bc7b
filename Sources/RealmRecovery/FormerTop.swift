// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// A top node as far as recovery reads it: the number of a version, its tables, and the free space that it had.
struct FormerTop {
    /// The offset of the node.
    let ref: UInt64
    /// The number of the version.
    let number: UInt64
    /// The logical size of the file in that version.
    let logicalSize: UInt64
    /// The list of table names.
    let namesRef: UInt64
    let tablesRef: UInt64
    /// The free space of the version; nil when its lists are gone or cannot be believed.
    let free: Extents?

    /// The numbers of slots that top nodes have.
    private static let slotCounts: Set<Int> = [3, 5, 7, 9, 10, 11, 12]

    /// Makes a top of a file whose present one cannot be read, or that has none.
    init(unreadableAt ref: UInt64, number: UInt64) {
        (self.ref, self.number, logicalSize, namesRef, tablesRef, free) = (ref, number, 0, 0, 0, nil)
    }

    /// Returns whether a byte of a range is in use in the version; nil when its free space is not known.
    func uses(_ start: UInt64, _ end: UInt64) -> Bool? {
        free.map { start < logicalSize && !$0.covers(start, min(end, logicalSize)) }
    }

    /// Returns whether a byte of a range is free in the version, or behind its end; nil when its free space is not known.
    func hasFree(_ start: UInt64, _ end: UInt64) -> Bool? { free.map { $0.overlaps(start, end) || end > logicalSize } }

    /// Reads the node at a ref; throws when it does not have the shape of a top node.
    ///
    /// - Parameters:
    ///   - ref: The offset of the node.
    ///   - map: The bytes.
    ///   - isPresent: Whether it is the top of the present version, whose lists are believed wherever they lie.
    ///   - freeBlocks: The most ranges of free space that are read; what was read is taken off. None leaves the free space
    ///     unknown.
    init(at ref: UInt64, in map: SpaceMap, isPresent: Bool = false, freeBlocks: inout Int) throws(Loss) {
        let node = try map.node(at: ref)
        guard node.hasRefs, !node.isInner, FormerTop.slotCounts.contains(node.count) else { throw .malformed("not a top node") }
        let (names, tables) = (node.slot(0), node.slot(1))
        guard names & 7 == 0, tables & 7 == 0, (24..<map.limit).contains(names), (24..<map.limit).contains(tables),
            let logicalSize = node.number(inSlot: 2), logicalSize & 7 == 0, logicalSize >= node.end
        else { throw .malformed("not a top node") }
        let slot6 = node.slot(6)
        guard node.count <= 6 || slot6 == 0 || slot6 & 1 == 1 else { throw .malformed("not a top node") }
        if node.count > 7 { guard let history = node.number(inSlot: 7), history <= 4 else { throw .malformed("not a top node") } }
        self.ref = ref
        number = node.count > 6 ? max(slot6 >> 1, 1) : 1
        self.logicalSize = logicalSize
        (namesRef, tablesRef) = (names, tables)
        guard node.count >= 7, freeBlocks > 0 else {
            free = nil
            return
        }
        free = try FormerTop.freeSpace(of: node, in: map, logicalSize: logicalSize, isPresent: isPresent, limit: freeBlocks)
        freeBlocks -= free?.count ?? 0
    }

    /// Returns the free space that a top node states; nil when it cannot be believed.
    ///
    /// Both writers lay out positions, lengths, versions and top one after another, so a later commit cannot have replaced one
    /// of them alone.
    private static func freeSpace(
        of top: RawNode, in map: SpaceMap, logicalSize: UInt64, isPresent: Bool, limit: Int
    ) throws(Loss) -> Extents? {
        var lists: [RawNode] = []
        for index in 3..<6 {
            guard map.budget.spend() else { throw .stopped }
            guard let ref = top.child(index), let list = RawNode(map.bytes, at: ref, limit: map.limit), list.isMarked,
                !list.hasRefs, list.widthType == 0
            else { return nil }
            lists.append(list)
        }
        let count = lists[0].count
        let isAdjacent = lists[0].end == lists[1].ref && lists[1].end == lists[2].ref && lists[2].end == top.ref
        guard lists[1].count == count, lists[2].count == count, count <= limit, isAdjacent || isPresent || count == 0 else {
            return nil
        }
        guard isPresent || lists.allSatisfy({ map.damage($0.ref, $0.byteCount) == nil }) else { return nil }
        guard map.budget.spend(count / 64) else { throw .stopped }
        var ranges: [(UInt64, UInt64)] = []
        var end: UInt64 = 24
        for index in 0..<count {
            let (position, length) = (lists[0].integer(index), lists[1].integer(index))
            guard position & 7 == 0, length & 7 == 0, length > 0, position >= 0, UInt64(position) >= end,
                UInt64(position) + UInt64(length) <= logicalSize
            else { return nil }
            end = UInt64(position) + UInt64(length)
            ranges.append((UInt64(position), end))
        }
        return Extents(ascending: ranges)
    }
}
