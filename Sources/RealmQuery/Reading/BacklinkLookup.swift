// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Finds the objects that link to given objects, without reading the whole class: the incoming
/// links of an object are stored with it.
///
/// The planner uses it for comparisons such as `link == obj('C', 1)`.
struct BacklinkLookup {
    /// Finds the given objects, whose incoming links are read.
    private let targets: ObjectFinder
    /// The backlink column of the target class that belongs to the link.
    private let backlinks: Column
    /// The keys of the given objects, whose incoming links are read.
    private let keys: [ObjectKey]

    /// Creates a look-up for a link of the base class.
    ///
    /// - Parameters:
    ///   - step: The link. It must take all elements of a collection, not a single one.
    ///   - values: The objects that are linked to.
    ///   - cancellation: The check that limits the leaves which all parts of the query keep.
    /// - Returns: Nil when the link is a backlink itself, or when one of the values is null or not
    ///   an object of the target class.
    init?(_ step: LinkStep, to values: [Value], _ cancellation: CancellationCheck?) {
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
        targets = ObjectFinder(step.target, cancellation)
    }

    /// Returns the number of links that lead to the targets, which is at least the number of objects they come from.
    ///
    /// - Complexity: O(number of targets).
    func count() throws(StorageError) -> Int {
        var count = 0
        for key in keys {
            guard let target = try targets.find(key) else { continue }
            count += try target.leaf.backlinks(backlinks, row: target.index).count
        }
        return count
    }

    /// Adds the keys of the objects that link to any of the targets, without those of tombstones.
    ///
    /// - Parameter origins: Receives the keys.
    func addOrigins(to origins: inout Set<ObjectKey>) throws(StorageError) {
        for key in keys {
            guard let target = try targets.find(key) else { continue }
            for origin in try target.leaf.backlinks(backlinks, row: target.index).keys() where origin.rawValue >= 0 {
                origins.insert(origin)
            }
        }
    }
}
