// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

/// The values of one column in one cluster leaf, or one leaf of a collection, attached and checked once.
///
/// It is an enumeration rather than a protocol: the cases are plain values without reference counting, and a loop that has
/// switched once works on one concrete type. It borrows memory from the snapshot, so it must not outlive it.
package enum ColumnLeaf: Sendable {
    /// A leaf of integers, which may be nullable.
    case int(IntLeaf)
    /// A leaf of booleans, which may be nullable.
    case bool(BoolLeaf)
    /// A leaf of strings in any of their four forms.
    case string(StringLeaf)
    /// A leaf of binaries in medium or big form.
    case binary(BinaryLeaf)
    /// A leaf of Mixed values, which have a type each.
    case mixed(MixedLeaf)
    /// A leaf of timestamps with nanoseconds.
    case timestamp(TimestampLeaf)
    /// A leaf of floating-point numbers of 32 bits.
    case float(FloatLeaf)
    /// A leaf of floating-point numbers of 64 bits.
    case double(DoubleLeaf)
    /// A leaf of decimal128 numbers.
    case decimal(DecimalLeaf)
    /// A leaf of links to objects of one table.
    case link(LinkLeaf)
    /// A leaf of ObjectIds or UUIDs.
    case identifier(IdentifierLeaf)

    /// Attaches the leaf at `node` as one of the type that `shape` names.
    ///
    /// - Parameters:
    ///   - node: The root of the leaf.
    ///   - space: The space that refs in the leaf point into.
    ///   - shape: The type of the values, whether they may be null, and the target table of links.
    ///   - inCluster: Whether the leaf belongs to a cluster, where links are stored as the key plus
    ///     one.
    ///   - enumeration: The column's list of distinct strings, if it is an enumerated one.
    /// - Throws: `.corrupt` for an inner node or a leaf of another shape.
    package init(
        _ node: Node, _ space: NodeSpace, _ shape: ElementShape, inCluster: Bool, enumeration: StringEnumeration? = nil
    ) throws(StorageError) {
        try node.requireLeaf()
        switch shape.type {
        case .int: self = .int(try IntLeaf(node, isNullable: shape.isNullable))
        case .bool: self = .bool(try BoolLeaf(node))
        case .string: self = .string(try StringLeaf(node, space, enumeration: enumeration))
        case .binary: self = .binary(try BinaryLeaf(node, space))
        case .mixed: self = .mixed(try MixedLeaf(node, space))
        case .timestamp: self = .timestamp(try TimestampLeaf(node, space))
        case .float: self = .float(try FloatLeaf(node))
        case .double: self = .double(try DoubleLeaf(node))
        case .decimal: self = .decimal(try DecimalLeaf(node))
        case .link:
            self = .link(
                try LinkLeaf(node, targetTable: shape.targetTable, inCluster: inCluster, filter: space.linkFilter))
        case .objectID: self = .identifier(try IdentifierLeaf(node, elementByteCount: 12))
        case .uuid: self = .identifier(try IdentifierLeaf(node, elementByteCount: 16))
        case .backlink: throw node.corrupt("backlinks are not values")
        }
    }

    package var count: Int {
        switch self {
        case .int(let leaf): return leaf.count
        case .bool(let leaf): return leaf.count
        case .string(let leaf): return leaf.count
        case .binary(let leaf): return leaf.count
        case .mixed(let leaf): return leaf.count
        case .timestamp(let leaf): return leaf.count
        case .float(let leaf): return leaf.count
        case .double(let leaf): return leaf.count
        case .decimal(let leaf): return leaf.count
        case .link(let leaf): return leaf.count
        case .identifier(let leaf): return leaf.count
        }
    }

    /// Returns whether a list or set leaves out its element in `row`: a link to nothing, to a tombstone or to an object
    /// that a view hides; in Mixed only the last of these.
    func leavesOut(_ row: Int) throws(StorageError) -> Bool {
        switch self {
        case .link(let leaf): return leaf.key(row).rawValue < 0
        case .mixed(let leaf): return try leaf.hidesLink(row)
        default: return false
        }
    }

    /// Returns the value in `row`, which must be in `0..<count`. Unresolved links read as null.
    ///
    /// - Throws: `.corrupt` when the value, or the bytes that it refers to, are damaged.
    package func value(_ row: Int) throws(StorageError) -> Value {
        switch self {
        case .int(let leaf): return leaf.value(row)
        case .bool(let leaf): return leaf.value(row)
        case .string(let leaf): return try leaf.value(row)
        case .binary(let leaf): return try leaf.value(row)
        case .mixed(let leaf): return try leaf.value(row)
        case .timestamp(let leaf): return try leaf.value(row)
        case .float(let leaf): return leaf.value(row)
        case .double(let leaf): return leaf.value(row)
        case .decimal(let leaf): return leaf.value(row)
        case .link(let leaf): return leaf.value(row)
        case .identifier(let leaf): return leaf.value(row)
        }
    }
}
