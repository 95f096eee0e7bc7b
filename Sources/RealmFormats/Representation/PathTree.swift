// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform
internal import RealmStorage

/// A set of dotted paths as a tree, for the parameters `fields` and `expand`.
///
/// A step is a property; `@links.Class.property` is one step.
package struct PathTree: Sendable, Equatable {
    /// The subtree of each step at this level.
    package private(set) var children: [ByteText: PathTree] = [:]
    /// The steps at this level, in the order in which clients gave them first; objects are written in this order.
    package private(set) var order: [String] = []

    /// Creates a tree without paths.
    package init() {}

    /// Creates the tree of some dotted paths. Paths that begin alike share their steps.
    package init(_ paths: [String]) {
        for path in paths { insert(PathTree.steps(of: path)[...]) }
    }

    /// Whether no path continues at this level.
    package var isEmpty: Bool { children.isEmpty }
    /// Returns the subtree of a step; nil when no path has it.
    package subscript(name: String) -> PathTree? { children[name] }

    /// The number of steps of the longest path.
    package var depth: Int { children.values.map { 1 + $0.depth }.max() ?? 0 }

    /// Adds a path to the tree, given as its remaining steps.
    private mutating func insert(_ steps: ArraySlice<String>) {
        guard let first = steps.first else { return }
        if children[first] == nil { order.append(first) }
        children[first, default: PathTree()].insert(steps.dropFirst())
    }

    /// Splits a path at its dots, but keeps `@links`, class and property together.
    package static func steps(of path: String) -> [String] {
        let parts = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        var steps: [String] = []
        var index = 0
        while index < parts.count {
            if parts[index] == "@links", index + 2 < parts.count {
                steps.append(parts[index...index + 2].joined(separator: "."))
                index += 3
            } else {
                steps.append(parts[index])
                index += 1
            }
        }
        return steps
    }
}
