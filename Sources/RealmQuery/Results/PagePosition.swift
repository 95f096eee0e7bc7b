// SPDX-License-Identifier: Apache-2.0

package import RealmStorage

/// A place in the order of a result: the values by which an object was sorted, and its key.
///
/// A page of a list ends at such a place, and the cursor that a client receives encodes it. It
/// holds copies, so it outlives the snapshot it came from.
package struct PagePosition: Sendable {
    /// The value of one sort key.
    package enum Cell: Sendable {
        /// A link on the way to the value is null.
        case missing
        /// The value itself.
        case value(QueryArgument)
        /// A dictionary nested in a mixed value: all of them sort alike, after everything else.
        case dictionary
    }

    /// The values of the sort keys, in their order.
    package let cells: [Cell]
    /// The key of the object, which decides between objects with equal values.
    package let key: ObjectKey

    /// Creates a position.
    ///
    /// - Parameters:
    ///   - cells: The values of the sort keys.
    ///   - key: The key of the object.
    package init(cells: [Cell], key: ObjectKey) {
        self.cells = cells
        self.key = key
    }
}
