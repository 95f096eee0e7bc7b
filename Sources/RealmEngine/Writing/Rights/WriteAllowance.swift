// SPDX-License-Identifier: Apache-2.0

package import RealmPlatform
package import RealmQuery

/// The right to one action in a class.
package struct WriteAllowance: Sendable {
    /// The queries of which an object has to match one before the action; nil for every object.
    let targets: [RowRule.Alternative]?
    /// The queries of which an object has to match one after it; nil for every object.
    let results: [RowRule.Alternative]?
    /// The properties that do not exist for the action.
    let hidden: Set<ByteText>
    /// The properties that the action leaves as they are.
    let readOnly: Set<ByteText>

    /// Whether the action may concern every object and every property.
    var isUnlimited: Bool { targets == nil && results == nil && hidden.isEmpty && readOnly.isEmpty }

    /// Makes the right to an action.
    ///
    /// - Parameters:
    ///   - targets: The queries of which an object has to match one before the action; nil for every object.
    ///   - results: The queries of which an object has to match one after it; nil for every object.
    ///   - hidden: The properties that do not exist for the action.
    ///   - readOnly: The properties that the action leaves as they are.
    package init(
        targets: [RowRule.Alternative]? = nil, results: [RowRule.Alternative]? = nil, hidden: Set<ByteText> = [],
        readOnly: Set<ByteText> = []
    ) {
        self.targets = targets
        self.results = results
        self.hidden = hidden
        self.readOnly = readOnly
    }
}
