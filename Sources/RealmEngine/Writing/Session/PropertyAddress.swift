// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// A property, or a path from it into embedded objects and collections in Mixed.
package struct PropertyAddress: Sendable {
    /// What was written.
    package let text: String
    /// The steps that the text stands for, unless a property has the text as its name; nil when it is no path.
    package let steps: [InputPath.Step]?

    /// An address that was written as `text`.
    package init(_ text: String, steps: [InputPath.Step]? = nil) {
        self.text = text
        self.steps = steps
    }
}
