/// What happened to a list from one version to another.
///
/// `deletions` and `oldIndex` count in the list before, `insertions` and `index` in the list after; all are ascending.
public struct ChangeSet<Element: Sendable>: Sendable {
    /// A row that changed where it is.
    public struct Modification: Sendable, Hashable {
        public let oldIndex: Int
        public let index: Int
        /// The properties that were written; empty when only something linked changed.
        public let properties: [String]
    }

    /// A row that is in `deletions` and `insertions` because it moved.
    public struct Move: Sendable, Hashable {
        public let from: Int
        public let to: Int
    }

    public internal(set) var deletions: [Int] = []
    public internal(set) var insertions: [Int] = []
    public internal(set) var modifications: [Modification] = []
    public internal(set) var moves: [Move] = []
    /// The rows that were inserted or modified, by their new index.
    public internal(set) var rows: [Int: Element] = [:]
    public internal(set) var version: String?
    /// The contents were read anew, or this reader was too far behind: `insertions` are the whole list.
    public internal(set) var isReset = false
    /// The list was emptied by one operation.
    public internal(set) var isCleared = false
    /// The object that owned the list is gone; nothing follows.
    public internal(set) var isDeleted = false

    /// Whether nothing happened.
    public var isEmpty: Bool {
        deletions.isEmpty && insertions.isEmpty && modifications.isEmpty && !isReset && !isCleared && !isDeleted
    }

    /// Makes the list before into the list after.
    public func apply(to list: inout [Element]) {
        if isReset { list.removeAll() }
        if let result = try? spliced(list), modifications.allSatisfy({ $0.index < result.count }) { list = result }
        for row in modifications { if let new = rows[row.index], row.index < list.count { list[row.index] = new } }
    }

    /// The list with deletions and insertions, in one pass over it.
    func spliced(_ list: [Element]) throws(Diverged) -> [Element] {
        if isReset || (deletions.isEmpty && insertions.isEmpty) {
            return isReset ? insertions.compactMap { rows[$0] } : list
        }
        if let last = deletions.last, last >= list.count { throw Diverged(description: "a deletion beyond the end") }
        let gone = Set(deletions)
        let kept = gone.isEmpty ? list : list.indices.lazy.filter { !gone.contains($0) }.map { list[$0] }
        var result: [Element] = []
        result.reserveCapacity(kept.count + insertions.count)
        var taken = 0
        for index in insertions {
            let count = index - result.count
            guard count >= 0, taken + count <= kept.count, let row = rows[index] else {
                throw Diverged(description: "an insertion beyond the end")
            }
            result += kept[taken..<taken + count]
            taken += count
            result.append(row)
        }
        return result + kept[taken...]
    }
}

extension ChangeSet {
    /// The set of contents that were read anew.
    static func replacing(_ count: Int, by list: [Element], version: String?) -> ChangeSet {
        var change = ChangeSet(version: version, isReset: true)
        change.deletions = Array(0..<count)
        change.insertions = Array(list.indices)
        change.rows = Dictionary(uniqueKeysWithValues: zip(list.indices, list))
        return change
    }

    /// A set between two lists: equal ends stay, and what is between them is deleted and inserted.
    static func between(
        _ old: [Element], _ new: [Element], key: (Element) -> String, isSame: (Element, Element) -> Bool
    ) -> ChangeSet {
        let shorter = min(old.count, new.count)
        var head = 0
        while head < shorter, key(old[head]) == key(new[head]) { head += 1 }
        var tail = 0
        while tail < shorter - head, key(old[old.count - 1 - tail]) == key(new[new.count - 1 - tail]) { tail += 1 }
        var change = ChangeSet()
        change.deletions = Array(head..<old.count - tail)
        change.insertions = Array(head..<new.count - tail)
        for index in change.insertions { change.rows[index] = new[index] }
        let pairs = (0..<head).map { ($0, $0) } + (0..<tail).reversed().map { (old.count - 1 - $0, new.count - 1 - $0) }
        for (before, after) in pairs where !isSame(old[before], new[after]) {
            change.modifications.append(Modification(oldIndex: before, index: after, properties: []))
            change.rows[after] = new[after]
        }
        return change
    }
}

/// Whether a position includes a version of the same life of the file.
func reached(_ position: String?, _ version: String) -> Bool {
    guard let position else { return false }
    let (here, wanted) = (position.split(separator: "."), version.split(separator: "."))
    guard here.count == 2, wanted.count == 2, here[0] == wanted[0], let count = Int(here[1]), let goal = Int(wanted[1]) else {
        return false
    }
    return count >= goal
}
