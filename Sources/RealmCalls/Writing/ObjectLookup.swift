// SPDX-License-Identifier: Apache-2.0

internal import RealmAccess
internal import RealmEngine
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// Finds and shows the object that the path of a write names, in a committed version.
///
/// It is used when a version condition fails before the write begins, so there is no transaction to read from.
struct ObjectLookup {
    /// The request whose path names a class and a key.
    private let call: Call
    /// The committed version in which the object is looked up.
    private let version: Version
    /// The options of the write, of which the representation is used.
    private let options: WriteOptions

    /// Prepares a look-up of the request's object in a version.
    package init(_ call: Call, _ version: Version, _ options: WriteOptions) {
        self.call = call
        self.version = version
        self.options = options
    }

    /// Returns the object as a JSON document, or the text `null` when the class or the object does not exist.
    ///
    /// - Throws: `file_corrupt` when the file is damaged, or a problem when the document would
    ///   exceed the limits of answers.
    package func document() throws(Problem) -> [UInt8] {
        guard let table = version.snapshot.classTable(named: try call.match[.class]) else {
            return Array("null".utf8)
        }
        let key = try call.match[.key]
        guard let row = try Problem.stored(KeyText.find(key, in: table)) else {
            return Array("null".utf8)
        }
        var writer = JSONWriter()
        let plan = try PlanCache.of(version).wholeObjects(of: table, in: version.snapshot)
        try Problem.stored(
            ObjectEncoder(version.snapshot, options.representation, call.limits.budgetOfDocument()).write(row, plan, to: &writer))
        return writer.bytes
    }
}
