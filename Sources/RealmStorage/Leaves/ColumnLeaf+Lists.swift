// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform

extension ColumnLeaf {
    /// Attaches all elements of a list or set whose tree is one leaf; nil for a longer one, and where some elements may be left out.
    ///
    /// - Parameters:
    ///   - root: The root of the collection, which is not `Ref.none`.
    ///   - shape: The type of its elements, which are not links.
    /// - Throws: `.corrupt` for a root of another shape.
    package init?(ofShortList root: Ref, _ space: NodeSpace, _ shape: ElementShape) throws(StorageError) {
        let node = try space.node(at: root)
        guard !node.isInner, shape.type != .link, shape.type != .mixed || space.linkFilter == nil else { return nil }
        try self.init(node, space, shape, inCluster: false)
    }
}

extension IntLeaf {
    /// Attaches all elements of a list or set of integers whose tree is one leaf; nil for a longer one.
    ///
    /// - Parameters:
    ///   - root: The root of the collection, which is not `Ref.none`.
    ///   - isNullable: Whether elements may be null.
    /// - Throws: `.corrupt` for a root of another shape.
    package init?(ofShortList root: Ref, _ space: NodeSpace, isNullable: Bool) throws(StorageError) {
        let node = try space.node(at: root)
        guard !node.isInner else { return nil }
        try self.init(node, isNullable: isNullable)
    }
}

extension StringLeaf {
    /// Attaches all elements of a list or set of texts whose tree is one leaf; nil for a longer one.
    ///
    /// - Parameters:
    ///   - root: The root of the collection, which is not `Ref.none`.
    /// - Throws: `.corrupt` for a root of another shape.
    package init?(ofShortList root: Ref, _ space: NodeSpace) throws(StorageError) {
        let node = try space.node(at: root)
        guard !node.isInner else { return nil }
        try self.init(node, space)
    }
}

extension DoubleLeaf {
    /// Attaches all elements of a list or set of doubles whose tree is one leaf; nil for a longer one.
    ///
    /// - Parameters:
    ///   - root: The root of the collection, which is not `Ref.none`.
    /// - Throws: `.corrupt` for a root of another shape.
    package init?(ofShortList root: Ref, _ space: NodeSpace) throws(StorageError) {
        let node = try space.node(at: root)
        guard !node.isInner else { return nil }
        try self.init(node)
    }
}
