// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
package import RealmStorage

/// A place in the order of a result: the values by which an object was sorted, and its key.
///
/// A page of a list ends at such a place, and the cursor that a client receives encodes it. With
/// `cells` it holds copies, so it outlives the snapshot it came from.
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
    /// The values of all sort keys where they lie in the version that is read, in the place of long copies; nil where `cells` has them.
    let values: [Value]?
    /// The key of the object, which decides between objects with equal values.
    package let key: ObjectKey

    /// Creates a position in the order of a result.
    ///
    /// - Parameters:
    ///   - cells: The values of the sort keys.
    package init(cells: [Cell], key: ObjectKey) {
        self.cells = cells
        self.key = key
        values = nil
    }

    /// Creates a position of values that are not copied. It is used with the version that they are in, and not kept longer.
    package init(values: [Value], key: ObjectKey) {
        cells = []
        self.values = values
        self.key = key
    }
}
