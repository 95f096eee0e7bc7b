// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// Selects the nodes that later versions of a file have and an earlier one does not.
///
/// A node is in the earlier version if its place was in use then: as long as that version is kept, no
/// other node gets the place.
struct AddedNodes: NodeSelection {
    static var movesNodes: Bool { true }
    static var hasWideRefs: Bool { false }
    static var keepsWidths: Bool { false }

    /// The bytes that the earlier version does not use.
    let unused: UnusedSpace
    /// The places of the nodes of both versions in the file that is written to.
    private let places: [UInt64: Ref]

    /// Makes a selection.
    ///
    /// - Parameters:
    ///   - unused: The bytes that the earlier version does not use.
    ///   - places: The places in the other file of the roots of trees that both versions have.
    init(since unused: UnusedSpace, places: [UInt64: Ref] = [:]) {
        self.unused = unused
        self.places = places
    }

    func isWritten(_ ref: UInt64) -> Bool { unused.contains(ref) }

    func present(_ element: Int64) -> Int64 {
        guard element & 1 == 0, element != 0 else { return element }
        return Int64(bitPattern: (places[UInt64(bitPattern: element)] ?? .none).rawValue)
    }

    /// Returns the refs in the added nodes of a version that lead to nodes of the earlier one.
    ///
    /// - Parameter later: The later version.
    /// - Throws: `.corrupt` for a damaged tree.
    func sharedRoots(of later: Snapshot) throws(StorageError) -> Set<UInt64> {
        var shared: Set<UInt64> = []
        var pending = PendingRefs(later.space)
        for root in [later.top.names, later.top.tables] where !root.isNone { try pending.add(root) }
        while let ref = pending.next() {
            if isWritten(ref.rawValue) {
                try pending.addChildren(of: try later.space.node(at: ref))
            } else {
                shared.insert(ref.rawValue)
            }
        }
        return shared
    }
}
