// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The order in which objects are identified by their contents: the targets of links before the objects with the links.
///
/// Objects that lead to each other in a circle (a strongly connected component) are found by the algorithm of Tarjan, without
/// recursion. An object has the level above all of its targets outside of its circle.
struct ContentLevels {
    /// The number of links that are remembered at a time, at most.
    private static let linkLimit = 1 << 24

    /// The level of each object.
    private(set) var levels: [Int32]
    /// The circle that each object is in; 0 for none.
    private(set) var circles: [Int32]

    /// An object whose targets are being visited.
    private struct Frame {
        let number: Int
        let targets: [Int32]
        var next = 0
        var linksToItself = false
    }

    /// The order in which objects were met, from 1; 0 for those that were not.
    private var met: [Int32]
    /// The earliest object that each one leads to.
    private var lowest: [Int32]
    /// Whether the circle of an object is complete.
    private var isDone: [Bool]
    /// The objects whose circles are not complete.
    private var open: [Int] = []
    private var frames: [Frame] = []
    private var time: Int32 = 0
    private var circleCount: Int32 = 0
    private var linkCount = 0

    /// Finds the levels of objects.
    ///
    /// - Parameters:
    ///   - nodes: The objects.
    ///   - targets: Returns the objects that an object links to, each once.
    /// - Throws: Errors of `targets`, or a limit when there are too many links.
    init(_ nodes: ContentNodes, targets: (Int) throws(StorageError) -> [Int32]) throws(StorageError) {
        levels = Array(repeating: 0, count: nodes.count)
        circles = Array(repeating: 0, count: nodes.count)
        let linking = nodes.classes.filter(\.mayLink)
        met = linking.isEmpty ? [] : Array(repeating: 0, count: nodes.count)
        lowest = met
        isDone = Array(repeating: false, count: met.count)
        guard !linking.isEmpty else { return }
        for one in nodes.classes where !one.mayLink {
            for number in one.range {
                met[number] = 1
                isDone[number] = true
            }
        }
        time = 1
        for one in linking {
            for number in one.range where met[number] == 0 { try visit(number, targets) }
        }
        (met, lowest, isDone) = ([], [], [])
    }

    private mutating func visit(_ root: Int, _ targets: (Int) throws(StorageError) -> [Int32]) throws(StorageError) {
        try enter(root, targets)
        while let last = frames.indices.last {
            let number = frames[last].number
            guard frames[last].next < frames[last].targets.count else {
                leave(number)
                continue
            }
            let target = Int(frames[last].targets[frames[last].next])
            frames[last].next += 1
            if met[target] == 0 {
                try enter(target, targets)
            } else if isDone[target] {
                levels[number] = max(levels[number], levels[target] + 1)
            } else {
                lowest[number] = min(lowest[number], met[target])
                if target == number { frames[last].linksToItself = true }
            }
        }
    }

    private mutating func enter(_ number: Int, _ targets: (Int) throws(StorageError) -> [Int32]) throws(StorageError) {
        time += 1
        met[number] = time
        lowest[number] = time
        open.append(number)
        let found = try targets(number)
        linkCount += found.count
        guard linkCount <= ContentLevels.linkLimit else {
            throw .limit("there are too many links between objects without a primary key to compare them by their contents")
        }
        frames.append(Frame(number: number, targets: found))
    }

    /// Leaves an object, which completes its circle if it is the first one of it.
    private mutating func leave(_ number: Int) {
        let frame = frames.removeLast()
        linkCount -= frame.targets.count
        if lowest[number] == met[number] { complete(number, linksToItself: frame.linksToItself) }
        guard let above = frames.last?.number else { return }
        if isDone[number] {
            levels[above] = max(levels[above], levels[number] + 1)
        } else {
            lowest[above] = min(lowest[above], lowest[number])
        }
    }

    private mutating func complete(_ number: Int, linksToItself: Bool) {
        let first = open.lastIndex(of: number) ?? 0
        let members = open[first...]
        let level = members.lazy.map { [levels] in levels[$0] }.max() ?? 0
        if members.count > 1 || linksToItself { circleCount += 1 }
        for member in members {
            levels[member] = level
            if members.count > 1 || linksToItself { circles[member] = circleCount }
            isDone[member] = true
        }
        open.removeSubrange(first...)
    }
}
