// SPDX-License-Identifier: Apache-2.0

package import RealmEngine
package import RealmFormats
internal import RealmPlatform
internal import RealmStorage

extension FileInspection {
    /// The kind of history as it is named in documents, such as `inFile`; nil when the contents cannot be read.
    package var historyName: String? {
        guard let type = contents?.historyType else { return nil }
        return TopNode.HistoryType(rawValue: type).map { "\($0)" } ?? "unknown"
    }

    /// The kind of history in words; nil when the contents cannot be read.
    package var historyText: String? {
        guard let type = contents?.historyType else { return nil }
        switch TopNode.HistoryType(rawValue: type) {
        case .none?: return "none"
        case .obsolete?: return "next to the file"
        case .inFile?: return "in the file, as SDKs keep it for local realms"
        case .syncClient?: return "that of a client of Device Sync or of an Object Server"
        case .syncServer?: return "that of a sync server"
        case nil: return "of an unknown kind (\(type))"
        }
    }

    /// Writes the document that describes the file. Members that are not known are left out, and named in `unknown`, so no member
    /// that is left out, and no empty list, can be taken for a fact.
    ///
    /// - Parameter writer: The writer, at a place where a value may follow.
    package func write(to writer: inout JSONWriter) {
        var unknown: [String] = []
        func member<Value>(_ name: StaticString, _ value: Value?, _ write: (Value) -> Void) {
            if let value { write(value) } else { unknown.append(name.description) }
        }
        writer.beginObject()
        member("realm", isRealm) { writer.member("realm", bool: $0) }
        member("encrypted", isEncrypted) { writer.member("encrypted", bool: $0) }
        member("fileFormat", glance.format) { writer.member("fileFormat", int: $0) }
        if let writers = glance.format.flatMap(FileFormat.writers) { writer.member("writtenBy", text: writers) }
        member("streamingForm", glance.isStreaming) { writer.member("streamingForm", bool: $0) }
        writer.member("fileBytes", int: glance.byteCount)
        member("usedBytes", contents?.usedBytes) { writer.member("usedBytes", int: $0) }
        member("freeBytes", contents?.freeBytes) { writer.member("freeBytes", int: $0) }
        member("version", contents?.version) { writer.member("version", int: $0) }
        member("history", historyName) { writer.member("history", text: $0) }
        if let historyText { writer.member("historyText", text: historyText) }
        member("schemaVersion", contents) { contents in
            if let version = contents.schemaVersion {
                writer.member("schemaVersion", int: version)
            } else {
                writer.nullMember("schemaVersion")
            }
        }
        member("classes", contents) { FileInspection.write(classes: $0.tables, to: &writer) }
        member("otherTables", contents) { FileInspection.write(others: $0.tables, to: &writer) }
        writer.key("opening")
        FileInspection.write(opening: outlook, to: &writer)
        if let failure { FileInspection.write(problem: Problem(opening: failure), to: &writer) }
        writer.key("unknown")
        writer.beginArray()
        for name in unknown { writer.string(name) }
        writer.endArray()
        writer.endObject()
    }

    private static func write(classes tables: [Table], to writer: inout JSONWriter) {
        writer.key("classes")
        writer.beginArray()
        for table in tables {
            guard let name = table.className else { continue }
            writer.beginObject()
            writer.member("name", text: name)
            writer.member("objects", int: table.count)
            writer.member("properties", int: table.propertyCount)
            if table.kind != .topLevel { writer.member("kind", text: "\(table.kind)") }
            writer.endObject()
        }
        writer.endArray()
    }

    private static func write(others tables: [Table], to writer: inout JSONWriter) {
        writer.key("otherTables")
        writer.beginArray()
        for table in tables where table.className == nil {
            writer.beginObject()
            writer.member("name", text: table.name)
            writer.member("rows", int: table.count)
            writer.endObject()
        }
        writer.endArray()
    }

    /// Writes the handling of the file by a server.
    private static func write(opening outlook: FileOutlook, to writer: inout JSONWriter) {
        writer.beginObject()
        if let mode = outlook.mode {
            writer.member("mode", text: mode.rawValue)
        } else {
            writer.nullMember("mode")
        }
        writer.member("detail", text: outlook.text)
        if let advice = outlook.advice { writer.member("advice", text: advice) }
        writer.endObject()
    }

    /// Writes why the contents cannot be read.
    private static func write(problem: Problem, to writer: inout JSONWriter) {
        writer.key("problem")
        writer.beginObject()
        writer.member("code", text: problem.code.rawValue)
        writer.member("detail", text: problem.detail)
        writer.endObject()
    }
}
