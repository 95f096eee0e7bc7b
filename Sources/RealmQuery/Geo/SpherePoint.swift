// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import RealmPlatform

/// A point on the unit sphere, or a vector in the calculation of one.
///
/// Sums and products are calculated in a fixed order, because results on the border of a shape depend on the last bit and have
/// to agree with those of the reference engine's sphere geometry (S2).
struct SpherePoint: Hashable, Sendable {
    /// The coordinate towards longitude 0 on the equator.
    var x: Double
    /// The coordinate towards longitude π/2 on the equator.
    var y: Double
    /// The coordinate towards the north pole.
    var z: Double

    /// The vector of length zero.
    static let zero = SpherePoint(x: 0, y: 0, z: 0)
    /// The north pole, at latitude π/2.
    static let northPole = SpherePoint(x: 0, y: 0, z: 1)
    /// The south pole, at latitude -π/2.
    static let southPole = SpherePoint(x: 0, y: 0, z: -1)

    /// Creates a vector from its coordinates, whatever its length.
    init(x: Double, y: Double, z: Double) {
        self.x = x
        self.y = y
        self.z = z
    }

    /// Creates the point at a latitude and longitude in radians.
    init(latitude: Double, longitude: Double) {
        let cosine = cos(latitude)
        self.init(x: cos(longitude) * cosine, y: sin(longitude) * cosine, z: sin(latitude))
    }

    /// Returns the sine of an angle in radians. It makes the C library's function available to files that do not import it.
    static func sine(_ angle: Double) -> Double { sin(angle) }

    /// The latitude in radians, exact near the poles too.
    var latitude: Double { atan2(z, (x * x + y * y).squareRoot()) }

    /// The longitude in radians, -π...π; 0 at a pole.
    var longitude: Double { atan2(y, x) }

    /// The sum of two vectors.
    static func + (left: SpherePoint, right: SpherePoint) -> SpherePoint {
        SpherePoint(x: left.x + right.x, y: left.y + right.y, z: left.z + right.z)
    }

    /// The difference of two vectors.
    static func - (left: SpherePoint, right: SpherePoint) -> SpherePoint {
        SpherePoint(x: left.x - right.x, y: left.y - right.y, z: left.z - right.z)
    }

    /// The vector scaled by a factor.
    static func * (factor: Double, point: SpherePoint) -> SpherePoint {
        SpherePoint(x: point.x * factor, y: point.y * factor, z: point.z * factor)
    }

    /// Returns the scalar product of two vectors.
    func dot(_ other: SpherePoint) -> Double { x * other.x + y * other.y + z * other.z }

    /// Returns the vector product of two vectors.
    func cross(_ other: SpherePoint) -> SpherePoint {
        SpherePoint(
            x: y * other.z - z * other.y, y: z * other.x - x * other.z, z: x * other.y - y * other.x)
    }

    /// The square of the vector's length.
    var squaredLength: Double { x * x + y * y + z * z }
    /// The length of the vector, 1 for a point on the unit sphere.
    var length: Double { squaredLength.squareRoot() }

    /// The vector of length 1 in the same direction; the zero vector remains as it is.
    var normalized: SpherePoint {
        let length = length
        return length == 0 ? self : (1 / length) * self
    }

    /// The angle to another vector, in radians.
    func angle(to other: SpherePoint) -> Double { atan2(cross(other).length, dot(other)) }

    /// Whether the vector is a point on the unit sphere, within the error of rounding.
    var isUnitLength: Bool { (squaredLength - 1).magnitude <= 1e-15 }

    /// The order by x, then y, then z. It is used only where any fixed order is sufficient.
    static func precedes(_ left: SpherePoint, _ right: SpherePoint) -> Bool {
        if left.x != right.x { return left.x < right.x }
        return left.y != right.y ? left.y < right.y : left.z < right.z
    }

    /// A unit vector at a right angle to this one, always the same for the same point.
    ///
    /// The second factor is an oblique vector, which keeps the result off the coordinate planes,
    /// where degenerate cases are frequent.
    var orthogonal: SpherePoint {
        var other = SpherePoint(x: 0.012, y: 0.0053, z: 0.00457)
        switch largestComponent {
        case 0: other.z = 1
        case 1: other.x = 1
        default: other.y = 1
        }
        return cross(other).normalized
    }

    /// The index of the coordinate with the greatest magnitude.
    private var largestComponent: Int {
        let (x, y, z) = (x.magnitude, y.magnitude, z.magnitude)
        if x > y { return x > z ? 0 : 2 }
        return y > z ? 1 : 2
    }

    /// A vector at a right angle to both points, twice their cross product; it is precise for points that are close together.
    func stableCross(_ other: SpherePoint) -> SpherePoint {
        let product = (other + self).cross(other - self)
        return product == .zero ? orthogonal : product
    }
}
