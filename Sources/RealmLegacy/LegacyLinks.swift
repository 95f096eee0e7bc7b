// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The links in one column of an old table, one after the other.
///
/// Decrypted pages of the file are given back while links are read, so no view of it may be in use then.
struct LegacyLinks {
    /// The old file.
    let file: LegacyFile
    let table: LegacyTable
    let column: LegacyColumn
    /// Can cancel the work.
    let control: WorkControl?

    /// How many rows are read at a time.
    private static let step = 1024

    /// Calls a closure with the row and the target row of every link, in the order of rows. Targets may be beyond the target table.
    ///
    /// - Parameters:
    ///   - reading: The pass that this belongs to; nil for a pass of its own.
    /// - Throws: The errors of `body`, and that of the control when the work was cancelled.
    func forEach(
        _ reading: LegacyReading? = nil, _ body: (_ origin: Int, _ target: UInt64) throws(StorageError) -> Void
    ) throws(StorageError) {
        guard let root = table.root(of: column) else { return }
        let reading = reading ?? LegacyReading(file.space)
        if column.type == .linkList { return try forEachInLists(root, reading, body) }
        var leaves = LegacyLeaves(root, reading)
        var start = 0
        while let leaf = try leaves.next() {
            try control?.check()
            let elements = try reading.integers(of: leaf)
            // Leaves of width 0 have no links.
            for row in 0..<(elements.width == 0 ? 0 : elements.count) where elements[row] != 0 {
                try body(start + row, UInt64(bitPattern: elements[row] &- 1))
            }
            start += elements.count
            if reading.relieve() { try leaves.renew() }
        }
    }

    /// Calls a closure with every link in lists.
    private func forEachInLists(
        _ root: Ref, _ reading: LegacyReading, _ body: (_ origin: Int, _ target: UInt64) throws(StorageError) -> Void
    ) throws(StorageError) {
        var lists = LegacyRefs(root, reading)
        var refs: [UInt64] = []
        var row = 0
        while true {
            try control?.check()
            refs.removeAll(keepingCapacity: true)
            try lists.read(LegacyLinks.step, into: &refs)
            guard !refs.isEmpty else { return }
            let before = reading.space.forgetCount
            for ref in refs {
                try LegacyLinks.forEach(inList: ref, reading, relieving: true) { (targets) throws(StorageError) in
                    try control?.check()
                    for target in targets { try body(row, target) }
                }
                row += 1
            }
            if reading.space.forgetCount != before { try lists.renew() }
        }
    }

    /// Calls a closure with the target rows in one list, some at a time.
    ///
    /// - Parameters:
    ///   - element: The element that the column has for the row: 0, or the ref of a tree.
    ///   - reading: The pass that reads.
    ///   - isRelieving: Whether decrypted pages are given back when they are much.
    ///   - body: Gets target rows.
    static func forEach(
        inList element: UInt64, _ reading: LegacyReading, relieving isRelieving: Bool = false,
        _ body: ([UInt64]) throws(StorageError) -> Void
    ) throws(StorageError) {
        guard element != 0 else { return }
        guard element & 1 == 0 else { throw .corrupt(ref: .none, reason: "a list of links is the number \(element >> 1)") }
        var links = LegacyRefs(Ref(element), reading)
        var targets: [UInt64] = []
        while true {
            targets.removeAll(keepingCapacity: true)
            try links.read(LegacyLinks.step, into: &targets)
            guard !targets.isEmpty else { return }
            try body(targets)
            if isRelieving, reading.relieve() { try links.renew() }
        }
    }
}
