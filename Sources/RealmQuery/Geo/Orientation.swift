// SPDX-License-Identifier: Apache-2.0

/// Which way three points on the sphere turn, and what follows from it.
///
/// A turn is 1 (counterclockwise), -1 (clockwise) or 0 (two points are the same). It is the sign of a determinant; where
/// that is too close to zero to be trusted it is computed again from the differences of near points, and where that is
/// zero the points count as moved by infinitely little. These are the rules of the reference engine's sphere geometry,
/// so that points on the border of a shape fall on the same side. Source: realm-core `external/s2/s2.cc`.
enum Orientation {
    /// Above this the sign of the plain determinant of three unit vectors is right: 14 × 2^-54.
    private static let determinantError = 0.8e-15

    /// 1 when the path over the points turns left, -1 when it turns right, 0 when two of them are the same.
    static func turn(_ a: SpherePoint, _ b: SpherePoint, _ c: SpherePoint) -> Int {
        turn(a, b, c, cross: a.cross(b))
    }

    /// The same with the cross product of the first two points at hand.
    @inline(__always)
    static func turn(_ a: SpherePoint, _ b: SpherePoint, _ c: SpherePoint, cross: SpherePoint) -> Int {
        let determinant = cross.dot(c)
        if determinant > determinantError { return 1 }
        if determinant < -determinantError { return -1 }
        return carefulTurn(a, b, c)
    }

    /// Is `b` met between `a` and `c` when turning counterclockwise around `center`? True if `b` is one of them,
    /// false if it is not and these two are the same.
    static func isOrdered(_ a: SpherePoint, _ b: SpherePoint, _ c: SpherePoint, around center: SpherePoint) -> Bool {
        var agreements = 0
        if turn(b, center, a) >= 0 { agreements += 1 }
        if turn(c, center, b) >= 0 { agreements += 1 }
        if turn(a, center, c) > 0 { agreements += 1 }
        return agreements >= 2
    }

    /// For points that are nearly on one great circle: measured from the one opposite the longest side.
    @inline(never)
    private static func carefulTurn(_ a: SpherePoint, _ b: SpherePoint, _ c: SpherePoint) -> Int {
        if a == b || b == c || c == a { return 0 }
        let ab = Side(a, b)
        let bc = Side(b, c)
        let ca = Side(c, a)
        let determinant: Double
        if ca.isShorter(than: bc, orElse: SpherePoint.precedes(a, b)) {
            determinant =
                ab.isShorter(than: bc, orElse: SpherePoint.precedes(a, c))
                ? ab.vector.cross(ca.vector).dot(a) * ab.sign : ca.vector.cross(bc.vector).dot(c) * ca.sign
        } else {
            determinant =
                ab.isShorter(than: ca, orElse: SpherePoint.precedes(b, c))
                ? bc.vector.cross(ab.vector).dot(b) * bc.sign : ca.vector.cross(bc.vector).dot(c) * ca.sign
        }
        if determinant != 0 { return determinant > 0 ? 1 : -1 }
        return perturbedTurn(a, b, c)
    }

    /// The difference of two near points, or the sum of two that are nearly opposite: whichever is shorter.
    private struct Side {
        let sign: Double
        let vector: SpherePoint
        let squaredLength: Double

        init(_ first: SpherePoint, _ second: SpherePoint) {
            sign = first.dot(second) > 0 ? -1 : 1
            vector = first + sign * second
            squaredLength = vector.squaredLength
        }

        func isShorter(than other: Side, orElse tie: Bool) -> Bool {
            squaredLength < other.squaredLength || squaredLength == other.squaredLength && tie
        }
    }

    /// For points that cannot be told from coplanar: as if all were moved by one infinitely small vector. That is the
    /// turn around the origin in the y-z plane, or else in the z-x plane, or else in the x-y plane.
    private static func perturbedTurn(_ a: SpherePoint, _ b: SpherePoint, _ c: SpherePoint) -> Int {
        let turn = Planar.turn(Planar(x: a.y, y: a.z), Planar(x: b.y, y: b.z), Planar(x: c.y, y: c.z))
        if turn != 0 { return turn }
        let second = Planar.turn(Planar(x: a.z, y: a.x), Planar(x: b.z, y: b.x), Planar(x: c.z, y: c.x))
        if second != 0 { return second }
        return Planar.turn(Planar(x: a.x, y: a.y), Planar(x: b.x, y: b.y), Planar(x: c.x, y: c.y))
    }

    /// Two coordinates of a point, for the exact decision.
    private struct Planar {
        let x: Double
        let y: Double

        /// Do the three points go around the origin counterclockwise, as the majority of the three steps does?
        static func turn(_ a: Planar, _ b: Planar, _ c: Planar) -> Int {
            (step(a, b) + step(b, c) + step(c, a)).signum()
        }

        private static func step(_ a: Planar, _ b: Planar) -> Int {
            let sign: Double = a.x * b.x + a.y * b.y > 0 ? -1 : 1
            let difference = Planar(x: a.x + b.x * sign, y: a.y + b.y * sign)
            let lengthA = a.x * a.x + a.y * a.y
            let lengthB = b.x * b.x + b.y * b.y
            let usesFirst = lengthA < lengthB || lengthA == lengthB && (a.x < b.x || a.x == b.x && a.y < b.y)
            let product =
                usesFirst
                ? (a.x * difference.y - a.y * difference.x) * sign : difference.x * b.y - difference.y * b.x
            return product > 0 ? 1 : product < 0 ? -1 : 0
        }
    }
}
