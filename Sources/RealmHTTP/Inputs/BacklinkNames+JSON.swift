// SPDX-License-Identifier: Apache-2.0

package import RealmEngine

extension BacklinkNames {
    /// Reads `{"Dog":{"owners":"Person.dogs"}}`; anything else is `invalid_body`. Whether it fits a schema is checked when
    /// the realm is open.
    package init(_ value: JSONValue) throws(Problem) {
        guard let classes = value.object else { throw BacklinkNames.malformed("an object with a member for each class") }
        var byClass: [String: [String: String]] = [:]
        for (className, names) in classes.members {
            guard let names = names.object else {
                throw BacklinkNames.malformed("'\(className)' an object with a member for each name")
            }
            for (name, path) in names.members {
                guard let path = path.string, path.contains(".") else {
                    throw BacklinkNames.malformed("'\(className).\(name)' a class and a property such as \"Person.dogs\"")
                }
                byClass[className, default: [:]][name] = path
            }
        }
        self.init(byClass)
    }

    /// Reads the text of a file.
    package init(json: [UInt8]) throws(Problem) {
        try self.init(try Problem.parsing { () throws(JSONError) in try JSONParser.parse(json, depthLimit: 4) })
    }

    private static func malformed(_ what: String) -> Problem {
        Problem(.invalidBody, "the names of linking objects need \(what)")
    }
}
