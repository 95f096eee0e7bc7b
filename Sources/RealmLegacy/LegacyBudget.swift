// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The limits on reading in one pass over a file.
///
/// In a sound file every node has one parent, so a pass reads no more bytes than the file has. Where nodes share their children or
/// go in circles, it would; then it ends as damage.
///
/// Elements are counted too, as those of width 0 take time but no bytes: 2^24 of them, and eight for each byte of the file.
/// Elements of other widths take a bit at least, so without shared leaves they are never more. An honest file needs the 2^24 only
/// for values that are 0, null, false or empty in all rows of a leaf, and more only where its rows have eight of those for each
/// byte that they take: 240 such properties and 30 bytes of others, in 70,000 objects. SDKs have 1000 of them in a leaf of eight
/// bytes, so a class of nothing else could have more; it would have no data.
///
/// One thread uses it. It is a class, because the cursors of a pass spend from it together.
final class LegacyBudget {
    /// How many bytes the file has.
    private let byteCount: Int
    /// The remaining bytes, in units of eight.
    var left: Int
    /// How many more elements of nodes may be met.
    var elementsLeft: Int
    /// How many more columns may be met.
    private var columnsLeft: Int
    /// The remaining units and elements.
    var rest: (units: Int, elements: Int) {
        get { (left, elementsLeft) }
        set { (left, elementsLeft) = newValue }
    }

    /// How many columns every file may have, and how many bytes of the file each one takes at least where there are more: its root,
    /// the place of that in the column list, its name and its type.
    private static let leastColumnCount = LegacySpec.maximumColumnCount, bytesPerColumn = 32
    /// How many elements every file may have, and how many more for each of its bytes.
    private static let leastElementCount = 1 << 24, elementsPerByte = 8
    /// How many elements a search in a tree costs. Positions in a list of more values than one leaf has take two bytes, so that a sound
    /// column has more of them left.
    private static let elementsPerSearch = 8
    /// How many bytes a text may have that is no long one.
    private static let shortTextByteCount = 1024

    /// Makes a budget for one pass over the nodes of `space`.
    init(_ space: NodeSpace) {
        byteCount = Int(clamping: space.limit)
        left = space.nodeBudget
        elementsLeft = LegacyBudget.greatestElementCount(byteCount)
        columnsLeft = max(LegacyBudget.leastColumnCount, byteCount / LegacyBudget.bytesPerColumn)
    }

    /// Returns how many elements a pass over a file of some bytes may meet.
    static func greatestElementCount(_ byteCount: Int) -> Int {
        leastElementCount + min(byteCount, Int.max / elementsPerByte / 2) * elementsPerByte
    }

    /// Counts a node that is read, with its elements.
    func spend(_ node: Node) throws(StorageError) {
        left -= max(1, node.byteCount >> 3)
        guard left >= 0 else { throw node.corrupt("nodes share their children: more of them are met than the file has room for") }
        try spend(elements: node.count, at: node.ref)
    }

    /// Counts elements, or what takes as much time.
    ///
    /// - Parameters:
    ///   - ref: The place that the error names.
    func spend(elements count: Int, at ref: Ref) throws(StorageError) {
        elementsLeft -= min(count, elementsLeft + 1)
        guard elementsLeft >= 0 else {
            throw .corrupt(ref: ref, reason: "more values than a file of \(byteCount) bytes has, even if they take no bytes")
        }
    }

    /// Counts a search in a tree, of which no node is counted.
    func spend(searchBelow root: Ref) throws(StorageError) {
        try spend(elements: LegacyBudget.elementsPerSearch, at: root)
    }

    /// Counts columns that are kept in memory, before they are read: their types, names and attributes may take no bytes.
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
