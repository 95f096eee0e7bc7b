extension Live where Contents: Collection {
    /// How many rows there are.
    public var count: Int { contents.count }
}

extension Live where Contents: RandomAccessCollection, Contents.Index == Int {
    /// One row.
    public subscript(index: Int) -> Contents.Element { contents[index] }
}

/// Writes that show at once, and are taken back when they fail.
extension Live {
    /// Changes an object: what `change` does to it is shown at once, and the properties that differ are written.
    @discardableResult
    public func update<Value: Codable & Sendable>(
        _ row: Stored<Value>, ifMatch: Bool = false, _ change: (inout Value) -> Void
    ) async throws -> Stored<Value> where Contents == [Stored<Value>], Change == ChangeSet<Stored<Value>> {
        var value = row.value
        change(&value)
        let patch = try differences(from: row.value, to: value)
        let shown = value
        let id = core.add { rows in rows.map { $0.key == row.key ? $0.showing(shown) : $0 } }
        show()
        return try await write(id, show: nil) { [transport, path] in
            let headers = ifMatch ? row.etag.map { ["If-Match": $0] } ?? [:] : [:]
            return try await transport.request(
                "PATCH", "\(path)/objects/\(encoded(row.className))/\(encoded(row.key))", body: patch, headers: headers)
        }
    }

    /// Creates an object. It is shown at the end at once, and where it belongs when the server has told.
    @discardableResult
    public func create<Value: Codable & Sendable>(
        _ value: Value
    ) async throws -> Stored<Value> where Contents == [Stored<Value>], Change == ChangeSet<Stored<Value>> {
        let className = core.definition["class"]?.text ?? ""
        let body = try ValueEncoder.encode(value)
        let shown = Stored(className: className, key: "", etag: nil, value: value)
        let id = core.add { $0 + [shown] }
        show()
        return try await write(
            id, show: { written in { rows in rows.contains { $0.key == written.key } ? rows : rows + [written] } }
        ) {
            [transport, path] in try await transport.request("POST", "\(path)/objects/\(encoded(className))", body: body)
        }
    }

    /// Deletes an object. It is gone at once, and back if the write fails.
    public func delete<Value: Codable & Sendable>(
        _ row: Stored<Value>
    ) async throws where Contents == [Stored<Value>], Change == ChangeSet<Stored<Value>> {
        let id = core.add { $0.filter { $0.key != row.key } }
        show()
        do {
            let answer = try await transport.request("DELETE", "\(path)/objects/\(encoded(row.className))/\(encoded(row.key))")
            confirm(id, version: answer.version, show: nil)
        } catch {
            takeBack(id)
            throw error
        }
    }

    private var transport: Transport { hub.transport }
    private var path: String { hub.path }

    private func write<Value: Codable & Sendable>(
        _ id: Int, show: ((Stored<Value>) -> @Sendable (Contents) -> Contents)?, _ send: () async throws -> Answer
    ) async throws -> Stored<Value> {
        do {
            let answer = try await send()
            var written = try Stored<Value>(json: answer.json())
            written.version = answer.version
            confirm(id, version: answer.version, show: show?(written))
            return written
        } catch {
            takeBack(id)
            throw error
        }
    }

    private func takeBack(_ id: Int) {
        core.drop(id)
        show()
    }

    private func confirm(_ id: Int, version: String?, show: (@Sendable (Contents) -> Contents)?) {
        core.confirm(id, version: version, show: show)
        self.show()
        // The change set that shows this write for good follows within moments; after these its word counts alone.
        Task { [core, weak self] in
            repeat { try? await Task.sleep(for: .seconds(2)) } while core.status.state == .offline && core.hasEdit(id)
            core.drop(id)
            self?.show()
        }
    }
}

extension Stored {
    /// The object with values that the server has not confirmed.
    func showing(_ value: Value) -> Stored { Stored(className: className, key: key, etag: "\(etag ?? "")+", value: value) }
}

/// The merge patch that leads from one value to another.
func differences(from old: some Encodable, to new: some Encodable) throws -> JSON {
    guard case .object(let before) = try ValueEncoder.encode(old), case .object(let after) = try ValueEncoder.encode(new) else {
        throw ConnectionLost("only values with members can be written")
    }
    return .object(after.filter { before[$0.key] != $0.value })
}

/// The change between two lists of objects where writes are shown in advance.
func shownDifference<Value>(
    _ before: [Stored<Value>], _ after: [Stored<Value>], _ set: JSON?
) -> ChangeSet<Stored<Value>>? {
    // What the server reports as modified counts, also if only something linked changed.
    let modified = Set((set?["modifications"]?.elements ?? []).compactMap { $0["key"]?.text })
    let change = ChangeSet.between(
        before, after, key: { $0.key }, isSame: { $0.etag == $1.etag && !modified.contains($1.key) })
    return change.isEmpty ? nil : change
}
