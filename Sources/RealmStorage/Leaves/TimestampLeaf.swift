// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// A leaf of dates: a nullable integer node of seconds and a plain one of nanoseconds.
///
/// Comparisons use the seconds first, with the kernels for integers, and the nanoseconds only where some row has equal seconds.
/// Source: docs/format.md, "Timestamp".
package struct TimestampLeaf: Sendable {
    /// Whole seconds, null where the date is null.
    package let seconds: IntLeaf
    /// The nanoseconds of each date, with the sign of its seconds; 0 where it is null.
    package let nanoseconds: PackedIntegers
    /// How many dates the leaf has, nulls included.
    package var count: Int { seconds.count }

    /// Attaches a leaf of dates.
    ///
    /// - Parameters:
    ///   - node: The leaf, a node of two refs.
    ///   - space: The space that the refs point into.
    /// - Throws: `.corrupt` for another shape, or when the two parts differ in length.
    init(_ node: Node, _ space: NodeSpace) throws(StorageError) {
        try TimestampLeaf.requireShape(node)
        seconds = try IntLeaf(try space.node(at: try node.requiredRef(0, "seconds")), isNullable: true)
        let second = try space.node(at: try node.requiredRef(1, "nanoseconds"))
        guard !second.hasRefs else { throw second.corrupt("nanoseconds are a plain integer node") }
        nanoseconds = try second.integers()
        guard nanoseconds.count == seconds.count else {
            throw node.corrupt("\(seconds.count) seconds with \(nanoseconds.count) nanoseconds")
        }
    }

    /// Checks that `node` has the two slots of a timestamp leaf, seconds and nanoseconds, and throws `.corrupt` otherwise.
    static func requireShape(_ node: Node) throws(StorageError) {
        guard node.hasRefs, !node.isInner, node.count == 2 else {
            throw node.corrupt("a timestamp leaf is a node of two refs")
        }
    }

    /// Joins two parts that are attached already and have equally many elements. Tests and benchmarks make leaves this way.
    package init(seconds: IntLeaf, nanoseconds: PackedIntegers) {
        precondition(seconds.count == nanoseconds.count, "seconds and nanoseconds differ in number")
        self.seconds = seconds
        self.nanoseconds = nanoseconds
    }

    /// Returns the date in `row`, or nil for null. The row must be in `0..<count`.
    ///
    /// - Throws: `.corrupt` for nanoseconds out of range, or of the other sign than the seconds.
    @inlinable package func timestamp(_ row: Int) throws(StorageError) -> Timestamp? {
        guard let whole = seconds.integer(row) else { return nil }
        let part = nanoseconds[row]
        guard part > -1_000_000_000, part < 1_000_000_000, part == 0 || whole == 0 || (part < 0) == (whole < 0) else {
            throw .corrupt(ref: .none, reason: "invalid date of \(whole) s and \(part) ns, beyond 10^9 or of another sign")
        }
        return Timestamp(seconds: whole, nanoseconds: Int32(truncatingIfNeeded: part))
    }

    /// Returns the value in `row`; throws `.corrupt` for a date whose parts contradict each other.
    @inlinable package func value(_ row: Int) throws(StorageError) -> Value {
        try timestamp(row).map(Value.timestamp) ?? .null
    }
}
