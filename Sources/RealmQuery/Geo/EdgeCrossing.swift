// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// Tests one fixed edge against the edges of a chain of points, one after another.
///
/// The orientation at the last point of the chain is kept, so that each additional edge takes one calculation in most cases.
struct EdgeCrossing {
    /// The way in which two edges meet: not at all, in a vertex that they share, or by crossing inside of both.
    enum Result { case none, vertex, crossing }

    private let a: SpherePoint
    private let b: SpherePoint
    /// The vector product of the fixed edge's two ends, which every orientation test needs.
    private let cross: SpherePoint
    /// The last point of the chain, at which its next edge starts.
    private var c: SpherePoint
    /// The orientation of the fixed edge's ends and `c`, with the opposite sign.
    private var turnAtC: Int

    /// Fixes an edge and begins a chain.
    ///
    /// - Parameters:
    ///   - a: The start of the fixed edge.
    ///   - b: The end of the fixed edge.
    ///   - c: The first point of the chain.
    init(_ a: SpherePoint, _ b: SpherePoint, chainFrom c: SpherePoint) {
        self.a = a
        self.b = b
        cross = a.cross(b)
        self.c = c
        turnAtC = -Orientation.turn(a, b, c, cross: cross)
    }

    /// Returns how the next edge of the chain meets the fixed edge.
    ///
    /// - Parameter d: The end of that edge, which becomes the last point of the chain.
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

    /// Returns whether the next edge of the chain crosses the fixed edge, or passes it at a shared vertex, in the sense in
    /// which crossings are counted to decide whether a point is inside a loop.
    ///
    /// - Parameter d: The end of that edge, which becomes the last point of the chain.
    @inline(__always)
    mutating func nextChangesSide(_ d: SpherePoint) -> Bool {
        let start = c
        switch next(d) {
        case .none: return false
        case .crossing: return true
        case .vertex: return crossesAtVertex(start, d)
        }
    }

    /// Returns whether the edge from the last point to `d` crosses the fixed edge inside of both.
    private func crosses(_ d: SpherePoint) -> Bool {
        let other = c.cross(d)
        guard -Orientation.turn(c, d, b, cross: other) == turnAtC else { return false }
        return Orientation.turn(c, d, a, cross: other) == turnAtC
    }

    /// Returns whether two edges that share a vertex count as crossing.
    ///
    /// Of the edges that meet at the vertex, those count that have the fixed edge on their counterclockwise side, seen from a
    /// fixed direction. A path past the vertex so crosses as often as a path around it.
    private func crossesAtVertex(_ c: SpherePoint, _ d: SpherePoint) -> Bool {
        if a == b || c == d { return false }
        if a == d { return Orientation.isOrdered(a.orthogonal, c, b, around: a) }
        if b == c { return Orientation.isOrdered(b.orthogonal, d, a, around: b) }
        if a == c { return Orientation.isOrdered(a.orthogonal, d, b, around: a) }
        if b == d { return Orientation.isOrdered(b.orthogonal, c, a, around: b) }
        return false
    }
}
