// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmPlatform
internal import RealmStorage

/// Writes the value of a column of SQLite as the JSON of a property.
///
/// SQLite has fewer types than a realm, and lets every row choose. Unambiguous values are converted here; all others are left to
/// the check of the property, whose message names the row.
struct SQLiteCell {
    /// The name of the property.
    let name: String
    /// The property; nil when the class has none of this name.
    let column: Column?
    /// The version of the class, for the classes that links lead to.
    let snapshot: Snapshot
    /// Whether values are elements of the collection that the property is.
    var isElement = false
    /// Whether the column has keys of objects that are no property.
    var isKey = false

    /// The reason why a value cannot be the JSON of a property.
    struct Unfit: Error {
        /// The name of the property.
        let name: String
        /// The error, and the expected value.
        let detail: String
        var code = ProblemCode.typeMismatch
    }

    /// Makes the error of a value.
    private func unfit(_ detail: String) -> Unfit { Unfit(name: name, detail: "column '\(name.truncated)': \(detail)") }

    /// Writes the member.
    ///
    /// - Throws: `Unfit` for a text that is not UTF-8, and for a date that is no number of seconds.
    func write(_ value: SQLiteStatement.Found, to writer: inout JSONWriter) throws(Unfit) {
        writeName(to: &writer)
        try writeValue(value, to: &writer)
    }

    /// Writes the name of the member.
    func writeName(to writer: inout JSONWriter) { writer.key(MemberNaming.documents.member(name)) }

    /// Writes the value of the member, or an element of it.
    ///
    /// - Throws: `Unfit`, as `write` does.
    func writeValue(_ value: SQLiteStatement.Found, to writer: inout JSONWriter) throws(Unfit) {
        guard let column else { return try plain(value, &writer) }
        if column.collection != nil, !isElement {
            if value == .null {
                // An absent collection is an empty one.
                return raw(column.collection == .dictionary ? "{}" : "[]", &writer)
            }
            return try json(value, &writer)
        }
        if value == .null { return writer.null() }
        switch column.type {
        case .bool: try bool(value, &writer)
        case .int: try int(value, &writer)
        case .string: try text(value, &writer)
        case .binary: try binary(value, &writer)
        case .timestamp: try date(value, &writer)
        case .decimal: try text(value, &writer)
        case .objectID, .uuid: try identifier(value, &writer)
        case .link: try link(value, column, &writer)
        case .mixed: try mixed(value, &writer)
        case .float, .double, .backlink: try plain(value, &writer)
        }
    }

    // MARK: - Types

    /// Writes a value as SQLite has it; bytes as base64.
    private func plain(_ value: SQLiteStatement.Found, _ writer: inout JSONWriter) throws(Unfit) {
        switch value {
        case .null: writer.null()
        case .int(let number): writer.int(number)
        case .double(let number): writer.double(number)
        case .text(let bytes): writer.string(try string(bytes))
        case .blob(let bytes): writer.string(Base64.encode(bytes, .standard))
        }
    }

    /// Returns bytes as text.
    private func string(_ bytes: [UInt8]) throws(Unfit) -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else { throw unfit("the text is not UTF-8") }
        return text
    }

    /// Writes text that is JSON already.
    private func raw(_ text: String, _ writer: inout JSONWriter) { writer.value { $0.append(text) } }

    /// Writes a truth value: 0 and 1 are those of SQLite.
    private func bool(_ value: SQLiteStatement.Found, _ writer: inout JSONWriter) throws(Unfit) {
        switch value {
        case .int(0), .text([0x66, 0x61, 0x6c, 0x73, 0x65]): writer.bool(false)
        case .int(1), .text([0x74, 0x72, 0x75, 0x65]): writer.bool(true)
        default: try plain(value, &writer)
        }
    }

    /// Writes a whole number; one that SQLite keeps as floating-point number is the same number.
    private func int(_ value: SQLiteStatement.Found, _ writer: inout JSONWriter) throws(Unfit) {
        if case .double(let number) = value, let exact = Int64(exactly: number) { return writer.int(exact) }
        try plain(value, &writer)
    }

    private func text(_ value: SQLiteStatement.Found, _ writer: inout JSONWriter) throws(Unfit) {
        switch value {
        case .int(let number): writer.string(String(number))
        case .double(let number): writer.string(String(number))
        case .blob(let bytes): writer.string(try string(bytes))
        default: try plain(value, &writer)
        }
    }

    /// Writes bytes as base64, also those of a text.
    private func binary(_ value: SQLiteStatement.Found, _ writer: inout JSONWriter) throws(Unfit) {
        if case .text(let bytes) = value { return writer.string(Base64.encode(bytes, .standard)) }
        try plain(value, &writer)
    }

    /// Makes the error of a number that is no date.
    private func noDate(_ number: String) -> Unfit {
        unfit(
            "\(number) is not a date; whole numbers are seconds since 1970, until the year 9999, and texts are written YYYY-MM-DD HH:MM:SS"
        )
    }

    /// Writes a date: RFC 3339, the form of SQLite without `T` and offset, or seconds since 1970.
    private func date(_ value: SQLiteStatement.Found, _ writer: inout JSONWriter) throws(Unfit) {
        switch value {
        case .int(let seconds):
            guard let text = Timestamp(seconds: seconds, nanoseconds: 0).rfc3339 else { throw noDate(String(seconds)) }
            writer.string(text)
        case .double(let number): throw noDate(number.description)
        case .text(let bytes):
            let text = try string(bytes)
            if text.hasPrefix("{"), isJSON(bytes) { return raw(text, &writer) }
            writer.string(SQLiteCell.dateText(text))
        default: try plain(value, &writer)
        }
    }

    /// Returns a date of SQLite in the form of RFC 3339. Without an offset it is in UTC, as in SQLite.
    private static func dateText(_ text: String) -> String {
        guard text.utf8.count >= 10, text.utf8.count <= 40, !text.contains("T") || !text.hasSuffix("Z") else { return text }
        var date = text.replacingFirst(" ", with: "T")
        if date.utf8.count == 10 { date += "T00:00:00" }
        if date.utf8.count == 16 { date += ":00" }
        let clock = date.dropFirst(10)
        return clock.contains("Z") || clock.contains("+") || clock.contains("-") ? date : date + "Z"
    }

    /// Writes an id, whose bytes may stand there in the place of its text.
    private func identifier(_ value: SQLiteStatement.Found, _ writer: inout JSONWriter) throws(Unfit) {
        guard case .blob(let bytes) = value else { return try plain(value, &writer) }
        let (object, unique) = ByteView.withBytes(of: bytes) { (ObjectID(bytes: $0), UUIDValue(bytes: $0)) }
        if let object, column?.type == .objectID { return writer.string(object.description) }
        if let unique, column?.type == .uuid { return writer.string(unique.description) }
        try plain(value, &writer)
    }

    /// Writes a link: the key of its target. An embedded object is JSON.
    private func link(_ value: SQLiteStatement.Found, _ column: Column, _ writer: inout JSONWriter) throws(Unfit) {
        guard let target = column.targetTable.flatMap({ snapshot.table($0) }), target.kind != .embedded else {
            return try json(value, &writer)
        }
        let key: String
        switch value {
        case .int(let number): key = target.primaryKey == nil ? "@k\(number)" : String(number)
        case .text(let bytes):
            let text = try string(bytes)
            let isString = target.primaryKey?.type == .string && target.primaryKey?.isNullable == false
            // A nullable primary key has in exports the form of the text that names the object.
            key = !isString ? text : text.isEmpty ? "@empty" : text.hasPrefix("@") ? "@" + text : text
        default: return try plain(value, &writer)
        }
        writer.beginObject()
        writer.key("$link")
        writer.beginObject()
        writer.member("class", text: target.className ?? target.name)
        writer.member("key", text: key)
        writer.endObject()
        writer.endObject()
    }

    /// Writes a value of Mixed: JSON, or any other text as it is, unless it begins like an object, an array or a text of JSON.
    private func mixed(_ value: SQLiteStatement.Found, _ writer: inout JSONWriter) throws(Unfit) {
        switch value {
        case .text(let bytes):
            let first = bytes.first { ![0x20, 0x09, 0x0a, 0x0d].contains($0) }
            if let first, [UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "\"")].contains(first), !isJSON(bytes) {
                throw unfit("expected JSON, got a text that begins like it")
            }
            try json(value, &writer)
        case .blob(let bytes):
            raw("{\"$binary\":{\"base64\":\"\(Base64.encode(bytes, .standard))\",\"subType\":\"00\"}}", &writer)
        default: try plain(value, &writer)
        }
    }

    /// Writes text that is JSON as it is, and all else plainly.
    private func json(_ value: SQLiteStatement.Found, _ writer: inout JSONWriter) throws(Unfit) {
        // A line must not end inside a value.
        guard case .text(let bytes) = value, isJSON(bytes) else { return try plain(value, &writer) }
        raw(try string(bytes.map { $0 == 0x0a || $0 == 0x0d ? 0x20 : $0 }), &writer)
    }

    /// Whether bytes are a JSON text.
    private func isJSON(_ bytes: [UInt8]) -> Bool {
        (try? JSONParser.parse(bytes, JSONBounds(depth: JSONBounds.deepestExport))) != nil
    }
}

extension String {
    /// Returns the text with the first occurrence of a character replaced.
    fileprivate func replacingFirst(_ character: Character, with other: Character) -> String {
        guard let index = firstIndex(of: character) else { return self }
        return self[..<index] + String(other) + self[self.index(after: index)...]
    }
}
