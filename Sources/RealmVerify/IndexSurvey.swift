// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// A look at some nodes of a general index, to learn how most objects are filed.
///
/// Its result is a guess: a proof with another one only takes more time and memory.
struct IndexSurvey {
    private let space: NodeSpace
    /// How many objects were found for each note.
    private var counts = [Int](repeating: 0, count: 256)
    /// How many nodes are still to be looked at.
    private var remaining = 200

    /// How many children of a node are looked at.
    private static let breadth = 8
    /// How many objects a long list counts for.
    private static let longList = 10_000

    /// Returns how most objects seem to be filed, as an `IndexProof.Note`.
    ///
    /// - Throws: `.corrupt` for nodes that cannot be read.
    static func usualNote(of root: Ref, _ space: NodeSpace) throws(StorageError) -> UInt8 {
        var survey = IndexSurvey(space: space)
        try survey.visit(root, levels: 0)
        let most = survey.counts.indices.max { survey.counts[$0] < survey.counts[$1] } ?? 0
        return survey.counts[most] > 0 ? UInt8(truncatingIfNeeded: most) : IndexProof.Note.usual
    }

    /// Counts the objects of some entries below a node.
    ///
    /// - Parameters:
    ///   - ref: The node.
    ///   - levels: How many keys lead to its level.
    private mutating func visit(_ ref: Ref, levels: Int) throws(StorageError) {
        guard remaining > 0, levels * 4 <= IndexData.maximumOffset else { return }
        remaining -= 1
        let node = try IndexNode(ref, space)
        guard !node.isInner else {
            for position in stride(from: 0, to: node.count, by: max(node.count / IndexSurvey.breadth, 1)) {
                try visit(try node.child(position), levels: levels)
            }
            return
        }
        var deeper: [Ref] = []
        for position in 0..<node.count {
            switch try node.slot(position) {
            case .absent: break
            case .one: counts[levels + 1] += 1
            case .list(let list): counts[Int(IndexProof.Note.list)] += try size(of: list)
            case .subindex(let child): deeper.append(child)
            }
        }
        for index in stride(from: 0, to: deeper.count, by: max(deeper.count / IndexSurvey.breadth, 1)) {
            try visit(deeper[index], levels: levels + 1)
        }
    }

    /// Returns about how many objects a list has.
    private func size(of list: Ref) throws(StorageError) -> Int {
        let node = try space.node(at: list)
        return node.isInner ? IndexSurvey.longList : node.count
    }

    /// Makes a survey that has not looked at anything.
    private init(space: NodeSpace) { self.space = space }
}
