// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// Addresses a property, or a place that a path from it leads to inside embedded objects and mixed collections.
package struct PropertyAddress: Sendable {
    /// The address as it was written.
    package let text: String
    /// The steps of the path that the text describes; nil when the text is not a path.
    /// A property whose name is the whole text has precedence over the path.
    package let steps: [InputPath.Step]?

    /// Makes an address.
    ///
    /// - Parameters:
    ///   - text: The address as it was written.
    package init(_ text: String, steps: [InputPath.Step]? = nil) {
        self.text = text
        self.steps = steps
    }
}
