// SPDX-License-Identifier: Apache-2.0

/// What a leaf holds.
///
/// Backlink columns and columns of collections hold one ref or tagged number per object; all others hold values.
package enum LeafShape: Sendable {
    /// Values of single-valued properties or elements of collections.
    case values(ElementShape)
    /// Roots of collections, or incoming links: 0, a ref, or (for backlinks) one tagged object key.
    case refs
}
