// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmQuery

enum Circle {
    static func sine(_ angle: Double) -> Double { sin(angle) }
    static func cosine(_ angle: Double) -> Double { cos(angle) }
}

/// A small triangle as the intersection of three half spaces.
enum HalfSpaces {
    /// Nil where the answer is too close to call in plain arithmetic.
    static func contains(_ corners: [GeoPoint], _ place: GeoPoint) -> Bool? {
        let (a, b, c, p) = (vector(corners[0]), vector(corners[1]), vector(corners[2]), vector(place))
        let sides = [determinant(a, b, p), determinant(b, c, p), determinant(c, a, p)]
        guard sides.allSatisfy({ abs($0) > 1e-13 }) else { return nil }
        return sides.allSatisfy { $0 > 0 } || sides.allSatisfy { $0 < 0 }
    }

    private static func vector(_ point: GeoPoint) -> [Double] {
        let (longitude, latitude) = (point.longitude * .pi / 180, point.latitude * .pi / 180)
        return [cos(longitude) * cos(latitude), sin(longitude) * cos(latitude), sin(latitude)]
    }

    private static func determinant(_ a: [Double], _ b: [Double], _ c: [Double]) -> Double {
        (a[1] * b[2] - a[2] * b[1]) * c[0] + (a[2] * b[0] - a[0] * b[2]) * c[1] + (a[0] * b[1] - a[1] * b[0]) * c[2]
    }
}

/// Random places that are the same in every run.
struct SeededNumbers {
    private var state: UInt64

    init(seed: UInt64) { state = seed &* 2 &+ 7 }

    private mutating func unit() -> Double {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Double(state >> 11) / 9_007_199_254_740_992
    }

    /// Within `spread` degrees of the equator and the null meridian.
    mutating func place(spread: Double) -> GeoPoint {
        GeoPoint(longitude: (unit() - 0.5) * 2 * spread, latitude: (unit() - 0.5) * 2 * spread)
    }
}
