// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Visits every node of a search index, checks how it is built, and passes its entries to the caller.
///
/// Invariants: keys are 32 bits wide and ascend; the key of a child is the largest in it; nodes
/// have up to 1000 keys and only the root of an empty index has none; key arrays hold no refs; a
/// level starts at a multiple of four bytes up to 200; lists are not empty.
struct IndexWalker {
    /// The objects that are filed under one path of keys.
    struct Entry {
        /// The keys at offsets 0, 4, 8, …
        let path: [Int32]
        /// The objects that are filed under the path.
        let objects: [ObjectKey]
        /// Whether the objects are in a list; else there is a single one.
        let isList: Bool
        /// The node that holds the entry.
        let node: Ref
    }

    /// A function that is called with each entry.
    typealias Visit = (Entry, inout VerifyReport) throws(StorageError) -> Void

    private let space: NodeSpace
    /// The beginning of messages: table and column.
    private let place: String
    /// The keys from the root down to the present entry.
    private var path: [Int32] = []
    /// The nodes that may be visited before the index counts as circular.
    private let budget: WalkBudget
    /// How many objects were found in entries so far.
    private(set) var objectCount = 0

    /// How many nodes may lie above one of an index.
    static let maximumDepth = 256

    /// Makes a walk whose messages begin with `place`.
    ///
    /// - Parameters:
    ///   - place: The beginning of messages: table and column.
    init(space: NodeSpace, place: String) {
        self.space = space
        self.place = place
        budget = WalkBudget(space)
    }

    /// Calls `visit` with each entry below `root`, in the order of keys.
    ///
    /// - Parameters:
    ///   - report: Gets what is wrong with the nodes.
    ///   - visit: Checks an entry.
    /// - Throws: `.corrupt` for nodes that cannot be read.
    mutating func walk(_ root: Ref, _ report: inout VerifyReport, _ visit: Visit) throws(StorageError) {
        let node = try space.node(at: root)
        // An index of nothing is a leaf without keys.
        if !node.isInner, try IndexNode(root, space).count == 0 { return checkKeys(try IndexNode(root, space), &report) }
        _ = try level(root, depth: 0, &report, visit)
    }

    /// Checks the level below `ref` and visits its entries; returns the largest key below `ref`, nil when there is none.
    private mutating func level(
        _ ref: Ref, depth: Int, _ report: inout VerifyReport, _ visit: Visit
    ) throws(StorageError) -> Int32? {
        try budget.spend(at: ref)
        try report.checkControl()
        guard depth < IndexWalker.maximumDepth else { throw .corrupt(ref: ref, reason: "an index without end") }
        let node = try IndexNode(ref, space)
        checkKeys(node, &report)
        if node.count == 0 { report.error("\(place): node \(ref) is empty") }
        for position in 0..<node.count {
            if node.isInner {
                let last = try level(try node.child(position), depth: depth + 1, &report, visit)
                if last != node.key(position) {
                    report.error("\(place): child \(position) of node \(ref) ends with another key than its parent says")
                }
            } else {
                path.append(node.key(position))
                try self.visit(try node.slot(position), of: node, depth: depth, &report, visit)
                path.removeLast()
            }
        }
        return node.count == 0 ? nil : node.key(node.count - 1)
    }

    /// Returns whether the keys of a node are 32 bits wide, not too many, and ascend.
    static func hasSoundKeys(_ node: IndexNode) -> Bool {
        guard node.keyWidth == 32, node.count <= IndexCapacity.standard.ofNodes, node.keysArePlain else { return false }
        for position in 1..<max(node.count, 1) where node.key(position - 1) >= node.key(position) { return false }
        return true
    }

    /// Reports keys of a node that are not sound, and why.
    private func checkKeys(_ node: IndexNode, _ report: inout VerifyReport) {
        guard !IndexWalker.hasSoundKeys(node) else { return }
        let ref = node.node.ref
        if node.keyWidth != 32 { report.error("\(place): the keys of node \(ref) are \(node.keyWidth) bits wide") }
        if node.count > IndexCapacity.standard.ofNodes { report.error("\(place): node \(ref) has \(node.count) keys") }
        if !node.keysArePlain { report.error("\(place): the keys of node \(ref) are marked as something else") }
        for position in 1..<max(node.count, 1) where node.key(position - 1) >= node.key(position) {
            report.error("\(place): keys of node \(ref) do not ascend")
        }
    }

    /// Visits an entry: a single object, a list or another level.
    private mutating func visit(
        _ slot: IndexSlot, of node: IndexNode, depth: Int, _ report: inout VerifyReport, _ visit: Visit
    ) throws(StorageError) {
        switch slot {
        case .absent: return
        case .one(let object): try file([object], isList: false, node, &report, visit)
        case .list(let ref):
            let tree = try BPlusTree(root: ref, space: space, shape: SearchIndex.listShape)
            let objects = try tree.objectKeys(within: budget)
            if objects.isEmpty { report.error("\(place): an empty list at \(ref)") }
            if objects.count != tree.count { report.error("\(place): a list of \(objects.count) at \(ref) claims \(tree.count)") }
            try file(objects, isList: true, node, &report, visit)
        case .subindex(let ref):
            guard path.count * 4 <= IndexData.maximumOffset else {
                return report.error("\(place): a level at \(ref) below offset \(IndexData.maximumOffset)")
            }
            _ = try level(ref, depth: depth + 1, &report, visit)
        }
    }

    /// Counts the objects of an entry, and passes the entry with its path to the function `visit`.
    ///
    /// - Parameters:
    ///   - isList: Whether they are in a list rather than in the node itself.
    ///   - node: The node of the level that has the entry.
    ///   - report: Receives the errors that `visit` finds.
    ///   - visit: The function of the caller.
    private mutating func file(
        _ objects: [ObjectKey], isList: Bool, _ node: IndexNode, _ report: inout VerifyReport, _ visit: Visit
    ) throws(StorageError) {
        objectCount += objects.count
        try visit(Entry(path: path, objects: objects, isList: isList, node: node.node.ref), &report)
    }
}
