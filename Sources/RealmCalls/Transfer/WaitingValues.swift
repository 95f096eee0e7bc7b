// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The values of an import that wait for objects of later lines, in the order of their lines.
///
/// A later line that gives the same property of the same object takes the place of the value: it waits no longer. So each
/// property waits in one entry at most.
struct WaitingValues: Sendable {
    struct Property: Sendable, Equatable {
        let column: ColumnKey
        /// The mark of the value that it had when the waiting began; nil for null and for an empty collection.
        let mark: Int?
    }

    /// The values of one line that wait.
    struct Entry: Sendable {
        /// The object that they belong to.
        let object: ObjectPlace
        /// The place of the record in the input, to be read again.
        let place: RecordPlace
        /// The properties that wait. None are left when later lines have given all of them.
        fileprivate(set) var properties: [Property]
    }

    /// The entries, also those without properties.
    private(set) var entries: [Entry] = []
    /// The positions of the last entries of objects; nil until a line writes into an object that exists.
    private var last: [ObjectPlace: Int]?
    /// The positions of earlier entries of the same objects.
    private var former: [ObjectPlace: [Int]] = [:]
    /// The properties of the entry before, which most entries share.
    private var shared: [Property] = []
    /// The memory in bytes of properties that are not shared.
    private var unsharedBytes = 0

    /// The memory in bytes that it takes, about.
    var byteCount: Int {
        2 * entries.count * MemoryLayout<Entry>.stride + unsharedBytes
            + ((last?.count ?? 0) + former.count * 3) * 3 * MemoryLayout<ObjectPlace>.stride
    }

    /// Adds the properties of an object that wait from one line on.
    mutating func append(_ properties: [Property], of object: ObjectPlace, at place: RecordPlace) {
        if properties != shared {
            shared = properties
            unsharedBytes += properties.count * MemoryLayout<Property>.stride + 32
        }
        entries.append(Entry(object: object, place: place, properties: shared))
        note(entries.count - 1)
    }

    /// Ends the waiting of properties of an object that a later line gives.
    ///
    /// - Parameters:
    ///   - object: The object, which existed before that line.
    ///   - given: Returns the properties that the line gives. It is called if something of the object waits.
    mutating func replace(_ object: ObjectPlace, _ given: () -> Set<ColumnKey>) {
        guard !entries.isEmpty else { return }
        if last == nil {
            last = [:]
            for index in entries.indices { note(index) }
        }
        guard let position = last?[object] else { return }
        let given = given()
        var open: [Int] = []
        for index in (former[object] ?? []) + [position] {
            let left = entries[index].properties.filter { !given.contains($0.column) }
            if left.count < entries[index].properties.count {
                unsharedBytes += left.isEmpty ? 0 : left.count * MemoryLayout<Property>.stride + 32
                entries[index].properties = left
            }
            if !left.isEmpty { open.append(index) }
        }
        last?[object] = open.popLast()
        former[object] = open.isEmpty ? nil : open
    }

    /// Ends the waiting of all properties of an entry, which were written.
    mutating func close(_ index: Int) { entries[index].properties = [] }

    /// Removes and returns an entry, after the last line was read.
    mutating func remove(at index: Int) -> Entry { entries.remove(at: index) }

    /// Records the position of an entry.
    private mutating func note(_ index: Int) {
        guard last != nil else { return }
        let object = entries[index].object
        if let before = last?.updateValue(index, forKey: object) { former[object, default: []].append(before) }
    }
}
