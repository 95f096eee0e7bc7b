// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmQuery
internal import RealmStorage

/// An observation in one of the lists of a `TargetIndex`. An observation with several alternatives is in several lists.
///
/// It is used on the thread of the hub only.
final class IndexedTarget {
    /// The observation; nil when it was removed.
    private(set) var observation: Observation?
    /// The tests that an object has to pass to concern the observation; none for lists that are not about values.
    let tests: [ValueTest]
    /// The least and the greatest value that concern the observation, for a list of intervals; nil for no bound.
    let bounds: (lower: Value?, upper: Value?)
    /// Owns the bytes of `tests` and `bounds`.
    private let demand: QueryDemand?
    let place: IndexedTarget.Place
    var index = 0

    /// Makes an entry for a list that is not about values.
    init(_ observation: Observation, at place: IndexedTarget.Place) {
        self.observation = observation
        self.place = place
        tests = []
        bounds = (nil, nil)
        demand = nil
    }

    /// Makes an entry for an alternative of a demand.
    ///
    /// - Parameters:
    ///   - demand: The demand, which the entry keeps.
    init(_ observation: Observation, _ alternative: QueryDemand.Alternative, of demand: QueryDemand, at place: Place) {
        self.observation = observation
        self.place = place
        tests = alternative.tests
        if case .bounds(let lower, let upper) = alternative.key { bounds = (lower, upper) } else { bounds = (nil, nil) }
        self.demand = demand
    }

    /// Releases the observation, which is not in the list any more.
    func clear() { observation = nil }

    /// Returns whether a value is within the bounds, whose ends belong to them.
    func spans(_ value: Value) -> Bool {
        if let lower = bounds.lower, Value.order(value, lower) < 0 { return false }
        if let upper = bounds.upper, Value.order(upper, value) < 0 { return false }
        return true
    }
}

extension IndexedTarget {
    /// Where an observation is filed.
    enum Place: Hashable {
        /// Among those that every round is shown to.
        case everything
        /// Among those that some kind of changes of a class concerns.
        case changes(TableKey, ClassChanges)
        /// Among the rows of a class that any object may modify which they reach.
        case reached(TableKey)
        /// Among the rows of a class that the changes on key paths may modify, by the text of these.
        case paths(TableKey, String)
        /// Among those of one object.
        case object(ObservedObject)
        /// Among the rows of a class with one value of a property, by the hash of the value.
        case value(TableKey, ColumnKey, Int)
        /// Among the rows of a class with an interval of values of a property.
        case interval(TableKey, ColumnKey)
        /// Among the rows of a class whose values of a property are tested one by one.
        case tested(TableKey, ColumnKey)
    }
}
