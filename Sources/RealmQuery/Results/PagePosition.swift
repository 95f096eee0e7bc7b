// SPDX-License-Identifier: Apache-2.0

package import RealmStorage

/// A place in the order of a result: the values by which an object was sorted, and its key.
///
/// A page of a list ends at such a place, and the cursor that a client receives encodes it. It
/// holds copies, so it outlives the snapshot it came from.
package struct PagePosition: Sendable {
    /// The value that an object has for one sort key of a result.
    package enum Cell: Sendable {
        /// There is no value, because a link on the way to it is null.
        case missing
        /// The value itself, copied from the file.
        case value(QueryArgument)
        /// A dictionary nested in a mixed value: all of them sort alike, after everything else.
        case dictionary

        /// Copies a value that was read for a sort key.
        package init(copying value: Value) {
            if case .dictionary = value {
                self = .dictionary
            } else {
                self = value.isMissing ? .missing : .value(QueryArgument(copying: value))
            }
        }
    }

    /// The values of all sort keys, the most important key first.
    package let cells: [Cell]
    /// The key of the object, which decides between objects with equal values.
    package let key: ObjectKey

    /// Creates a position in the order of a result.
    ///
    /// - Parameters:
    ///   - cells: The values of the sort keys.
    ///   - key: The key of the object.
    package init(cells: [Cell], key: ObjectKey) {
        self.cells = cells
        self.key = key
    }
}
