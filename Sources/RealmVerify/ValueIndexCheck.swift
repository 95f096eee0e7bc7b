// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// Checks a general index against the values of the objects.
///
/// Every object must be filed exactly once, under the data of its value. In lists equal values must be neighbours that ascend by
/// object. Additional entries of the index are errors as well. Lists whose values do not ascend are only unusual: files that the
/// reference engine upgraded to format 24 have lists in the order that texts had before.
struct ValueIndexCheck {
    /// The beginning of messages: table and column.
    private let place: String
    /// Whether the column holds Mixed, whose lists may have different values.
    private let isMixed: Bool
    /// Returns the value of an object; nil when there is none with that key.
    private let valueOf: (ObjectKey) throws(StorageError) -> Value?
    /// The objects that were found in the index so far.
    private(set) var found: Set<ObjectKey> = []

    /// Makes a check of one index.
    ///
    /// - Parameters:
    ///   - place: The beginning of messages.
    ///   - isMixed: Whether the column holds Mixed.
    ///   - valueOf: Returns the stored value of an object; nil when there is none with that key.
    init(place: String, isMixed: Bool, valueOf: @escaping (ObjectKey) throws(StorageError) -> Value?) {
        self.place = place
        self.isMixed = isMixed
        self.valueOf = valueOf
    }

    /// Checks all entries below `root`.
    ///
    /// - Parameters:
    ///   - walker: Visits the nodes.
    ///   - report: Gets what is wrong or unusual.
    /// - Throws: `.corrupt` for damage that keeps the index from being read.
    mutating func run(
        _ root: Ref, _ walker: inout IndexWalker, _ report: inout VerifyReport
    ) throws(StorageError) {
        try walker.walk(root, &report) { (entry, report) throws(StorageError) in try check(entry, &report) }
    }

    /// Compares the objects of one entry with their values.
    ///
    /// The path of keys must be that of the object's data, and objects of one list must have the
    /// same data unless the list is in the last level.
    private mutating func check(_ entry: IndexWalker.Entry, _ report: inout VerifyReport) throws(StorageError) {
        var members: [(object: ObjectKey, value: Value, data: IndexData)] = []
        for object in entry.objects {
            guard found.insert(object).inserted else {
                report.error("\(place): object \(object.rawValue) is filed twice")
                continue
            }
            guard let value = try valueOf(object) else {
                report.error("\(place): object \(object.rawValue) does not exist")
                continue
            }
            let data = IndexData(value)
            guard entry.path.indices.allSatisfy({ data.key(at: 4 * $0) == entry.path[$0] }) else {
                complain(object, value, &report)
                continue
            }
            members.append((object, value, data))
        }
        guard let first = members.first, members.count > 1 else { return }
        if entry.path.count * 4 <= IndexData.maximumOffset, !members.allSatisfy({ $0.data == first.data }) {
            func text() -> String { "\(place): a list of different values in node \(entry.node), above the last level" }
            // The reference engine puts numbers that are equal into one list, even where their data differ.
            if isMixed, members.allSatisfy({ $0.value.isNumber }) { report.warn(text()) } else { report.error(text()) }
        }
        checkOrder(members.map { ($0.object, $0.value) }, entry, &report)
    }

    /// Reports a list whose objects are out of order.
    private func checkOrder(
        _ members: [(object: ObjectKey, value: Value)], _ entry: IndexWalker.Entry, _ report: inout VerifyReport
    ) {
        // The first value of each run of equal ones.
        var runs = [members[0].value]
        var isAscending = true
        for (member, next) in zip(members, members.dropFirst()) {
            let order = Value.order(member.value, next.value)
            guard order != 0 || member.object < next.object else {
                return report.error("\(place): a list in node \(entry.node) is out of order at object \(next.object.rawValue)")
            }
            if order != 0 { runs.append(next.value) }
            if order > 0 { isAscending = false }
        }
        guard !isAscending else { return }
        runs.sort { Value.order($0, $1) < 0 }
        let isSplit = zip(runs, runs.dropFirst()).contains { Value.order($0, $1) == 0 }
        guard isSplit, !ValueIndexCheck.areTextsAndData(runs) else {
            return report.warn("\(place): a list in node \(entry.node) is in the order of an older format")
        }
        report.error("\(place): a list in node \(entry.node) has equal values that are not neighbours")
    }

    /// Returns whether values are texts and binaries of the same bytes, which were equal to each other before format 24.
    private static func areTextsAndData(_ values: [Value]) -> Bool {
        let data = IndexData(values[0])
        return values.allSatisfy { value in
            switch value {
            case .string, .binary: return IndexData(value) == data
            default: return false
            }
        }
    }

    /// Reports an object that is filed under another value than its own.
    ///
    /// It is a warning where the reference engine does so: deleting the target of a link in an indexed Mixed property leaves
    /// its index as it was, and equal numbers are filed together although their data differ.
    private func complain(_ object: ObjectKey, _ value: Value, _ report: inout VerifyReport) {
        func text() -> String { "\(place): object \(object.rawValue) is filed under another value" }
        if isMixed, value.isNull || value.isNumber { report.warn(text()) } else { report.error(text()) }
    }
}
