// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage

/// The object that a path names, in a version that is not being written.
struct ObjectLookup {
    private let call: WriteCall
    private let version: Version
    private let options: WriteOptions

    init(_ call: WriteCall, _ version: Version, _ options: WriteOptions) {
        self.call = call
        self.version = version
        self.options = options
    }

    /// The object as a document; `null` when there is none.
    func document() throws(Problem) -> [UInt8] {
        guard let table = version.snapshot.classTable(named: try call.match[.class]) else {
            return Array("null".utf8)
        }
        let key = try call.match[.key]
        guard let row = try Problem.mapping({ () throws(StorageError) in try KeyText.find(key, in: table) }) else {
            return Array("null".utf8)
        }
        var writer = JSONWriter()
        let plan = try PlanCache.of(version).wholeObjects(of: table, in: version.snapshot)
        try Problem.mapping { () throws(StorageError) in
            try ObjectEncoder(version.snapshot, options.representation, call.limits.budgetOfDocument()).write(
                row, plan, to: &writer)
        }
        return writer.bytes
    }
}
