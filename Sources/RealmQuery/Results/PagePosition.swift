// SPDX-License-Identifier: Apache-2.0

package import RealmStorage

/// A place in the order of a result: what an object was sorted by, and its key. Outlives the snapshot it came from.
package struct PagePosition: Sendable {
    package enum Cell: Sendable {
        /// A link on the way to the value is null.
        case missing
        case value(QueryArgument)
        /// A dictionary nested in a mixed value: all of them sort alike, behind everything else.
        case dictionary
    }

    package let cells: [Cell]
    package let key: ObjectKey

    package init(cells: [Cell], key: ObjectKey) {
        self.cells = cells
        self.key = key
    }
}
