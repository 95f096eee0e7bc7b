// SPDX-License-Identifier: Apache-2.0

/// A box around an arc, a little too large.
struct EdgeBox {
    let low: SpherePoint
    let high: SpherePoint
    let index: Int

    /// The box around the edge from `a` to `b`, which is the edge `index` of its loop.
    init(_ a: SpherePoint, _ b: SpherePoint, index: Int) {
        // The arc bulges out of its chord by what is missing from the chord's middle to the sphere.
        let bulge = 1 - 0.5 * (a + b).length + 1e-14
        low = SpherePoint(x: min(a.x, b.x) - bulge, y: min(a.y, b.y) - bulge, z: min(a.z, b.z) - bulge)
        high = SpherePoint(x: max(a.x, b.x) + bulge, y: max(a.y, b.y) + bulge, z: max(a.z, b.z) + bulge)
        self.index = index
    }

    /// Whether the boxes have a point in common; only then can the edges cross.
    @inline(__always) func overlaps(_ other: EdgeBox) -> Bool {
        low.x <= other.high.x && other.low.x <= high.x && low.y <= other.high.y && other.low.y <= high.y
            && low.z <= other.high.z && other.low.z <= high.z
    }
}
