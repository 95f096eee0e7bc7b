// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// The `forEach` step of a migration: steps that are carried out once for each object of a class, or for
/// each element of a collection.
///
/// In the steps, and in the expressions of their values, the object or element has the name `variable`.
package struct MigrationLoop: Sendable {
    /// The sequence of the loop, determined before the first round.
    package enum Source: Sendable {
        /// The objects of a class that match a query.
        case objects(MigrationMatch)
        /// The elements of the list, set or dictionary at a key path, which begins with the name of an outer variable.
        case elements(path: String)
    }

    /// The sequence of the loop.
    package let source: Source
    /// The name of the object or element in each round.
    package let variable: String
    /// The name of the key of each entry of a dictionary, or of the index of each element; nil for none.
    package let keyVariable: String?
    /// The steps of each round, in their order.
    package let steps: [LoopStep]

    /// Makes a loop.
    ///
    /// - Parameters:
    ///   - source: The sequence of the loop.
    ///   - variable: The name of the object or element in each round.
    ///   - keyVariable: The name of the key or index of the element; nil for none.
    ///   - steps: The steps of each round.
    package init(_ source: Source, as variable: String, keyAs keyVariable: String? = nil, _ steps: [LoopStep]) {
        self.source = source
        self.variable = variable
        self.keyVariable = keyVariable
        self.steps = steps
    }

    /// The number of steps in this loop and in the loops inside, with the loop itself.
    var stepCount: Int {
        steps.reduce(1) { count, step in
            guard case .forEach(let inner) = step else { return count + 1 }
            return count + inner.stepCount
        }
    }
}
