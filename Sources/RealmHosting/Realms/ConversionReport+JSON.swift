// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmLegacy
internal import RealmPlatform
internal import RealmStorage

/// The member `conversion` of the document of a realm.
extension ConversionReport {
    /// Writes the member.
    ///
    /// - Parameters:
    ///   - writer: The writer, in the document of the realm.
    ///   - showsNames: Whether the sender of the request may see all classes and properties; others get the format alone.
    ///   - isWhole: Whether the classes and notes are written. A list of realms has only the number of notes.
    func write(to writer: inout JSONWriter, showsNames: Bool, isWhole: Bool) {
        writer.key("conversion")
        writer.beginObject()
        writer.member("fromFormat", int: fromFormat)
        if isWhole { ClosedRealmFileMembers.write(writersOf: fromFormat, to: &writer) }
        if showsNames {
            writer.member("lossless", bool: isLossless)
            writer.member("noteCount", int: noteCount)
        }
        if showsNames, isWhole {
            write("classes", classes, to: &writer) { one, writer in
                writer.member("name", text: one.name)
                writer.member("objects", int: one.objectCount)
            }
            write("notes", notes, to: &writer) { note, writer in
                writer.member("kind", text: note.kind.rawValue)
                if let name = note.className { writer.member("class", text: name) }
                if let name = note.property { writer.member("property", text: name) }
                writer.member("count", int: note.count)
                writer.member("text", text: note.text)
            }
        }
        writer.endObject()
    }

    /// Writes an array of objects.
    private func write<Item>(
        _ name: StaticString, _ items: [Item], to writer: inout JSONWriter, _ write: (Item, inout JSONWriter) -> Void
    ) {
        writer.key(name)
        writer.beginArray()
        for item in items {
            writer.beginObject()
            write(item, &writer)
            writer.endObject()
        }
        writer.endArray()
    }
}
