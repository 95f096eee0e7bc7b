// SPDX-License-Identifier: Apache-2.0

package import RealmEngine
internal import RealmPlatform
internal import RealmStorage

/// Reads the names of linking objects from JSON: `{"Dog":{"owners":"Person.dogs"}}` gives the
/// objects that link to a Dog through `Person.dogs` the name `owners`.
extension BacklinkNames {
    /// Reads the names from a JSON value.
    ///
    /// Only the form is checked. Whether the classes and properties exist is checked when the realm is open.
    ///
    /// - Throws: `invalid_body` for any other form.
    package init(_ value: JSONValue) throws(Problem) {
        guard let classes = value.object else { throw BacklinkNames.malformed("", "an object with a member for each class") }
        var byClass: [ByteText: [ByteText: String]] = [:]
        for (className, names) in classes.members {
            guard let names = names.object else {
                throw BacklinkNames.malformed(" of '\(className)'", "an object with a member for each name")
            }
            for (name, path) in names.members {
                guard let path = path.string, path.contains(".") else {
                    throw BacklinkNames.malformed(
                        ", here '\(className).\(name)',", "a class and a property such as \"Person.dogs\"")
                }
                byClass[className, default: [:]][name] = path
            }
        }
        self.init(byClass)
    }

    /// Reads the names from the text of a file, which may be nested at most four levels deep.
    ///
    /// - Throws: `invalid_json` for text that is not JSON, `invalid_body` for JSON of another form.
    package init(json: [UInt8]) throws(Problem) {
        try self.init(try Problem.parsing { () throws(JSONError) in try JSONParser.parse(json, depthLimit: 4) })
    }

    /// Makes the problem of names that have the wrong form.
    private static func malformed(_ place: String, _ form: String) -> Problem {
        Problem(.invalidBody, "the names of linking objects\(place) must be \(form)")
    }
}
