// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// The values of an operand for one object.
///
/// Values arrive in groups, one for every collection that a path reaches; each group is compared by itself. A buffer
/// that is reused from row to row, so that evaluation does not allocate once it has grown.
struct ValueGroups {
    private(set) var values: [Value] = []
    /// The end of each group in `values`.
    private(set) var ends: [Int] = []
    /// Are the values those of a list? Otherwise there is one group of one value.
    private(set) var isList = false
    /// Is asked whether to go on, and how many values there may be: a path may lead to any number of them.
    private let cancellation: CancellationCheck?
    /// Buffers for more values than this are given back after each row.
    private static let keptCapacity = 1 << 14

    init(_ cancellation: CancellationCheck? = nil) { self.cancellation = cancellation }

    /// Starts over.
    mutating func reset(isList: Bool) {
        values.removeAll(keepingCapacity: true)
        ends.removeAll(keepingCapacity: true)
        self.isList = isList
    }

    /// Starts over with a single value.
    mutating func set(_ value: Value) {
        reset(isList: false)
        values.append(value)
        ends.append(1)
    }

    mutating func append(_ value: Value) throws(StorageError) {
        if let cancellation {
            try cancellation.step()
            if values.count & 0xfff == 0xfff { try cancellation.require(valueCount: values.count) }
        }
        values.append(value)
    }

    /// Gives long buffers back. To be called when the values of a row are done with.
    mutating func release() {
        guard values.capacity > ValueGroups.keptCapacity || ends.capacity > ValueGroups.keptCapacity else { return }
        values = []
        ends = []
    }

    /// Ends the current group, which may be empty.
    mutating func closeGroup() { ends.append(values.count) }

    /// Ends evaluation: without any group there is one, the empty list; and single values that turned out to be
    /// none are an empty list too.
    mutating func finish() {
        if ends.isEmpty { closeGroup() }
        if values.isEmpty { isList = true }
    }

    var groupCount: Int { ends.count }

    func group(_ index: Int) -> Range<Int> { (index == 0 ? 0 : ends[index - 1])..<ends[index] }

    /// Replaces every value, and every group with it.
    mutating func transform<Failure: Error>(_ body: (Value) throws(Failure) -> Value) throws(Failure) {
        for index in values.indices { values[index] = try body(values[index]) }
    }
}
