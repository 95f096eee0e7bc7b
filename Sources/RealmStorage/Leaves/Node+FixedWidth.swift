// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The check that leaves of floats and doubles share.
extension Node {
    /// Checks that the node has width type "multiply" and elements of a given size; an empty node
    /// may have width 0.
    ///
    /// - Parameters:
    ///   - byteCount: The size of an element in bytes.
    ///   - what: The type of the elements, for the error message.
    /// - Throws: `.corrupt` otherwise.
    func requireFixedWidth(_ byteCount: Int, _ what: String) throws(StorageError) {
        guard widthType == WidthType.multiply.rawValue, !hasRefs, width == byteCount || count == 0 else {
            throw corrupt("a \(what) leaf has elements of \(byteCount) bytes")
        }
    }
}
