// SPDX-License-Identifier: Apache-2.0

import RealmEngine

/// Classes with properties of every kind.
enum TestSchema {
    static let classes = [
        ClassInput(
            "Person", primaryKey: "_id",
            [
                PropertyInput("_id", "int"), PropertyInput("name", "string"),
                PropertyInput("age", "int", optional: true, indexed: "general"),
                PropertyInput("weight", "double", optional: true), PropertyInput("ratio", "float", optional: true),
                PropertyInput("price", "decimal128", optional: true), PropertyInput("born", "date", optional: true),
                PropertyInput("photo", "data", optional: true), PropertyInput("tag", "uuid", optional: true),
                PropertyInput("any", "mixed"), PropertyInput("boss", "object", objectType: "Person"),
                PropertyInput("friends", "object", collection: "list", objectType: "Person"),
                PropertyInput("fans", "object", collection: "set", objectType: "Person"),
                PropertyInput("team", "object", collection: "dictionary", objectType: "Person"),
                PropertyInput("tags", "string", collection: "list"),
                PropertyInput("scores", "int", collection: "list", optional: true),
                PropertyInput("colors", "string", collection: "set"),
                PropertyInput("marks", "int", collection: "dictionary", optional: true),
                PropertyInput("things", "mixed", collection: "list"),
                PropertyInput("address", "object", objectType: "Address"),
                PropertyInput("homes", "object", collection: "list", objectType: "Address"),
                PropertyInput("places", "object", collection: "dictionary", objectType: "Address"),
            ]),
        ClassInput(
            "Address", type: "embedded",
            [
                PropertyInput("city", "string"), PropertyInput("zip", "string", optional: true),
                PropertyInput("phones", "string", collection: "list"), PropertyInput("owner", "object", objectType: "Person"),
                PropertyInput("geo", "object", objectType: "Geo"),
            ]),
        ClassInput("Geo", type: "embedded", [PropertyInput("lat", "double"), PropertyInput("lon", "double")]),
        ClassInput(
            "Note", primaryKey: "_id", [PropertyInput("_id", "objectId"), PropertyInput("text", "string", indexed: "fulltext")]),
        ClassInput("Log", [PropertyInput("line", "string"), PropertyInput("about", "object", objectType: "Person")]),
    ]

    /// A small class for tests of the queue.
    static let counters = [
        ClassInput("Counter", primaryKey: "_id", [PropertyInput("_id", "int"), PropertyInput("n", "int")])
    ]
}
