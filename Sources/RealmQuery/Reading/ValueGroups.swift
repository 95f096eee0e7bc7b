// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The values of an operand for one object, in groups.
///
/// There is one group for every collection that a path reaches, and each group is compared separately. The buffer is reused from
/// object to object, so that evaluation does not allocate once it has grown. To fill it, reset it, append values, close each
/// group, and finish. The comparisons of a query share their buffers: `take` one and `giveBack` it after each object.
struct ValueGroups {
    /// The collected values of all groups, one group after another.
    private(set) var values: [Value] = []
    /// For each closed group, the number of values up to its end.
    private(set) var ends: [Int] = []
    /// Whether the values are those of a list. Otherwise there is one group of one value.
    private(set) var isList = false
    /// The check that can stop the query and limits the number of values: a path may lead to any number of them.
    private let cancellation: CancellationCheck?
    /// The number of values that the check has counted for this buffer.
    private var heldCount = 0
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
        uncount()
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
            if values.count - heldCount >= CancellationCheck.valuesPerCount - 1 {
                try cancellation.hold(CancellationCheck.valuesPerCount)
                heldCount += CancellationCheck.valuesPerCount
            }
        }
        values.append(value)
    }

    /// Removes the values of the object, and releases long buffers. It must be called when they are not needed any more.
    mutating func release() {
        reset(isList: false)
        guard values.capacity > ValueGroups.keptCapacity || ends.capacity > ValueGroups.keptCapacity else { return }
        values = []
        ends = []
    }

    /// Gives the counted values back to the check.
    private mutating func uncount() {
        guard heldCount > 0 else { return }
        cancellation?.release(heldCount)
        heldCount = 0
    }

    /// Returns an empty buffer of a query, which has to be given back.
    ///
    /// - Parameter cancellation: The check of the query, which keeps the buffers that are not in use; nil for a buffer without limit.
    static func take(_ cancellation: CancellationCheck?) -> ValueGroups {
        var groups = ValueGroups(cancellation)
        if let spare = cancellation?.spareGroups.popLast() {
            groups.values = spare.values
            groups.ends = spare.ends
        }
        return groups
    }

    /// Gives a buffer back that was taken; it is empty afterwards.
    mutating func giveBack() {
        release()
        guard let cancellation else { return }
        cancellation.spareGroups.append((values, ends))
        (values, ends) = ([], [])
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
