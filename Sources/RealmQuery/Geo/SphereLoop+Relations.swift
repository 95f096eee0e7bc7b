// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The relations of two loops, which decide whether a polygon with holes is valid.
extension SphereLoop {
    /// Returns whether another loop, which has to be valid, is inside this one. The boundaries may touch.
    ///
    /// - Parameters:
    ///   - continues: Decides whether to continue. Once it has returned false, the result is meaningless.
    /// - Complexity: O(m × n) for loops of m and n vertices.
    func contains(_ other: SphereLoop, _ continues: GeoRegion.Check) -> Bool {
        guard bounds.contains(other.bounds) else { return false }
        let start = other.vertex(0)
        guard contains(start) || index(of: start) != nil else { return false }
        let meeting = meet(other, continues) { wedges in wedges.isContained ? .proceed : .stop }
        guard meeting == .apart else { return false }
        // Two loops that cover the whole sphere together contain each other's boundary, but not each other.
        if bounds.union(other.bounds).isFull, other.contains(vertex(0)), other.index(of: vertex(0)) == nil { return false }
        return true
    }

    /// Returns whether the boundaries cross, possibly at a shared vertex.
    ///
    /// - Parameters:
    ///   - continues: Decides whether to continue. Once it has returned false, the result is meaningless.
    /// - Complexity: O(m × n) for loops of m and n vertices.
    func crosses(_ other: SphereLoop, _ continues: GeoRegion.Check) -> Bool {
        guard bounds.intersects(other.bounds) else { return false }
        var hasWiderWedge = false
        var hasNarrowerWedge = false
        let meeting = meet(other, continues) { wedges in
            switch wedges.relation {
            case .overlapping: return .stop
            case .containing: hasWiderWedge = true
            case .contained: hasNarrowerWedge = true
            case .equal, .disjoint: break
            }
            return hasWiderWedge && hasNarrowerWedge ? .stop : .proceed
        }
        return meeting != .apart
    }

    /// Returns whether another loop is inside this one, provided that the two share no edge and do not cross.
    func containsNested(_ other: SphereLoop) -> Bool {
        guard bounds.contains(other.bounds) else { return false }
        guard let index = index(of: other.vertex(1)) else { return contains(other.vertex(1)) }
        return Wedges(self, endingAt: index + vertices.count - 1, other, endingAt: 0).isContained
    }

    /// The index of the vertex that is the same point; nil when there is none.
    private func index(of point: SpherePoint) -> Int? { vertices.firstIndex(of: point) }

    /// The answer of a closure that is called for shared vertices: whether to examine the next place.
    private enum Answer { case proceed, stop }
    /// The result of examining two boundaries: they do not cross, the examination was ended early, or two edges cross.
    private enum Meeting { case apart, stopped, crossing }

    /// Examines all places where the boundaries meet.
    ///
    /// - Parameters:
    ///   - continues: Decides whether to continue.
    ///   - atVertex: Is called for each shared vertex with the angles of both loops there.
    private func meet(_ other: SphereLoop, _ continues: GeoRegion.Check, atVertex: (Wedges) -> Answer) -> Meeting {
        for theirs in other.vertices.indices {
            guard continues(vertices.count) else { return .stopped }
            var crossing = EdgeCrossing(other.vertex(theirs), other.vertex(theirs + 1), chainFrom: vertices[0])
            for mine in vertices.indices {
                switch crossing.next(vertex(mine + 1)) {
                case .none: continue
                case .crossing: return .crossing
                case .vertex:
                    // Each shared vertex is examined once, where both edges end.
                    guard vertex(mine + 1) == other.vertex(theirs + 1) else { continue }
                    if atVertex(Wedges(self, endingAt: mine, other, endingAt: theirs)) == .stop { return .stopped }
                }
            }
        }
        return .apart
    }
}

/// The angles of two loops at a vertex that they share.
private struct Wedges {
    /// The vertex that both loops share.
    let center: SpherePoint
    /// The vertex before the shared one in the first loop.
    let before: SpherePoint
    /// The vertex after the shared one in the first loop.
    let after: SpherePoint
    /// The vertex before the shared one in the other loop.
    let otherBefore: SpherePoint
    /// The vertex after the shared one in the other loop.
    let otherAfter: SpherePoint

    /// Takes the vertex at the end of the two edges that start at the given indexes.
    init(_ loop: SphereLoop, endingAt index: Int, _ other: SphereLoop, endingAt otherIndex: Int) {
        let count = loop.vertices.count
        center = loop.vertices[(index + 1) % count]
        before = loop.vertices[index % count]
        after = loop.vertices[(index + 2) % count]
        otherBefore = other.vertices[otherIndex % other.vertices.count]
        otherAfter = other.vertices[(otherIndex + 2) % other.vertices.count]
    }

    /// Whether three points follow one another counterclockwise around the vertex.
    private func isOrdered(_ a: SpherePoint, _ b: SpherePoint, _ c: SpherePoint) -> Bool {
        Orientation.isOrdered(a, b, c, around: center)
    }

    /// Whether the angle of the other loop lies within that of the first one.
    var isContained: Bool { isOrdered(after, otherAfter, otherBefore) && isOrdered(otherBefore, before, after) }

    /// The relation of the first loop's angle at the shared vertex to that of the other loop.
    enum Relation { case equal, containing, contained, overlapping, disjoint }

    /// The relation of the first loop's angle to that of the other loop.
    var relation: Relation {
        if before == otherBefore && after == otherAfter { return .equal }
        if isOrdered(before, after, otherAfter) {
            if isOrdered(otherAfter, otherBefore, before) { return .containing }
            return after == otherAfter ? .contained : .overlapping
        }
        if isOrdered(before, otherBefore, otherAfter) { return .contained }
        return isOrdered(before, otherBefore, after) ? .disjoint : .overlapping
    }
}
