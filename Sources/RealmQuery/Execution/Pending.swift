// SPDX-License-Identifier: Apache-2.0
import RealmStorage
enum TextMatching {
    static func isEqual(_ a: ByteView, _ b: ByteView, ignoringCase: Bool) -> Bool { a == b }
    static func begins(_ a: ByteView, with b: ByteView, ignoringCase: Bool) -> Bool { a.slice(0, b.count) == b && b.count <= a.count }
    static func ends(_ a: ByteView, with b: ByteView, ignoringCase: Bool) -> Bool { a.suffix(from: a.count - b.count) == b && b.count <= a.count  }
    static func contains(_ a: ByteView, _ b: ByteView, ignoringCase: Bool) -> Bool { b.count <= a.count && (0...(a.count - b.count)).contains { a.slice($0, $0 + b.count) == b } }
    static func isLike(_ a: ByteView, _ b: ByteView, ignoringCase: Bool) -> Bool { a == b }
}
package enum GeoShape: Sendable {}
