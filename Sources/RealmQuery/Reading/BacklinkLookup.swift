// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// Finds the objects that link to given ones: their incoming links are stored with them.
struct BacklinkLookup {
    private let targets: ObjectFinder
    private let backlinks: Column
    private let keys: [ObjectKey]

    /// Nil when the link has no counterpart in its target, or a null is asked for.
    init?(_ step: LinkStep, to values: [Value]) {
        guard step.kind != .backlink, !step.hasSelector,
            let backlinks = step.target.backlinks.first(where: {
                $0.targetTable == step.source.key && $0.oppositeColumn?.leafIndex == step.column.leafIndex
            })
        else { return nil }
        var keys: [ObjectKey] = []
        for value in values {
            guard case .link(step.target.key, let key) = value else { return nil }
            keys.append(key)
        }
        self.backlinks = backlinks
        self.keys = keys
        targets = ObjectFinder(step.target)
    }

    /// How many links lead to the targets: no fewer than the objects that they come from.
    func count() throws(StorageError) -> Int {
        var count = 0
        for key in keys {
            guard let target = try targets.find(key) else { continue }
            count += try target.leaf.backlinks(backlinks, row: target.index).count
        }
        return count
    }

    /// The keys of the objects that link to any of the targets; ascending, each once.
    func origins() throws(StorageError) -> [ObjectKey] {
        var origins: Set<ObjectKey> = []
        for key in keys {
            guard let target = try targets.find(key) else { continue }
            origins.formUnion(try target.leaf.backlinks(backlinks, row: target.index).keys())
        }
        return origins.filter { $0.rawValue >= 0 }.sorted()
    }
}
