// SPDX-License-Identifier: Apache-2.0

/// Dates: a nullable integer node of seconds beside a plain one of nanoseconds.
///
/// Comparisons look at the seconds first, with the kernels for integers, and at the nanoseconds only of rows with equal seconds.
/// Source: docs/format.md, "Timestamp".
package struct TimestampLeaf: Sendable {
    /// Whole seconds, null where the date is null.
    package let seconds: IntLeaf
    /// The rest of each date; 0 where it is null.
    package let nanoseconds: PackedIntegers
    /// How many values there are.
    package var count: Int { seconds.count }

    /// Attaches a leaf of dates. Throws `.corrupt` for another shape.
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

    /// Throws `.corrupt` unless `node` has the two slots of a timestamp leaf: seconds and nanoseconds.
    static func requireShape(_ node: Node) throws(StorageError) {
        guard node.hasRefs, !node.isInner, node.count == 2 else {
            throw node.corrupt("a timestamp leaf is a node of two refs")
        }
    }

    /// Joins both parts, which have as many elements.
    package init(seconds: IntLeaf, nanoseconds: PackedIntegers) {
        precondition(seconds.count == nanoseconds.count, "seconds and nanoseconds differ in number")
        self.seconds = seconds
        self.nanoseconds = nanoseconds
    }

    /// Throws `.corrupt` for nanoseconds out of range or of the other sign.
    @inlinable package func timestamp(_ row: Int) throws(StorageError) -> Timestamp? {
        guard let whole = seconds.integer(row) else { return nil }
        let part = nanoseconds[row]
        guard part > -1_000_000_000, part < 1_000_000_000, part == 0 || whole == 0 || (part < 0) == (whole < 0) else {
            throw .corrupt(ref: .none, reason: "a date with \(whole) seconds and \(part) nanoseconds")
        }
        return Timestamp(seconds: whole, nanoseconds: Int32(truncatingIfNeeded: part))
    }

    /// The value in `row`. Throws `.corrupt` for a date whose parts contradict each other.
    @inlinable package func value(_ row: Int) throws(StorageError) -> Value {
        try timestamp(row).map(Value.timestamp) ?? .null
    }
}
