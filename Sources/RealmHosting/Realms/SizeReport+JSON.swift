// SPDX-License-Identifier: Apache-2.0

package import RealmEngine
package import RealmFormats
internal import RealmPlatform
internal import RealmStorage
package import RealmVerify

extension SizeReport {
    /// The versions of a realm that are in use, for which its file keeps space.
    package struct LiveVersions: Sendable {
        let count: Int
        package let oldest: UInt64?
        /// The age of the oldest version that is not the newest.
        let age: Duration

        /// Takes the versions of a realm at this moment; nil for one that is not written to here.
        package init?(of database: Database) {
            guard let oldest = database.oldestLiveVersion else { return nil }
            (count, age) = (database.liveVersions, database.oldestPinned)
            self.oldest = oldest
        }
    }

    /// Writes the document. Members that are not known are left out.
    ///
    /// - Parameters:
    ///   - writer: The writer, at a place where a value may follow.
    ///   - versions: The versions in use; nil where they are not known.
    package func write(to writer: inout JSONWriter, versions: LiveVersions? = nil) {
        writer.beginObject()
        writer.member("complete", bool: isComplete)
        writer.member("fileFormat", int: fileFormat)
        writer.member("encrypted", bool: isEncrypted)
        writer.member("streamingForm", bool: isStreaming)
        if let version { writer.member("version", int: version) }
        writer.member("fileBytes", int: fileBytes)
        if let logicalBytes { writer.member("logicalBytes", int: logicalBytes) }
        if let compactedBytes { writer.member("compactedBytes", int: compactedBytes) }
        writer.member("nodes", int: nodeCount)
        writer.key("parts")
        writer.beginObject()
        for part in parts.named { writer.member(part.name, int: part.bytes) }
        writer.endObject()
        if let free { SizeReport.write(free, to: &writer) }
        if let versions { SizeReport.write(versions, to: &writer) }
        SizeReport.write("classes", classes, to: &writer)
        SizeReport.write("otherTables", otherTables, to: &writer)
        writer.key("largest")
        writer.beginArray()
        for value in largest { SizeReport.write(value, to: &writer) }
        writer.endArray()
        writer.member("damageCount", int: damageCount)
        writer.key("damage")
        writer.beginArray()
        for one in damage { SizeReport.write(one, to: &writer) }
        writer.endArray()
        writer.endObject()
    }

    private static func write(_ free: Free, to writer: inout JSONWriter) {
        writer.key("free")
        writer.beginObject()
        writer.member("bytes", int: free.bytes)
        writer.member("blocks", int: free.blockCount)
        writer.member("largestBlock", int: free.largestBlock)
        if let pinned = free.pinned { writer.member("pinnedBytes", int: pinned) }
        writer.endObject()
    }

    private static func write(_ versions: LiveVersions, to writer: inout JSONWriter) {
        writer.key("versions")
        writer.beginObject()
        writer.member("live", int: versions.count)
        if let oldest = versions.oldest { writer.member("oldest", int: oldest) }
        writer.member("oldestSeconds", int: Int(versions.age.inSeconds))
        writer.endObject()
    }

    private static func write(_ name: StaticString, _ tables: [Table], to writer: inout JSONWriter) {
        writer.key(name)
        writer.beginArray()
        for table in tables {
            writer.beginObject()
            writer.member("name", text: table.name)
            writer.member("bytes", int: table.bytes)
            if let count = table.objectCount { writer.member("objects", int: count) }
            writer.member("complete", bool: table.isComplete)
            writer.member("schema", int: table.schema)
            writer.member("keys", int: table.keys)
            writer.member("tombstones", int: table.tombstones)
            writer.member("other", int: table.other)
            writer.key("properties")
            writer.beginArray()
            for property in table.properties {
                writer.beginObject()
                writer.member("name", text: property.name)
                writer.member("bytes", int: property.bytes)
                writer.member("values", int: property.values)
                writer.member("collections", int: property.collections)
                writer.member("index", int: property.index)
                writer.member("backlinks", int: property.backlinks)
                writer.endObject()
            }
            writer.endArray()
            writer.endObject()
        }
        writer.endArray()
    }

    private static func write(_ value: LargestValues.Value, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("class", text: value.table)
        writer.member("property", text: value.property)
        writer.member("key", text: value.keyText)
        writer.member("bytes", int: value.bytes)
        writer.endObject()
    }

    private static func write(_ damage: Damage, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("offset", int: damage.offset)
        if let name = damage.table { writer.member("class", text: name) }
        if let name = damage.property { writer.member("property", text: name) }
        writer.member("reason", text: damage.reason)
        writer.endObject()
    }
}

extension LargestValues.Value {
    /// The key of the object as addresses have it, such as `JL-13497`; `@k` and the object key without a primary key.
    package var keyText: String {
        primaryKey.map { KeyText.text($0.value, objectKey: objectKey) } ?? KeyText.text(objectKey)
    }
}
