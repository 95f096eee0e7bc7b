// SPDX-License-Identifier: Apache-2.0

/// Finds the route of a path, by a tree over the segments of all patterns.
///
/// At each position fixed words come before a variable; where the words lead nowhere the variable is tried, so that a
/// property may be called `@links`. The tree is built once and never changes, so any thread may use it.
package struct Router: Sendable {
    private struct Node {
        /// Nodes below by their fixed words. There are at most a dozen, and most differ in length.
        var words: [(bytes: [UInt8], node: Int)] = []
        /// The node below for any other text.
        var variable: Int?
        /// The route that ends here.
        var route: Int?
    }

    private let nodes: [Node]
    private let server: Int

    /// A router over `routes`, whose numbers are their indices; the first one stands for paths that no pattern has.
    package init(_ routes: [Route]) {
        var nodes = [Node()]
        for (index, route) in routes.enumerated() where !route.pattern.segments.isEmpty {
            var node = 0
            for segment in route.pattern.segments { node = Router.child(of: node, segment, in: &nodes) }
            precondition(nodes[node].route == nil, "two routes have the pattern \(route.pattern.text)")
            nodes[node].route = index
        }
        self.nodes = nodes
        server = routes.firstIndex { $0.traits.contains(.isServer) } ?? 0
    }

    private static func child(of parent: Int, _ segment: PathPattern.Segment, in nodes: inout [Node]) -> Int {
        switch segment {
        case .word(let word):
            let bytes = Array(word.utf8)
            if let known = nodes[parent].words.first(where: { $0.bytes == bytes }) { return known.node }
            nodes[parent].words.append((bytes, nodes.count))
        case .variable:
            if let known = nodes[parent].variable { return known }
            nodes[parent].variable = nodes.count
        }
        nodes.append(Node())
        return nodes.count - 1
    }

    /// The number of the route of `target`; 0 when there is none.
    package func index(of target: RequestTarget) -> Int {
        if target.isAsterisk { return server }
        guard !target.segments.isEmpty, !target.segments.contains(where: { $0.isEmpty }) else { return 0 }
        return find(target, from: 0, at: 0) ?? 0
    }

    private func find(_ target: RequestTarget, from node: Int, at depth: Int) -> Int? {
        guard depth < target.segments.count else { return nodes[node].route }
        let segment = target.segment(depth)
        for child in nodes[node].words where child.bytes.count == segment.count && child.bytes.elementsEqual(segment) {
            if let found = find(target, from: child.node, at: depth + 1) { return found }
        }
        guard let variable = nodes[node].variable else { return nil }
        return find(target, from: variable, at: depth + 1)
    }
}
