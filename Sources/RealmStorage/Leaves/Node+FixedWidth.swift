// SPDX-License-Identifier: Apache-2.0

/// The check that leaves of floats and doubles share.
extension Node {
    /// Checks for width type "multiply" with elements of `byteCount`; an empty node may have width 0.
    func requireFixedWidth(_ byteCount: Int, _ what: String) throws(StorageError) {
        guard widthType == WidthType.multiply.rawValue, !hasRefs, width == byteCount || count == 0 else {
            throw corrupt("a \(what) leaf has elements of \(byteCount) bytes")
        }
    }
}
