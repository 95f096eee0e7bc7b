// SPDX-License-Identifier: Apache-2.0

/// How two loops lie to each other.
extension SphereLoop {
    /// Is `other`, a valid loop, inside this one? Boundaries may touch.
    func contains(_ other: SphereLoop, _ goesOn: GeoRegion.Check) -> Bool {
        guard bounds.contains(other.bounds) else { return false }
        let start = other.vertex(0)
        guard contains(start) || index(of: start) != nil else { return false }
        let meeting = meet(other, goesOn) { wedges in wedges.isContained ? .goOn : .stop }
        guard meeting == .apart else { return false }
        // Two loops that cover the whole sphere together contain each other's boundary, but not each other.
        if bounds.union(other.bounds).isFull, other.contains(vertex(0)), other.index(of: vertex(0)) == nil { return false }
        return true
    }

    /// Do the boundaries cross, also at a shared vertex?
    func crosses(_ other: SphereLoop, _ goesOn: GeoRegion.Check) -> Bool {
        guard bounds.intersects(other.bounds) else { return false }
        var hasWiderWedge = false
        var hasNarrowerWedge = false
        let meeting = meet(other, goesOn) { wedges in
            switch wedges.relation {
            case .overlapping: return .stop
            case .containing: hasWiderWedge = true
            case .contained: hasNarrowerWedge = true
            case .equal, .disjoint: break
            }
            return hasWiderWedge && hasNarrowerWedge ? .stop : .goOn
        }
        return meeting != .apart
    }

    /// Is `other` inside this loop, given that they share no edge and one is inside the other or both are apart?
    func containsNested(_ other: SphereLoop) -> Bool {
        guard bounds.contains(other.bounds) else { return false }
        guard let index = index(of: other.vertex(1)) else { return contains(other.vertex(1)) }
        return Wedges(self, endingAt: index + vertices.count - 1, other, endingAt: 0).isContained
    }

    /// The vertex that is the same point; nil when none is.
    private func index(of point: SpherePoint) -> Int? { vertices.firstIndex(of: point) }

    private enum Answer { case goOn, stop }
    private enum Meeting { case apart, stopped, crossing }

    /// Goes through all places where the boundaries meet. `atVertex` is asked about each shared vertex.
    private func meet(_ other: SphereLoop, _ goesOn: GeoRegion.Check, atVertex: (Wedges) -> Answer) -> Meeting {
        for theirs in other.vertices.indices {
            guard goesOn(vertices.count) else { return .stopped }
            var crossing = EdgeCrossing(other.vertex(theirs), other.vertex(theirs + 1), chainFrom: vertices[0])
            for mine in vertices.indices {
                switch crossing.next(vertex(mine + 1)) {
                case .none: continue
                case .crossing: return .crossing
                case .vertex:
                    // Each shared vertex is looked at once, where both edges end.
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
    let center: SpherePoint
    let before: SpherePoint
    let after: SpherePoint
    let otherBefore: SpherePoint
    let otherAfter: SpherePoint

    /// The vertex at the end of the edges that start at the given indexes.
    init(_ loop: SphereLoop, endingAt index: Int, _ other: SphereLoop, endingAt otherIndex: Int) {
        let count = loop.vertices.count
        center = loop.vertices[(index + 1) % count]
        before = loop.vertices[index % count]
        after = loop.vertices[(index + 2) % count]
        otherBefore = other.vertices[otherIndex % other.vertices.count]
        otherAfter = other.vertices[(otherIndex + 2) % other.vertices.count]
    }

    /// Whether the points follow one another counterclockwise around the vertex.
    private func isOrdered(_ a: SpherePoint, _ b: SpherePoint, _ c: SpherePoint) -> Bool {
        Orientation.isOrdered(a, b, c, around: center)
    }

    /// Is the other loop's angle within the first one's?
    var isContained: Bool { isOrdered(after, otherAfter, otherBefore) && isOrdered(otherBefore, before, after) }

    /// The first angle as seen from the second.
    enum Relation { case equal, containing, contained, overlapping, disjoint }

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
