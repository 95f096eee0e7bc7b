// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
package import RealmPlatform
internal import RealmQuery
package import RealmStorage

/// Writes objects of one snapshot as JSON or Extended JSON, by plans that were compiled before, straight from the leaves.
///
/// No document is built in memory: values go from the mapped file into the buffer of the response.
/// One encoder serves one response on one thread at a time; it remembers the leaf that it read last
/// in each class. After an error other than a full response it must not be used again.
package final class ObjectEncoder {
    /// The number of targets of one list of links that are expanded at most; the rest stay stubs.
    package static let maximumExpandedTargets = 100
    /// The depth to which embedded objects and collections in Mixed may be nested while they are written. realm-core nests
    /// collections at most 100 levels deep, so anything deeper is damage.
    private static let maximumNesting = 128

    /// The version that objects are read from.
    package let snapshot: Snapshot
    /// The representation of objects and values: the choices of the client's request.
    package let representation: Representation
    /// The work and the length that the response may have.
    package let budget: WorkBudget
    /// Writes scalar values, and notes their losses.
    private var values: ValueWriter
    /// The leaf of each class that was read last, so that rows of the same leaf attach its columns once.
    private let leaves = LeafColumns()
    /// Reads objects into digests for entity tags.
    private lazy var digests = DigestReader(snapshot, leaves, budget)
    /// Counts the links that the version hides.
    private let hidden: HiddenLinks
    /// Returns another text for the key in a link to an object, such as one that identifies it in two files; nil for its key.
    package var keyOfTarget: ((_ table: Table, _ key: ObjectKey) -> String?)?
    /// The suffix of entity tags after `~` in this representation.
    private let tagCode: StaticString
    /// The digest that was made last: a response about one object needs it in the header and in `$meta`.
    private var lastDigest: (table: TableKey, key: ObjectKey, digest: ObjectDigest)?
    /// The objects that are being written, outermost first. One that is met again stays a stub, so that cycles end.
    private var path: [(table: TableKey, key: ObjectKey)] = []
    /// The number of embedded objects and nested collections around the value that is being written.
    private var nesting = 0

    /// Creates an encoder for one response.
    ///
    /// - Parameters:
    ///   - snapshot: The version that objects are read from.
    ///   - representation: The form of values.
    ///   - budget: The work and the length that the response may have.
    package init(_ snapshot: Snapshot, _ representation: Representation, _ budget: WorkBudget = WorkBudget()) {
        self.snapshot = snapshot
        self.representation = representation
        self.budget = budget
        values = ValueWriter(representation)
        hidden = HiddenLinks(snapshot: snapshot)
        tagCode = representation.staticCode
    }

    /// The notes for the header of the response on the values written so far.
    package var notes: RepresentationNotes { values.notes }

    // MARK: - Objects

    /// Writes a row of a page, unless the response is full before the end of the row.
    ///
    /// - Parameters:
    ///   - writer: The writer of the page.
    /// - Returns: Whether the row was written. Otherwise nothing of it is left, and the page ends
    ///   before it.
    /// - Throws: Every other error of `write`.
    package func fits(
        _ writer: inout JSONWriter, _ write: (inout JSONWriter) throws(StorageError) -> Void
    ) throws(StorageError) -> Bool {
        let mark = writer.mark
        do throws(StorageError) {
            try write(&writer)
            try budget.requireRoom(for: writer.count)
            return true
        } catch {
            guard error.isFullAnswer else { throw error }
            writer.goBack(to: mark)
            path = []
            nesting = 0
            return false
        }
    }

    /// Writes one object: `$meta`, unless it is left out, and the members of the plan.
    ///
    /// - Parameters:
    ///   - plan: Its plan, compiled for its class.
    ///   - writer: The writer, at a place where a value may be.
    /// - Throws: `StorageError` for a damaged file, or when the budget is used up; the text is
    ///   incomplete then.
    package func write(_ row: Row, _ plan: ObjectPlan, to writer: inout JSONWriter) throws(StorageError) {
        if plan.expands { path.append((plan.table.key, row.key)) }
        if !representation.includesMeta {
            writer.beginObject()
            try writeMembers(row, plan, &writer)
        } else if plan.isWhole, plan.table.kind != .embedded {
            try writeWhole(row, plan, &writer)
        } else {
            try writeMeta(row, plan, &writer)
            try writeMembers(row, plan, &writer)
        }
        writer.endObject()
        if plan.expands { path.removeLast() }
    }

    /// Writes the members of a plan without braces. The length of the response is checked between members.
    private func writeMembers(_ row: Row, _ plan: ObjectPlan, _ writer: inout JSONWriter) throws(StorageError) {
        let attached = leaves.attached(plan.table, row.leaf)
        try budget.spend(plan.steps.count)
        var roomEnd = budget.roomEnd
        for index in plan.steps.indices {
            if writer.count > roomEnd { roomEnd = try budget.roomEnd(for: writer.count) }
            let step = plan.steps[index]
            writer.key(in: plan.escapedKeys, step.key)
            switch step.kind {
            case .plain: values.write(try attached.value(step.position, row.index), to: &writer)
            case .text:
                let value = try attached.value(step.position, row.index)
                try budget.meet(byteCount: value.byteCount)
                values.write(value, to: &writer)
            case .mixed: try writeMixed(try attached.value(step.position, row.index), &writer)
            case .link: try writeLink(try attached.value(step.position, row.index), plan.members[index], &writer)
            case .collection: try writeCollection(plan.members[index], row, &writer)
            }
        }
    }

    /// Writes `$meta` and all members, and computes the digest of their values on the way, so that
    /// they are read only once. The entity tag is put into its place at the end.
    private func writeWhole(_ row: Row, _ plan: ObjectPlan, _ writer: inout JSONWriter) throws(StorageError) {
        let attached = leaves.attached(plan.table, row.leaf)
        let tagPosition = try beginMeta(row, plan, of: attached, &writer)
        var digest = ObjectDigest(of: row.key)
        try budget.spend(plan.steps.count)
        var roomEnd = budget.roomEnd
        for index in plan.steps.indices {
            if writer.count > roomEnd { roomEnd = try budget.roomEnd(for: writer.count) }
            let step = plan.steps[index]
            digest.add(step.columnBits)
            writer.key(in: plan.escapedKeys, step.key)
            if step.kind == .collection {
                let member = plan.members[index]
                try digests.addCollection(member.source.column, row, to: &digest)
                try digests.addHidden(member.source.column, row, in: plan.table, to: &digest)
                try writeCollection(member, row, &writer)
                continue
            }
            let value = try attached.value(step.position, row.index)
            switch step.kind {
            case .plain, .collection:
                digest.addScalar(value)
                values.write(value, to: &writer)
            case .text:
                try budget.meet(byteCount: value.byteCount)
                digest.addScalar(value)
                values.write(value, to: &writer)
            case .mixed:
                try digests.add(value, plan.members[index].source.column, to: &digest)
                try writeMixed(value, &writer)
            case .link:
                try digests.add(value, plan.members[index].source.column, to: &digest)
                try writeLink(value, plan.members[index], &writer)
            }
        }
        writer.buffer.overwrite(at: tagPosition, with: digest)
        lastDigest = (plan.table.key, row.key, digest)
    }

    /// Writes `$meta` with a placeholder for the digest in the entity tag.
    ///
    /// - Returns: The position of the placeholder in the buffer, in bytes.
    private func beginMeta(
        _ row: Row, _ plan: ObjectPlan, of attached: AttachedLeaf, _ writer: inout JSONWriter
    ) throws(StorageError) -> Int {
        writer.objectPrefix(plan.metaPrefix)
        let table = plan.table
        KeyText.write(try attached.primaryKey(row.index), row.key, to: &writer)
        writer.key("etag")
        let position = writer.count + 3
        writer.value { buffer in
            buffer.append("\"\\\"0123456789abcdef~" as StaticString)
            buffer.append(tagCode)
            buffer.append("\\\"\"" as StaticString)
        }
        if table.primaryKey == nil { writer.member("stableKey", bool: false) }
        if table.kind == .embedded { try writeOwner(of: row, in: table, &writer) }
        if hidden.arePossible { try hidden.write(row, plan, budget, to: &writer) }
        writer.endObject()
        return position
    }

    /// Writes `$meta` for an embedded object, or for an object of which only some properties are
    /// shown. The digest covers all properties, so it is computed apart from writing them.
    private func writeMeta(_ row: Row, _ plan: ObjectPlan, _ writer: inout JSONWriter) throws(StorageError) {
        let position = try beginMeta(row, plan, of: leaves.attached(plan.table, row.leaf), &writer)
        writer.buffer.overwrite(at: position, with: try digest(of: row, in: plan.table))
    }

    /// Returns the entity tag of an object: a digest of its stored values, and the code of this representation.
    ///
    /// It costs little for the object that was written last, or whose tag was made last.
    ///
    /// - Throws: `StorageError` for a damaged file, or when the budget is used up.
    package func entityTag(of row: Row, in table: Table) throws(StorageError) -> String {
        let digest = try digest(of: row, in: table)
        lastDigest = (table.key, row.key, digest)
        let text = OutputBuffer(capacity: 32)
        text.append(UInt8(ascii: "\""))
        digest.appendText(to: text)
        text.append(UInt8(ascii: "~"))
        text.append(tagCode)
        text.append(UInt8(ascii: "\""))
        return text.text
    }

    /// Returns the digest of an object, which may be known from writing it.
    private func digest(of row: Row, in table: Table) throws(StorageError) -> ObjectDigest {
        if let lastDigest, lastDigest.key == row.key, lastDigest.table == table.key { return lastDigest.digest }
        return try digests.digest(of: row, in: table)
    }

    /// Writes the owner of an embedded object as member of `$meta`, and the root when the owner is embedded
    /// itself; nothing when it has none.
    private func writeOwner(of row: Row, in table: Table, _ writer: inout JSONWriter) throws(StorageError) {
        let lookup = OwnerLookup(snapshot: snapshot, budget: budget)
        guard let owner = try lookup.owner(of: row, in: table) else { return }
        writer.key("owner")
        writer.beginObject()
        try writeAddress(of: owner.row, in: owner.table, &writer)
        writer.member("property", text: owner.place.text)
        writer.endObject()
        guard owner.table.kind == .embedded, let root = try lookup.root(above: owner) else { return }
        writer.key("root")
        writer.beginObject()
        try writeAddress(of: root.row, in: root.table, &writer)
        writer.member("path", text: root.pointer)
        writer.endObject()
    }

    /// Writes the members that name an object: its class and its key.
    private func writeAddress(of row: Row, in table: Table, _ writer: inout JSONWriter) throws(StorageError) {
        writer.member("class", text: table.className ?? table.name)
        writer.member("key", text: try KeyText.text(of: row, in: table))
    }

    // MARK: - Values

    /// Writes a value inside Mixed, or the value of a single Mixed property.
    ///
    /// - Parameters:
    ///   - value: The value, which may be a nested collection.
    ///   - walk: The bound on the nodes of the collection around it; nil for the outermost.
    /// - Throws: `StorageError` for a damaged file, or when the budget is used up.
    package func writeMixed(_ value: Value, _ writer: inout JSONWriter, within walk: WalkBudget? = nil) throws(StorageError) {
        switch value {
        case .link(let table, let key): try writeStub(table, key, &writer)
        case .list(let root):
            let walk = try nested(root, walk)
            writer.beginArray()
            var elements = try ListView(nested: root, space: snapshot.space).elements(within: walk)
            while let element = try elements.next() {
                try spend(writer)
                try writeMixed(element, &writer, within: walk)
            }
            writer.endArray()
            nesting -= 1
        case .dictionary(let root):
            let walk = try nested(root, walk)
            writer.beginObject()
            var entries = try DictionaryView(root: root, space: snapshot.space, fileFormat: snapshot.fileFormat).entries(
                within: walk)
            while let entry = try entries.next() {
                try spend(writer)
                writeEntryKey(entry.key, &writer)
                try writeMixed(entry.value, &writer, within: walk)
            }
            writer.endObject()
            nesting -= 1
        default:
            try budget.meet(byteCount: value.byteCount)
            values.writeMixed(value, to: &writer)
        }
    }

    /// Charges one more value, and checks that the response has room for it.
    @inline(__always) private func spend(_ writer: JSONWriter) throws(StorageError) {
        try budget.spend()
        try budget.requireRoom(for: writer.count)
    }

    /// Enters a collection inside Mixed, as part of the walk around it or of a new one. The caller lowers `nesting` afterwards.
    private func nested(_ root: Ref, _ walk: WalkBudget?) throws(StorageError) -> WalkBudget {
        try nested(root)
        return walk ?? WalkBudget(snapshot.space)
    }

    /// Counts one more level of nesting.
    ///
    /// - Throws: `StorageError.corrupt` when there are too many.
    private func nested(_ root: Ref) throws(StorageError) {
        nesting += 1
        guard nesting <= ObjectEncoder.maximumNesting else {
            throw .corrupt(ref: root, reason: "collections nested deeper than \(ObjectEncoder.maximumNesting)")
        }
    }

    /// Writes the key of a dictionary as the name of a member. A key that is not UTF-8 is written
    /// as `@b64.` with its bytes in base64url.
    private func writeEntryKey(_ key: DictionaryKey, _ writer: inout JSONWriter) {
        switch key {
        case .text(let bytes): if !writer.key(bytes) { writer.key("@b64." + Base64.encode(bytes.array, .url)) }
        case .integer(let number): writer.key(String(number))
        }
    }

    // MARK: - Links

    /// Writes a link as the plan of its member states: as a stub, as an embedded object or
    /// expanded. A link to an object that does not exist is null.
    private func writeLink(_ value: Value, _ member: ObjectPlan.Member, _ writer: inout JSONWriter) throws(StorageError) {
        guard case .link(let tableKey, let key) = value else { return writer.null() }
        guard let table = snapshot.table(tableKey) else { return writeHiddenLink(tableKey, key, &writer) }
        switch member.links {
        case .none, .stubs: try writeStub(tableKey, key, &writer)
        case .embedded: try writeEmbedded(of: table, key, member, to: &writer)
        case .expanded(let plan):
            guard !path.contains(where: { $0.table == tableKey && $0.key == key }) else {
                return try writeStub(tableKey, key, &writer)
            }
            guard let row = try table.find(key) else { return writer.null() }
            try budget.follow()
            try write(row, plan, to: &writer)
        }
    }

    /// Writes an embedded object without `$meta`. One that does not exist, or has no plan, is null.
    private func writeEmbedded(
        of table: Table, _ key: ObjectKey, _ member: ObjectPlan.Member, to writer: inout JSONWriter
    ) throws(StorageError) {
        guard let plan = member.embeddedPlan, let row = try table.find(key) else { return writer.null() }
        try nested(row.leaf.node.ref)
        writer.beginObject()
        try writeMembers(row, plan, &writer)
        writer.endObject()
        nesting -= 1
    }

    /// Writes a link to an object of a class that this realm does not show, `{"$link":{"hidden":true}}`; null for a
    /// link to no object. It says nothing about the object but that there is one.
    private func writeHiddenLink(_ tableKey: TableKey, _ key: ObjectKey, _ writer: inout JSONWriter) {
        guard snapshot.hides(tableKey), key.rawValue >= 0 else { return writer.null() }
        writer.beginObject()
        writer.key("$link")
        writer.beginObject()
        writer.member("hidden", bool: true)
        writer.endObject()
        writer.endObject()
    }

    /// Writes a link stub, `{"$link":{"class":…,"key":…}}`, or null when the object does not exist.
    package func writeStub(_ tableKey: TableKey, _ key: ObjectKey, _ writer: inout JSONWriter) throws(StorageError) {
        guard let table = snapshot.table(tableKey) else { return writeHiddenLink(tableKey, key, &writer) }
        guard let row = try table.find(key) else { return writer.null() }
        writer.beginObject()
        writer.key("$link")
        writer.beginObject()
        writer.member("class", text: table.className ?? table.name)
        writer.key("key")
        if let text = keyOfTarget?(table, key) {
            writer.string(text)
        } else {
            KeyText.write(try leaves.primaryKey(of: row, in: table), key, to: &writer)
        }
        writer.endObject()
        writer.endObject()
    }

    // MARK: - Collections

    /// Writes the value of a member that is a collection: a JSON object for a dictionary, a JSON array for all others.
    private func writeCollection(_ member: ObjectPlan.Member, _ row: Row, _ writer: inout JSONWriter) throws(StorageError) {
        switch member.source {
        case .single: writer.null()
        case .list(let column), .set(let column): try writeList(column, member, of: row, to: &writer)
        case .dictionary(let column): try writeDictionary(column, member, of: row, to: &writer)
        case .linkingObjects(let origin, let column, let backlinks):
            try writeLinkingObjects(from: origin, column, backlinks: backlinks, member, of: row, to: &writer)
        case .distance(let path): values.write(try path.metres(from: row).map { .double($0) } ?? .null, to: &writer)
        }
    }

    /// Writes a list or set as a JSON array of its elements.
    private func writeList(
        _ column: Column, _ member: ObjectPlan.Member, of row: Row, to writer: inout JSONWriter
    ) throws(StorageError) {
        let list = try row.list(column, in: snapshot)
        writer.beginArray()
        var elements = list.elements()
        var written = 0
        while let element = try elements.next() {
            try spend(writer)
            try writeElement(element, column, member, at: written, to: &writer)
            written += 1
        }
        writer.endArray()
    }

    /// Writes one element of a collection.
    ///
    /// - Parameters:
    ///   - member: The form of links.
    ///   - position: The number of elements before this one; links beyond the bound on expansion
    ///     stay stubs.
    private func writeElement(
        _ element: Value, _ column: Column, _ member: ObjectPlan.Member, at position: Int, to writer: inout JSONWriter
    ) throws(StorageError) {
        switch column.type {
        case .mixed: try writeMixed(element, &writer)
        case .link:
            if position >= ObjectEncoder.maximumExpandedTargets, case .expanded = member.links,
                case .link(let table, let key) = element
            {
                return try writeStub(table, key, &writer)
            }
            try writeLink(element, member, &writer)
        case .string, .binary:
            try budget.meet(byteCount: element.byteCount)
            values.write(element, to: &writer)
        default: values.write(element, to: &writer)
        }
    }

    /// Writes a dictionary as a JSON object with a member for each entry, in their stored order.
    private func writeDictionary(
        _ column: Column, _ member: ObjectPlan.Member, of row: Row, to writer: inout JSONWriter
    ) throws(StorageError) {
        writer.beginObject()
        var entries = try row.dictionary(column, in: snapshot).entries()
        var written = 0
        while let entry = try entries.next() {
            try spend(writer)
            writeEntryKey(entry.key, &writer)
            try writeElement(entry.value, column, member, at: written, to: &writer)
            written += 1
        }
        writer.endObject()
    }

    /// Writes the objects that link to a row as a JSON array.
    ///
    /// - Parameters:
    ///   - member: Their form.
    private func writeLinkingObjects(
        from origin: Table, _ column: Column, backlinks: Column, _ member: ObjectPlan.Member, of row: Row,
        to writer: inout JSONWriter
    ) throws(StorageError) {
        writer.beginArray()
        let keys = try row.leaf.backlinks(backlinks, row: row.index).keys()
        for (position, key) in keys.enumerated() where key.rawValue >= 0 {
            try spend(writer)
            if case .expanded = member.links, position >= ObjectEncoder.maximumExpandedTargets {
                try writeStub(origin.key, key, &writer)
            } else {
                try writeLink(.link(origin.key, key), member, &writer)
            }
        }
        writer.endArray()
    }

    // MARK: - Single properties

    /// Writes the value of one property in the form that it has inside an object.
    ///
    /// - Parameters:
    ///   - member: The property, and how its links are shown.
    /// - Throws: `StorageError` for a damaged file, or when the budget is used up.
    package func writeValue(of member: ObjectPlan.Member, _ row: Row, to writer: inout JSONWriter) throws(StorageError) {
        guard case .single(let column) = member.source else { return try writeCollection(member, row, &writer) }
        let value = try row.value(column)
        switch column.type {
        case .link: try writeLink(value, member, &writer)
        case .mixed: try writeMixed(value, &writer)
        default:
            try budget.meet(byteCount: value.byteCount)
            values.write(value, to: &writer)
        }
    }

    /// Writes one element of a collection in the form that it has inside its array or object.
    ///
    /// - Parameters:
    ///   - member: The property, and how its links are shown.
    /// - Throws: `StorageError` for a damaged file, or when the budget is used up.
    package func writeElement(
        _ element: Value, of member: ObjectPlan.Member, to writer: inout JSONWriter
    ) throws(StorageError) {
        switch member.source {
        case .single(let column), .list(let column), .set(let column), .dictionary(let column):
            try writeElement(element, column, member, at: 0, to: &writer)
        case .linkingObjects: try writeLink(element, member, &writer)
        case .distance: values.write(element, to: &writer)
        }
    }
}

extension OutputBuffer {
    /// Replaces the placeholder at a position by the text of a digest, which has the same length.
    fileprivate func overwrite(at position: Int, with digest: ObjectDigest) {
        let end = count
        truncate(to: position)
        digest.appendText(to: self)
        precondition(count == position + ObjectDigest.textByteCount && count <= end, "a digest beyond its placeholder")
        advance(end - count)
    }
}
