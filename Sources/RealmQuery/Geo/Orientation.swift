// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The way in which three points on the sphere turn, and what follows from it.
///
/// A turn is 1 (counterclockwise), -1 (clockwise) or 0 (two points are the same). It is the sign of a determinant. Where that
/// is too close to zero to be trusted, it is calculated again from the differences of near points; where that is zero too, the
/// points count as if they were moved by an infinitely small distance. These are the rules of the reference engine's sphere
/// geometry, so that points on the border of a shape are on the same side. Source: realm-core `external/s2/s2.cc`.
enum Orientation {
    /// The magnitude above which the sign of the plain determinant of three unit vectors is right: 14 × 2^-54.
    private static let determinantError = 0.8e-15

    /// Returns 1 when the path over three points turns left, -1 when it turns right, and 0 when two of the points are the same.
    static func turn(_ a: SpherePoint, _ b: SpherePoint, _ c: SpherePoint) -> Int {
        turn(a, b, c, cross: a.cross(b))
    }

    /// Returns the turn of three points, given the cross product of the first two, which the caller has calculated already.
    @inline(__always)
    static func turn(_ a: SpherePoint, _ b: SpherePoint, _ c: SpherePoint, cross: SpherePoint) -> Int {
        let determinant = cross.dot(c)
        if determinant > determinantError { return 1 }
        if determinant < -determinantError { return -1 }
        return carefulTurn(a, b, c)
    }

    /// Returns whether `b` comes between `a` and `c` in counterclockwise order around `center`.
    ///
    /// It is true if `b` is one of the two, and false if it is neither and these two are the same.
    static func isOrdered(_ a: SpherePoint, _ b: SpherePoint, _ c: SpherePoint, around center: SpherePoint) -> Bool {
        var agreements = 0
        if turn(b, center, a) >= 0 { agreements += 1 }
        if turn(c, center, b) >= 0 { agreements += 1 }
        if turn(a, center, c) > 0 { agreements += 1 }
        return agreements >= 2
    }

    /// The turn of points that are nearly on one great circle, measured from the point opposite the longest side.
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
        /// The factor of the second point: -1 for a difference, 1 for a sum.
        let sign: Double
        /// The vector along the side: the difference or the sum of the two points.
        let vector: SpherePoint
        /// The square of the length of the side's vector.
        let squaredLength: Double

        /// Calculates the difference if the points are less than a right angle apart, otherwise the sum.
        init(_ first: SpherePoint, _ second: SpherePoint) {
            sign = first.dot(second) > 0 ? -1 : 1
            vector = first + sign * second
            squaredLength = vector.squaredLength
        }

        /// Returns whether this side is shorter than another one; `tie` decides when both are equally long.
        func isShorter(than other: Side, orElse tie: Bool) -> Bool {
            squaredLength < other.squaredLength || squaredLength == other.squaredLength && tie
        }
    }

    /// The turn of points that seem to be coplanar, as if all were moved by one infinitely small vector.
    ///
    /// That is the turn around the origin in the y-z plane; if it is zero, that in the z-x plane;
    /// if it is zero, that in the x-y plane.
    private static func perturbedTurn(_ a: SpherePoint, _ b: SpherePoint, _ c: SpherePoint) -> Int {
        let turn = Planar.turn(Planar(x: a.y, y: a.z), Planar(x: b.y, y: b.z), Planar(x: c.y, y: c.z))
        if turn != 0 { return turn }
        let second = Planar.turn(Planar(x: a.z, y: a.x), Planar(x: b.z, y: b.x), Planar(x: c.z, y: c.x))
        if second != 0 { return second }
        return Planar.turn(Planar(x: a.x, y: a.y), Planar(x: b.x, y: b.y), Planar(x: c.x, y: c.y))
    }

    /// Two coordinates of a point, for the exact decision in a coordinate plane.
    private struct Planar {
        let x: Double
        let y: Double

        /// The direction in which three points go around the origin, by the majority of the three steps: 1 is counterclockwise.
        static func turn(_ a: Planar, _ b: Planar, _ c: Planar) -> Int {
            (step(a, b) + step(b, c) + step(c, a)).signum()
        }

        /// The direction of one step around the origin: 1 counterclockwise, -1 clockwise, 0 when it cannot be determined.
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
