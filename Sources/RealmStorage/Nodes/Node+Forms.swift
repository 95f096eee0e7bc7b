// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The forms of nodes that leaves are made of, which readers and writers check before they use the elements.
///
/// Source: docs/format.md, "Nodes".
extension Node {
    /// The flags without context and width, which distinguish one form from another.
    private var form: UInt8 { flags & NodeLayout.formMask }

    /// Throws `.corrupt` unless the node is a leaf of packed integers.
    func requirePlainIntegers() throws(StorageError) {
        guard form == 0 else { throw corrupt("expected a leaf of packed integers, found another kind of node") }
        try requireSensibleCount()
    }

    /// Throws `.corrupt` unless the node is a leaf of refs.
    func requireLeafOfRefs() throws(StorageError) {
        guard form == NodeLayout.refsFlag else { throw corrupt("expected a leaf with refs, found another kind of node") }
        try requireSensibleCount()
    }

    /// Throws `.corrupt` unless the node is a leaf of elements of whole bytes.
    func requireWholeByteElements() throws(StorageError) {
        guard form == NodeLayout.multiplyFlag else { throw corrupt("expected a leaf of whole bytes, found another kind of node") }
        try requireSensibleCount()
    }

    /// Throws `.corrupt` unless the payload is plain bytes.
    func requireBytes() throws(StorageError) {
        guard form == NodeLayout.ignoreFlag else { throw corrupt("expected a node of bytes, found another kind of node") }
    }

    /// Throws `.corrupt` unless the node can be a leaf of values.
    @inline(__always) func requireLeaf() throws(StorageError) {
        guard !isInner else { throw corrupt("expected a leaf, found an inner node") }
        try requireSensibleCount()
    }

    /// Throws `.corrupt` for a node of width 0 with more elements than any writer makes; see `NodeSpace.maximumEmptyCount`.
    func requireSensibleCount() throws(StorageError) {
        guard width > 0 || count <= NodeSpace.maximumEmptyCount else { throw NodeSpace.emptyNode(ref) }
    }
}
