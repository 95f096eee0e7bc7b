// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// What one pass over a file may read.
///
/// In a sound file every node has one parent, so a pass reads no more bytes than the file has. Where nodes share their children or
/// go in circles, it would; then it ends as damage. A node of width 0 also costs something for its elements, which need no bytes.
///
/// One thread uses it. It is a class, because the cursors of a pass spend from it together.
final class LegacyBudget {
    /// What is left, in units of eight bytes.
    var left: Int
    /// How many more columns may be met.
    private var columnsLeft: Int

    /// How many columns every file may have, and how many bytes of the file each one takes at least where there are more: its root,
    /// the place of that in the column list, its name and its type.
    private static let leastColumnCount = LegacySpec.maximumColumnCount, bytesPerColumn = 32
    /// How many bytes a text may have that is no long one.
    private static let shortTextByteCount = 1024

    /// Makes a budget for one pass over the nodes of `space`.
    init(_ space: NodeSpace) {
        left = space.nodeBudget
        columnsLeft = max(LegacyBudget.leastColumnCount, Int(clamping: space.limit) / LegacyBudget.bytesPerColumn)
    }

    /// Counts a node that is read.
    func spend(_ node: Node) throws(StorageError) {
        left -= max(1, node.byteCount >> 3, node.count >> 10)
        guard left >= 0 else { throw node.corrupt("nodes share their children: more of them are met than the file has room for") }
    }

    /// Counts columns that are kept in memory, before they are read: their types, names and attributes may take no bytes.
    ///
    /// - Parameters:
    ///   - count: How many columns there are.
    ///   - spec: The spec that has them, which the error names.
    func spend(columns count: Int, of spec: Node) throws(StorageError) {
        columnsLeft -= count
        guard columnsLeft >= 0 else { throw spec.corrupt("more columns than the file has room for") }
    }

    /// Counts a text that is looked at as a whole for each row that has it. Many rows of an enumerated column can have one long text,
    /// but not in a list whose entries differ.
    ///
    /// - Parameters:
    ///   - byteCount: The length of the text.
    ///   - root: The root of the column, which the error names.
    func spend(textOf byteCount: Int, in root: Ref) throws(StorageError) {
        guard byteCount > LegacyBudget.shortTextByteCount else { return }
        left -= byteCount >> 3
        guard left >= 0 else { throw .corrupt(ref: root, reason: "rows share long texts that should differ") }
    }

    /// Counts a text that has bytes of its own in a sound file, and returns whether the file has room for it.
    ///
    /// - Parameter byteCount: The length of the text.
    func hasRoom(forTextOf byteCount: Int) -> Bool {
        left -= min(byteCount >> 3, left + 1)
        return left >= 0
    }
}
