// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A point on the unit sphere, or a vector on the way to one.
///
/// Sums and products are written out in a fixed order, because results on the border of a shape depend on the last bit
/// and have to agree with those of the reference engine's sphere geometry (S2).
struct SpherePoint: Hashable, Sendable {
    var x: Double
    var y: Double
    var z: Double

    static let zero = SpherePoint(x: 0, y: 0, z: 0)
    static let northPole = SpherePoint(x: 0, y: 0, z: 1)
    static let southPole = SpherePoint(x: 0, y: 0, z: -1)

    /// A vector as it is; the caller sees to its length.
    init(x: Double, y: Double, z: Double) {
        self.x = x
        self.y = y
        self.z = z
    }

    /// The point at a latitude and longitude in radians.
    init(latitude: Double, longitude: Double) {
        let cosine = cos(latitude)
        self.init(x: cos(longitude) * cosine, y: sin(longitude) * cosine, z: sin(latitude))
    }

    /// The sine of an angle in radians.
    static func sine(_ angle: Double) -> Double { sin(angle) }

    /// Latitude in radians; exact near the poles too.
    var latitude: Double { atan2(z, (x * x + y * y).squareRoot()) }

    /// Longitude in radians, -π...π; 0 at a pole.
    var longitude: Double { atan2(y, x) }

    static func + (left: SpherePoint, right: SpherePoint) -> SpherePoint {
        SpherePoint(x: left.x + right.x, y: left.y + right.y, z: left.z + right.z)
    }

    static func - (left: SpherePoint, right: SpherePoint) -> SpherePoint {
        SpherePoint(x: left.x - right.x, y: left.y - right.y, z: left.z - right.z)
    }

    static func * (factor: Double, point: SpherePoint) -> SpherePoint {
        SpherePoint(x: point.x * factor, y: point.y * factor, z: point.z * factor)
    }

    /// The scalar product.
    func dot(_ other: SpherePoint) -> Double { x * other.x + y * other.y + z * other.z }

    /// The vector product.
    func cross(_ other: SpherePoint) -> SpherePoint {
        SpherePoint(
            x: y * other.z - z * other.y, y: z * other.x - x * other.z, z: x * other.y - y * other.x)
    }

    var squaredLength: Double { x * x + y * y + z * z }
    var length: Double { squaredLength.squareRoot() }

    var normalized: SpherePoint {
        let length = length
        return length == 0 ? self : (1 / length) * self
    }

    /// The angle to another vector in radians.
    func angle(to other: SpherePoint) -> Double { atan2(cross(other).length, dot(other)) }

    var isUnitLength: Bool { (squaredLength - 1).magnitude <= 1e-15 }

    /// The order of x, then y, then z; used only where any fixed order will do.
    static func precedes(_ left: SpherePoint, _ right: SpherePoint) -> Bool {
        if left.x != right.x { return left.x < right.x }
        return left.y != right.y ? left.y < right.y : left.z < right.z
    }

    /// A unit vector at right angles to this one, always the same for the same point.
    ///
    /// The crooked second vector keeps it off the coordinate planes, where degenerate cases abound.
    var orthogonal: SpherePoint {
        var other = SpherePoint(x: 0.012, y: 0.0053, z: 0.00457)
        switch largestComponent {
        case 0: other.z = 1
        case 1: other.x = 1
        default: other.y = 1
        }
        return cross(other).normalized
    }

    private var largestComponent: Int {
        let (x, y, z) = (x.magnitude, y.magnitude, z.magnitude)
        if x > y { return x > z ? 0 : 2 }
        return y > z ? 1 : 2
    }

    /// A vector at right angles to both points, twice their cross product, stable for points close together.
    func stableCross(_ other: SpherePoint) -> SpherePoint {
        let product = (other + self).cross(other - self)
        return product == .zero ? orthogonal : product
    }
}
