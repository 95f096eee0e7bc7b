// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// A box in space around an edge of a loop, slightly too large. Edges can cross only if their boxes
/// overlap.
struct EdgeBox {
    /// The corner of the box with the least x, y and z coordinates.
    let low: SpherePoint
    /// The corner of the box with the greatest x, y and z coordinates.
    let high: SpherePoint
    /// The index of the edge, which is that of the vertex at which it starts.
    let index: Int

    /// Calculates the box around an edge.
    ///
    /// - Parameters:
    ///   - a: The vertex at which the edge starts.
    ///   - b: The vertex at which it ends.
    ///   - index: The index of the edge in its loop.
    init(_ a: SpherePoint, _ b: SpherePoint, index: Int) {
        // The arc bulges out of its chord by the distance from the middle of the chord to the sphere.
        let bulge = 1 - 0.5 * (a + b).length + 1e-14
        low = SpherePoint(x: min(a.x, b.x) - bulge, y: min(a.y, b.y) - bulge, z: min(a.z, b.z) - bulge)
        high = SpherePoint(x: max(a.x, b.x) + bulge, y: max(a.y, b.y) + bulge, z: max(a.z, b.z) + bulge)
        self.index = index
    }

    /// Returns whether two boxes have a point in common; only then can their edges cross.
    @inline(__always) func overlaps(_ other: EdgeBox) -> Bool {
        low.x <= other.high.x && other.low.x <= high.x && low.y <= other.high.y && other.low.y <= high.y
            && low.z <= other.high.z && other.low.z <= high.z
    }
}
