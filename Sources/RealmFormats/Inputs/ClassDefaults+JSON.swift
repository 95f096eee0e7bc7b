// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmPlatform
internal import RealmStorage

/// Defaults of properties as JSON: `{"Dog": {"age": 0, "tags": []}}`.
extension ClassDefaults {
    /// Reads defaults. Whether the classes and properties exist, and the values fit them, is checked when the realm is open.
    ///
    /// - Parameters:
    ///   - json: The value of the member `defaults`.
    ///   - place: Its place in the body or file.
    /// - Throws: `invalid_body` for another form.
    package init(_ json: JSONValue, at place: InputPlace) throws(Problem) {
        let reader = SchemaReader(place: place)
        guard let classes = json.object else { throw reader.malformed("expected an object with a member for each class", place) }
        var byClass: [ByteText: [Value]] = [:]
        for one in classes.members {
            let inner = place.inside(one.name)
            guard let properties = one.value.object else {
                throw reader.malformed("expected an object with a member for each property", inner)
            }
            byClass[one.name] = try properties.members.map { member throws(Problem) in
                try ClassDefaults.value(member.name, member.value, at: inner.inside(member.name), reader)
            }
        }
        self.init(byClass)
    }

    /// Reads the default of one property.
    private static func value(
        _ name: String, _ json: JSONValue, at place: InputPlace, _ reader: SchemaReader
    ) throws(Problem) -> Value {
        do throws(InputReader.InputError) {
            var writer = JSONWriter(reservingCapacity: 64)
            writer.write(json)
            return Value(name: name, input: try InputReader().value(json), text: writer.buffer.text)
        } catch {
            throw reader.malformed(error.detail, place)
        }
    }
}
