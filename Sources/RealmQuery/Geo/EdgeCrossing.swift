// SPDX-License-Identifier: Apache-2.0

/// An edge that is tested against the edges of a chain of points, one after another.
struct EdgeCrossing {
    /// How two edges meet.
    enum Result { case none, vertex, crossing }

    private let a: SpherePoint
    private let b: SpherePoint
    private let cross: SpherePoint
    private var c: SpherePoint
    private var turnAtC: Int

    /// The edge from `a` to `b`; the chain starts at `c`.
    init(_ a: SpherePoint, _ b: SpherePoint, chainFrom c: SpherePoint) {
        self.a = a
        self.b = b
        cross = a.cross(b)
        self.c = c
        turnAtC = -Orientation.turn(a, b, c, cross: cross)
    }

    /// Begins a new chain of edges at a point.
    mutating func restart(at point: SpherePoint) {
        c = point
        turnAtC = -Orientation.turn(a, b, point, cross: cross)
    }

    /// How the next edge of the chain, which ends at `d`, meets this edge.
    @inline(__always)
    mutating func next(_ d: SpherePoint) -> Result {
        let turnAtD = Orientation.turn(a, b, d, cross: cross)
        defer {
            c = d
            turnAtC = -turnAtD
        }
        if turnAtD == -turnAtC && turnAtD != 0 { return .none }
        if turnAtD == 0 || turnAtC == 0 { return .vertex }
        return crosses(d) ? .crossing : .none
    }

    /// Does the next edge of the chain cross this one, or pass it at a shared vertex, when points are counted by parity?
    @inline(__always)
    mutating func nextChangesSide(_ d: SpherePoint) -> Bool {
        let start = c
        switch next(d) {
        case .none: return false
        case .crossing: return true
        case .vertex: return crossesAtVertex(start, d)
        }
    }

    /// Whether the edge from the last point to `d` crosses the fixed edge.
    private func crosses(_ d: SpherePoint) -> Bool {
        let other = c.cross(d)
        guard -Orientation.turn(c, d, b, cross: other) == turnAtC else { return false }
        return Orientation.turn(c, d, a, cross: other) == turnAtC
    }

    /// Of the edges that meet at a shared vertex those count of which this edge is further counterclockwise, from a
    /// fixed direction on; so that a path past the vertex crosses as often as a path around it.
    private func crossesAtVertex(_ c: SpherePoint, _ d: SpherePoint) -> Bool {
        if a == b || c == d { return false }
        if a == d { return Orientation.isOrdered(a.orthogonal, c, b, around: a) }
        if b == c { return Orientation.isOrdered(b.orthogonal, d, a, around: b) }
        if a == c { return Orientation.isOrdered(a.orthogonal, d, b, around: a) }
        if b == d { return Orientation.isOrdered(b.orthogonal, c, a, around: b) }
        return false
    }
}
