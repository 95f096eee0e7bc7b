// SPDX-License-Identifier: Apache-2.0

import RealmPlatform
@testable import RealmStorage

/// What an index files, level by level, without the cut into nodes.
indirect enum IndexShape: Equatable {
    case one(ObjectKey)
    case list([ObjectKey])
    case level([Int32: IndexShape])

    /// With `isTidy`, lists and levels of one entry, which erasures may leave behind, count as their entry.
    init(_ root: Ref, _ space: NodeSpace, holdsWords: Bool, isTidy: Bool = true) throws {
        self = .level(try IndexShape.entries(root, space, holdsWords, isTidy))
    }

    private static func entries(
        _ ref: Ref, _ space: NodeSpace, _ holdsWords: Bool, _ isTidy: Bool
    ) throws -> [Int32: IndexShape] {
        let node = try IndexNode(ref, space)
        var entries: [Int32: IndexShape] = [:]
        for position in 0..<node.count {
            guard !node.isInner else {
                let child = try IndexShape.entries(try node.child(position), space, holdsWords, isTidy)
                entries.merge(child) { first, _ in first }
                continue
            }
            let key = node.key(position)
            switch try node.entry(position) {
            case .one(let object): entries[key] = .one(object)
            case .list(let tree):
                let objects = try tree.objectKeys()
                entries[key] = isTidy && objects.count == 1 ? .one(objects[0]) : .list(objects)
            case .subindex(let root):
                let below = try IndexShape.entries(root, space, holdsWords, isTidy)
                entries[key] = isTidy ? lifted(below, key, holdsWords) : .level(below)
            }
        }
        return entries
    }

    private static func lifted(_ entries: [Int32: IndexShape], _ key: Int32, _ holdsWords: Bool) -> IndexShape {
        guard entries.count == 1, let (below, only) = entries.first else { return .level(entries) }
        if case .level = only { return .level(entries) }
        if !holdsWords { return only }
        return below == (WordIndexWriter.isPadded(key) ? 0 : IndexData.endKey) ? only : .level(entries)
    }
}

/// The nodes below a ref.
func reachableNodes(_ root: Ref, _ space: NodeSpace) throws -> Set<Ref> {
    var found: Set<Ref> = []
    var pending = [root]
    while let ref = pending.popLast() {
        guard found.insert(ref).inserted else { throw StorageError.corrupt(ref: ref, reason: "a shared node") }
        let node = try space.node(at: ref)
        guard node.hasRefs else { continue }
        for index in 0..<node.count {
            if case .ref(let child) = try node.slot(index) { pending.append(child) }
        }
    }
    return found
}
