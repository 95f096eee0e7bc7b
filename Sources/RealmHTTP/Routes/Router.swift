// SPDX-License-Identifier: Apache-2.0

package import MicroHTTP
internal import RealmCalls
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// Finds the route of a path, by a tree over the segments of all patterns.
///
/// At each position fixed words are tried before a variable; where they lead to no route the variable is tried, so that a
/// property may be called `@links`. The tree is built once and never changes, so any thread may use it. All words are in one
/// array: references to many small ones would be counted by all threads for each request.
package struct Router: Sendable {
    /// A fixed word, which leads from one node to another.
    private struct Word {
        /// The place of the word in `letters`.
        let letters: Range<Int>
        /// The node that it leads to.
        let node: Int
    }

    /// A position in the tree: the common part of paths with the same beginning.
    private struct Node {
        /// The fixed words that lead from here, in `words`. There are at most a dozen, and most differ in length.
        var words = 0..<0
        /// The node below for any other segment; nil when no pattern has a variable here.
        var variable: Int?
        /// The node below for all segments that are left; nil when no pattern has such a variable here.
        var rest: Int?
        /// The number of the route whose pattern ends here; nil when none does.
        var route: Int?
    }

    /// All nodes; the first one is the root, and nodes refer to each other by index.
    private let nodes: [Node]
    /// The words of all nodes, those of one node next to each other.
    private let words: [Word]
    /// The words as UTF-8, one after the other.
    private let letters: [UInt8]
    /// The number of the route for the server as a whole.
    private let server: Int

    /// Builds the tree.
    ///
    /// - Parameter routes: The routes, whose numbers are their indices. The first one represents
    ///   paths that no pattern matches. Two routes with equal patterns are a programming error and
    ///   end the process.
    package init(_ routes: [Route]) {
        var nodes = [Node()]
        var children: [[(bytes: [UInt8], node: Int)]] = [[]]
        for (index, route) in routes.enumerated() where !route.pattern.segments.isEmpty {
            var node = 0
            for segment in route.pattern.segments { node = Router.child(of: node, segment, in: &nodes, &children) }
            precondition(nodes[node].route == nil, "two routes have the pattern \(route.pattern.text)")
            nodes[node].route = index
        }
        var words: [Word] = []
        var letters: [UInt8] = []
        for (node, children) in children.enumerated() {
            nodes[node].words = words.count..<words.count + children.count
            for child in children {
                words.append(Word(letters: letters.count..<letters.count + child.bytes.count, node: child.node))
                letters += child.bytes
            }
        }
        self.nodes = nodes
        self.words = words
        self.letters = letters
        server = routes.firstIndex { $0.traits.contains(.isServer) } ?? 0
    }

    /// Returns the node for one more segment, which is added when it is new.
    ///
    /// - Parameters:
    ///   - parent: The index of the node above.
    ///   - segment: The next segment of a pattern.
    ///   - words: The words that lead from each node, and the nodes that they lead to.
    private static func child(
        of parent: Int, _ segment: PathPattern.Segment, in nodes: inout [Node], _ words: inout [[(bytes: [UInt8], node: Int)]]
    ) -> Int {
        switch segment {
        case .word(let word):
            let bytes = Array(word.utf8)
            if let known = words[parent].first(where: { $0.bytes == bytes }) { return known.node }
            words[parent].append((bytes, nodes.count))
        case .variable(.path):
            if let known = nodes[parent].rest { return known }
            nodes[parent].rest = nodes.count
        case .variable:
            if let known = nodes[parent].variable { return known }
            nodes[parent].variable = nodes.count
        }
        nodes.append(Node())
        words.append([])
        return nodes.count - 1
    }

    /// Returns the number of the route of a target.
    ///
    /// - Parameter target: The target, whose segments are compared before percent-decoding but for the sign in front of words.
    /// - Returns: The number; 0 when no pattern matches, or when a segment is empty. A path with a trailing slash matches only a
    ///   pattern that has one.
    package func index(of target: RequestTarget) -> Int {
        if target.isAsterisk { return server }
        guard !target.segments.isEmpty, !target.segments.dropLast().contains(where: { $0.isEmpty }) else { return 0 }
        return find(target, from: 0, at: 0) ?? 0
    }

    /// Finds the route of the remaining segments.
    ///
    /// - Parameters:
    ///   - node: The node that the segments so far have led to.
    ///   - depth: The number of these segments.
    /// - Returns: The number of the route; nil when none matches.
    private func find(_ target: RequestTarget, from node: Int, at depth: Int) -> Int? {
        guard depth < target.segments.count else { return nodes[node].route }
        let segment = target.segments[depth]
        for index in nodes[node].words where isWord(words[index].letters, target.bytes, segment) {
            if let found = find(target, from: words[index].node, at: depth + 1) { return found }
        }
        // A slash at the end is no empty name.
        guard !segment.isEmpty else { return nil }
        if let variable = nodes[node].variable, let found = find(target, from: variable, at: depth + 1) { return found }
        guard let rest = nodes[node].rest, !target.segments[target.segments.count - 1].isEmpty else { return nil }
        return nodes[rest].route
    }

    /// Whether a segment is a fixed word. The sign in front of some may be percent-encoded, as many clients send it.
    ///
    /// - Parameters:
    ///   - word: The place of the word in `letters`.
    ///   - bytes: The target.
    private func isWord(_ word: Range<Int>, _ bytes: [UInt8], _ segment: Range<Int>) -> Bool {
        if word.count == segment.count { return isEqual(word, bytes, segment.lowerBound) }
        guard !word.isEmpty, segment.count == word.count + 2, letters[word.lowerBound] == UInt8(ascii: "@"),
            bytes[segment].starts(with: "%40".utf8)
        else { return false }
        return isEqual(word.lowerBound + 1..<word.upperBound, bytes, segment.lowerBound + 3)
    }

    /// Whether a part of `letters` is equal to as many bytes of a target.
    private func isEqual(_ part: Range<Int>, _ bytes: [UInt8], _ start: Int) -> Bool {
        var index = start
        for letter in part {
            guard letters[letter] == bytes[index] else { return false }
            index += 1
        }
        return true
    }
}
