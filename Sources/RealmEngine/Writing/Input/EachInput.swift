// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// A value of a migration step that is made of a collection: a list, or for a dictionary an object with
/// the same keys, with one value for each element.
package struct EachInput: Sendable {
    /// The key path of the collection.
    package let source: String
    /// The name of the element in the expressions of `value`.
    package let variable: String
    /// The name of the key of each entry of a dictionary, or of the index of each element; nil for none.
    package let keyVariable: String?
    /// The value for each element.
    package let value: InputValue

    /// Makes the input.
    ///
    /// - Parameters:
    ///   - source: The key path of the collection.
    ///   - variable: The name of the element.
    ///   - keyVariable: The name of its key or index; nil for none.
    ///   - value: The value for each element.
    package init(in source: String, as variable: String, keyAs keyVariable: String? = nil, _ value: InputValue) {
        self.source = source
        self.variable = variable
        self.keyVariable = keyVariable
        self.value = value
    }
}
