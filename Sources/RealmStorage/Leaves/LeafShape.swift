// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// What a leaf holds: values, or one ref per object.
///
/// Backlink columns and columns of collections hold one ref or tagged number per object; all others
/// hold values.
///
/// Decided by the type and the collection kind of a column; the writers of leaves are chosen by it.
package enum LeafShape: Sendable {
    /// Values of single-valued properties, or elements of collections.
    case values(ElementShape)
    /// Roots of collections, or incoming links: 0, a ref, or (for backlinks) one tagged object key.
    case refs
}
