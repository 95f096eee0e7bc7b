// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// The values of an operand for one object, in groups.
///
/// There is one group for every collection that a path reaches, and each group is compared by
/// itself. The buffer is reused from object to object, so that evaluation does not allocate once it
/// has grown. To fill it, reset it, append values, close each group, and finish.
struct ValueGroups {
    /// The collected values of all groups, one group after another.
    private(set) var values: [Value] = []
    /// For each closed group, the number of values up to its end.
    private(set) var ends: [Int] = []
    /// Whether the values are those of a list. Otherwise there is one group of one value.
    private(set) var isList = false
    /// The check that can stop the query and limits the number of values: a path may lead to any
    /// number of them.
    private let cancellation: CancellationCheck?
    /// Buffers for more values than this are released after each object.
    private static let keptCapacity = 1 << 14

    /// Creates an empty buffer.
    ///
    /// - Parameter cancellation: The check that counts and limits the values; nil for no limit.
    init(_ cancellation: CancellationCheck? = nil) { self.cancellation = cancellation }

    /// Removes all values and groups.
    ///
    /// - Parameter isList: Whether the values to come are those of a list.
    mutating func reset(isList: Bool) {
        values.removeAll(keepingCapacity: true)
        ends.removeAll(keepingCapacity: true)
        self.isList = isList
    }

    /// Replaces everything by one group of a single value, which is not a list.
    mutating func set(_ value: Value) {
        reset(isList: false)
        values.append(value)
        ends.append(1)
    }

    /// Adds a value to the open group.
    ///
    /// - Throws: A storage error when the query has to stop or holds too many values.
    mutating func append(_ value: Value) throws(StorageError) {
        if let cancellation {
            try cancellation.step()
            if values.count & 0xfff == 0xfff { try cancellation.require(valueCount: values.count) }
        }
        values.append(value)
    }

    /// Releases long buffers. It must be called when the values of an object are not needed any
    /// more.
    mutating func release() {
        guard values.capacity > ValueGroups.keptCapacity || ends.capacity > ValueGroups.keptCapacity else { return }
        values = []
        ends = []
    }

    /// Ends the open group, which may be empty, and opens the next one.
    mutating func closeGroup() { ends.append(values.count) }

    /// Ends the evaluation of an operand.
    ///
    /// Without any group there is one group afterwards, the empty list. If there is no value at
    /// all, it counts as an empty list too, even if a single value was expected.
    mutating func finish() {
        if ends.isEmpty { closeGroup() }
        if values.isEmpty { isList = true }
    }

    /// The number of groups that are closed.
    var groupCount: Int { ends.count }

    /// Returns the places of a group's values in `values`.
    ///
    /// - Parameter index: The index of the group, less than `groupCount`.
    func group(_ index: Int) -> Range<Int> { (index == 0 ? 0 : ends[index - 1])..<ends[index] }

    /// Replaces every value by the result of a closure; the groups remain.
    mutating func transform<Failure: Error>(_ body: (Value) throws(Failure) -> Value) throws(Failure) {
        for index in values.indices { values[index] = try body(values[index]) }
    }
}
