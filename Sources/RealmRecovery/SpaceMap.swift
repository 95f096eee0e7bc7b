// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// A map of the plain bytes: the nodes of the present version, and the headers left in its unused space.
///
/// - A node in unused space is *whole* when no other header begins inside it and no node of the present version meets it.
///   Writers write whole
///   nodes at multiples of 8, so nothing was written into it after its own header was.
/// - All sets are bits, so a file of n bytes takes n / 20 bytes of memory.
///
/// Source: docs/recovery.md, "How the search works".
final class SpaceMap {
    /// The plain bytes.
    let bytes: ByteView
    /// The end of the last node: the size of the plain bytes, rounded down to a multiple of 8.
    let limit: UInt64
    /// Counts the nodes that are visited.
    let budget: SearchBudget
    /// The pages that cannot be read, as places of their first bytes.
    private let unreadablePages: Set<UInt64>

    /// The first bytes of the nodes of the present version.
    private(set) var present: PlaceMarks
    /// All places that the nodes of the present version have.
    private var presentBytes: PlaceMarks
    /// The headers in the space that the present version does not use.
    private(set) var headers: PlaceMarks
    /// The lists of free space that lie before their top nodes, and so belong to these and to no leaf.
    private var freeLists: Set<UInt64> = []
    private(set) var headerCount = 0

    /// Makes a map on which nothing is marked yet.
    init(_ bytes: ByteView, unreadablePages: [Int], budget: SearchBudget) {
        self.bytes = bytes
        self.budget = budget
        limit = UInt64(bytes.count) & ~7
        self.unreadablePages = Set(unreadablePages.map { UInt64($0) << 12 })
        (present, presentBytes, headers) = (
            PlaceMarks(byteCount: limit), PlaceMarks(byteCount: limit), PlaceMarks(byteCount: limit)
        )
        presentBytes.insert(from: 0, to: min(24, limit))
    }

    /// Returns the node at a ref, or throws; nothing is said about whether it may be believed.
    @inline(__always) func node(at ref: UInt64) throws(Loss) -> RawNode {
        guard budget.spend() else { throw .stopped }
        guard let node = RawNode(bytes, at: ref, limit: limit) else { throw .malformed("no node can be there") }
        guard node.isMarked else { throw .overwritten }
        // Walks over refs look at all of them.
        guard !node.hasRefs || node.count < 128 || budget.spend(node.count >> 7) else { throw .stopped }
        return node
    }

    /// Returns the size of the node at a ref in bytes; 0 where no node can be.
    func byteCount(at ref: UInt64) -> UInt64 { RawNode(bytes, at: ref, limit: limit)?.byteCount ?? 0 }

    // MARK: - The present version

    /// Marks all nodes that can be reached from the present top node.
    ///
    /// - Returns: The first unreadable part; nil for a sound version.
    func markPresent(from top: UInt64) -> Loss? {
        var damage: Loss?
        var stack = [top]
        while let ref = stack.popLast() {
            if ref & 7 == 0, ref < limit, present.contains(ref) { continue }
            do throws(Loss) {
                let node = try node(at: ref)
                present.insert(ref)
                presentBytes.insert(from: ref, to: node.end)
                guard node.hasRefs else { continue }
                for index in 0..<node.count { if let child = node.child(index) { stack.append(child) } }
            } catch {
                if damage == nil { damage = error }
                if budget.isUsedUp { return damage }
            }
        }
        return damage
    }

    /// The bytes that the present version does not use.
    var unusedByteCount: UInt64 { limit - UInt64(presentBytes.count) * 8 }

    // MARK: - Unused space

    /// Finds all headers in the space that the present version does not use.
    func findHeaders() {
        var place: UInt64 = 24
        while true {
            place = presentBytes.nextFree(from: place, below: limit)
            guard place < limit else { return }
            let end = presentBytes.next(from: place, below: limit) ?? limit
            while place < end {
                let word = bytes.word(at: Int(place))
                if word >> 32 == RawNode.mark, let byteCount = RawNode.byteCount(ofHeader: word), byteCount <= limit - place {
                    guard budget.spend() else { return }
                    headers.insert(place)
                    headerCount += 1
                }
                place += 8
            }
        }
    }

    /// Calls `body` with every header in unused space, in order, until the budget is used up.
    func forEachHeader(_ body: (RawNode) -> Void) {
        var place: UInt64 = 24
        while let ref = headers.next(from: place, below: limit), budget.spend() {
            if let node = RawNode(bytes, at: ref, limit: limit) { body(node) }
            place = ref + 8
        }
    }

    /// Notes the lists of free space of whole nodes that look like top nodes: the lists lie before their top without a gap.
    func findFreeLists() {
        forEachHeader { node in
            guard node.hasRefs, !node.isInner, (7...12).contains(node.count), damage(node.ref, node.byteCount) == nil else {
                return
            }
            var end = node.ref
            for slot in (3..<6).reversed() {
                guard let ref = node.child(slot), ref < end, let list = RawNode(bytes, at: ref, limit: limit), list.end == end,
                    !present.contains(ref), damage(ref, list.byteCount) == nil
                else { return }
                end = ref
            }
            for slot in 3..<6 { if let ref = node.child(slot) { freeLists.insert(ref) } }
        }
    }

    /// Returns whether a node is a list of free space.
    func isFreeList(_ ref: UInt64) -> Bool { freeLists.contains(ref) }

    /// Returns why a node is not what was once written there; nil when no byte of it was written over.
    func damage(_ ref: UInt64, _ byteCount: UInt64) -> Loss? {
        if present.contains(ref) { return nil }
        guard headers.contains(ref) else { return .overwritten }
        if let next = headers.next(from: ref + 8, below: ref + byteCount) { return .overwrittenFrom(next) }
        if presentBytes.containsAny(from: ref, to: ref + byteCount) { return .overwrittenByPresentVersion }
        return isUnreadable(ref, byteCount) ? .unreadablePage : nil
    }

    /// Returns whether a node has bytes in a page that cannot be read.
    func isUnreadable(_ ref: UInt64, _ byteCount: UInt64) -> Bool {
        guard !unreadablePages.isEmpty else { return false }
        return stride(from: ref & ~4095, to: ref + byteCount, by: 4096).contains { unreadablePages.contains($0) }
    }

    /// Returns the nodes below a ref and itself, each with its size, or nil when one of them is not whole.
    ///
    /// A node of the present version ends the walk: what is below it is as whole as itself.
    func extents(below root: UInt64) -> [NodeExtent]? {
        var found: [NodeExtent] = []
        var seen: Set<UInt64> = []
        var stack = [root]
        while let ref = stack.popLast() {
            guard seen.insert(ref).inserted else { continue }
            guard let node = try? node(at: ref), damage(ref, node.byteCount) == nil else { return nil }
            found.append(NodeExtent(ref: ref, byteCount: node.byteCount))
            guard node.hasRefs, !present.contains(ref) else { continue }
            for index in 0..<node.count { if let child = node.child(index) { stack.append(child) } }
        }
        return found
    }

    /// A node as a place and a size.
    struct NodeExtent {
        /// The offset of the header.
        let ref: UInt64
        /// The size in bytes.
        let byteCount: UInt64
        /// The offset of the first byte after the node.
        var end: UInt64 { ref + byteCount }
    }
}
