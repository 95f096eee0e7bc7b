// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmEngine
import RealmFormats
import RealmHTTP
import RealmTestSupport
import Testing

/// Row D34 of the checklist: filters, and their arguments in the forms that bodies and answers have.
@Suite struct ArgumentRowTests {
    /// A value for each property, as bodies have it, and a text that does not fit with the form that would.
    private static let forms: [(property: String, text: String, misfit: String, form: String)] = [
        ("date", "2024-05-17T09:30:00.25Z", "17.5.2024", "2024-05-17T09:30:00Z"),
        ("oid", "652196ca3fe67ca7cabde606", "652196", "24 hexadecimal digits"),
        ("uuid", "3b241101-e2bb-4255-8caf-4136c566a962", "3b241101", "a UUID such as"),
        ("data", "AAEC/w==", "AAEC/w", "base64"),
        ("decimal", "12.34000000000000000000000000000001", "12,5", "up to 34 digits"),
        ("int", "9007199254740993", "12 apples", "a whole number of 64 bits"),
        ("double", "Infinity", "infinite", "Infinity"),
    ]

    /// One object of the class `Value` with all of them.
    private static let object: String = {
        let members = forms.map { #""\#($0.property)":"\#($0.text)""# }
        return "{" + members.joined(separator: ",") + "}"
    }()

    /// Asks with a body for the number of objects of the class `Value`.
    private func count(_ server: WriteServer, _ predicate: String, _ args: String) throws -> Int? {
        let body = #"{"where":"\#(predicate)","args":\#(args),"count":"exact","limit":0}"#
        return try server.send("QUERY", "app/objects/Value", body).json["count"]?.int
    }

    @Test func `D34: an argument is read by the type of what it is compared with`() throws {
        try withWriteServer { (server: WriteServer) throws in
            try server.done("PATCH", "app/objects/Value/1", Self.object)
            try server.done("POST", "app/objects/Value", #"{"_id":2}"#)
            for (property, text, _, _) in Self.forms {
                #expect(try count(server, "\(property) == $0", #"["\#(text)"]"#) == 1, "\(property)")
                #expect(try count(server, "$0 == \(property)", #"["\#(text)"]"#) == 1, "\(property)")
                #expect(try count(server, "\(property) IN $0", #"[["\#(text)",null]]"#) == 2, "\(property)")
                #expect(try count(server, "\(property) IN {$0, $1}", #"["\#(text)","\#(text)"]"#) == 1, "\(property)")
                #expect(try count(server, "\(property) != $0", #"["\#(text)"]"#) == 1, "\(property)")
                guard property != "data" else { continue }
                #expect(try count(server, "\(property) BETWEEN {$0, $1}", #"["\#(text)","\#(text)"]"#) == 1, "\(property)")
                #expect(try count(server, "\(property) > $0", #"["\#(text)"]"#) == 0, "\(property)")
            }
            #expect(try count(server, "date > $0 AND date < $1", #"["2024-05-17","2024-05-18"]"#) == 1)
            #expect(try count(server, "int == $0", #"["9007199254740992"]"#) == 0)
        }
    }

    @Test func `D34: what does not fit its type is refused with the place of the argument and the form wanted`() throws {
        try withWriteServer { (server: WriteServer) throws in
            for (property, _, misfit, form) in Self.forms {
                for predicate in ["_id > 0 AND \(property) == $0", "_id > 0 AND \(property) IN {$0, null}"] {
                    let answer = try server.send(
                        "QUERY", "app/objects/Value", #"{"where":"\#(predicate)","args":["\#(misfit)"]}"#)
                    #expect(answer.status == 400 && answer.code == "invalid_query", "\(property): \(answer.text)")
                    let place = predicate.firstIndex(of: "$").map { predicate.distance(from: predicate.startIndex, to: $0) }
                    #expect(answer.json["position"]?.int == place, "\(property)")
                    #expect(answer.json["detail"]?.text?.contains(form) == true, "\(property): \(answer.text)")
                }
            }
            let link = try server.send("QUERY", "app/objects/Dog", #"{"where":"owner == $0","args":["ann"]}"#)
            #expect(link.code == "invalid_query" && link.json["detail"]?.text?.contains("$link") == true)
            let flag = try server.send("QUERY", "app/objects/Value", #"{"where":"flag == $0","args":["true"]}"#)
            #expect(flag.code == "invalid_query" && flag.json["detail"]?.text?.contains("true or false") == true)
        }
    }

    @Test func `D34: elements of lists of arguments are read in the same way, and texts of which none fits are refused`() throws {
        try withWriteServer { (server: WriteServer) throws in
            // An element of another type matches nothing, as in the engine.
            #expect(try count(server, "int IN $0", #"[[true,{"$bytes":"eg=="},null]]"#) == 1)
            #expect(try count(server, "mixed IN $0", #"[["zzz"]]"#) == 0)
            try server.done("PATCH", "app/objects/Value/1", Self.object)
            try server.done("POST", "app/objects/Value", #"{"_id":2}"#)
            for (property, text, misfit, form) in Self.forms {
                for predicate in ["\(property) IN $0", "_id > 0 AND \(property) == ANY $0", "NONE $0 == \(property)"] {
                    let isNone = predicate.hasPrefix("NONE")
                    for (elements, found) in [
                        (#""\#(text)",null,"\#(misfit)""#, 2), (#""\#(misfit)","\#(text)""#, 1), (#"null,"\#(misfit)""#, 1),
                        (#""\#(misfit)",true"#, 0),
                    ] {
                        let number = try count(server, predicate, "[[\(elements)]]")
                        #expect(number == (isNone ? 2 - found : found), "\(predicate) \(elements)")
                    }
                    let body = #"{"where":"\#(predicate)","args":[["\#(misfit)","\#(misfit)"]]}"#
                    let answer = try server.send("QUERY", "app/objects/Value", body)
                    #expect(answer.status == 400 && answer.code == "invalid_query", "\(predicate): \(answer.text)")
                    let place = predicate.firstIndex(of: "$").map { predicate.distance(from: predicate.startIndex, to: $0) }
                    #expect(answer.json["position"]?.int == place, "\(predicate): \(answer.text)")
                    #expect(answer.json["detail"]?.text?.contains(form) == true, "\(predicate): \(answer.text)")
                }
            }
        }
    }

    private static let dictionaries = [
        ClassInput(
            "Value", primaryKey: "_id",
            [PropertyInput("_id", "int")]
                + ["int", "double", "decimal128", "date", "data", "objectId", "uuid", "bool", "string"].map {
                    PropertyInput($0, $0, collection: "dictionary", optional: true)
                } + [PropertyInput("links", "object", collection: "dictionary", objectType: "Value")])
    ]

    @Test func `D34: arguments are read by the type of a dictionary's values`() throws {
        let forms: [(property: String, text: String, misfit: String, form: String)] = [
            ("int", "9007199254740993", "12 apples", "a whole number of 64 bits"), ("double", "Infinity", "infinite", "Infinity"),
            ("decimal128", "5.56", "zzz", "up to 34 digits"), ("date", "2024-05-17", "17.5.2024", "2024-05-17T09:30:00Z"),
            ("data", "AAEC/w==", "AAEC/w", "base64"), ("objectId", "652196ca3fe67ca7cabde606", "652196", "24 hexadecimal digits"),
            ("uuid", "3b241101-e2bb-4255-8caf-4136c566a962", "3b241101", "a UUID such as"),
        ]
        try withWriteServer(Self.dictionaries) { (server: WriteServer) throws in
            let members = forms.map { #""\#($0.property)":{"k":"\#($0.text)","n":null}"# }.joined(separator: ",")
            try server.done("POST", "app/objects/Value", #"{"_id":1,"string":{"k":"5.56"},"links":{"k":1},\#(members)}"#)
            try server.done("POST", "app/objects/Value", #"{"_id":2}"#)
            for (property, text, misfit, form) in forms {
                var predicates: [(text: String, args: (String) -> String)] = [
                    ("\(property)['k'] == $0", { #"["\#($0)"]"# }), ("\(property).k == $0", { #"["\#($0)"]"# }),
                    ("$0 == \(property).k", { #"["\#($0)"]"# }), ("ANY \(property) == $0", { #"["\#($0)"]"# }),
                    ("ANY \(property).@values == $0", { #"["\#($0)"]"# }), ("$0 IN \(property)", { #"["\#($0)"]"# }),
                    ("\(property).k IN $0", { #"[["\#($0)"]]"# }), ("\(property).k IN {$0, null}", { #"["\#($0)"]"# }),
                ]
                if property != "data" {
                    predicates.append(("\(property).k >= $0", { #"["\#($0)"]"# }))
                    predicates.append(("NOT \(property).@count == 0 AND \(property).k <= $0", { #"["\#($0)"]"# }))
                }
                #expect(try count(server, "\(property).k IN $0", #"[["\#(text)",null,"\#(misfit)"]]"#) == 1, "\(property)")
                #expect(try count(server, "\(property).k IN $0", #"[[null,"\#(misfit)"]]"#) == 0, "\(property)")
                for (predicate, args) in predicates {
                    #expect(try count(server, predicate, args(text)) == 1, "\(predicate)")
                    let body = #"{"where":"\#(predicate)","args":\#(args(misfit))}"#
                    let answer = try server.send("QUERY", "app/objects/Value", body)
                    #expect(answer.status == 400 && answer.code == "invalid_query", "\(predicate): \(answer.text)")
                    let place = predicate.firstIndex(of: "$").map { predicate.distance(from: predicate.startIndex, to: $0) }
                    #expect(answer.json["position"]?.int == place, "\(predicate): \(answer.text)")
                    #expect(answer.json["detail"]?.text?.contains(form) == true, "\(predicate): \(answer.text)")
                }
            }
            #expect(try count(server, "ALL int BETWEEN {$0, $1} AND int.@count > 0", #"["1","2"]"#) == 0)
            #expect(try count(server, "int.k > $0", "[9007199254740992]") == 1)
            // Numbers are compared whatever their types, as those of plain properties.
            #expect(try count(server, "double.k > $0", "[7]") == 1)
            #expect(try count(server, "decimal128.k == $0", "[5.56]") == 1)
            #expect(try count(server, "string.k == $0", #"["5.56"]"#) == 1)
            #expect(try count(server, "links.k == $0", #"[{"$link":{"class":"Value","key":"1"}}]"#) == 1)
            for (predicate, args) in [
                ("links.k == $0", "[1]"), ("links['k'] == $0", #"["1"]"#), ("ANY links == $0", "[1]"), ("int.k == $0", "[true]"),
                ("date.k > $0", "[5]"), ("bool.k == $0", #"["true"]"#), ("string.k == $0", "[5]"), ("uuid.k == $0", "[5]"),
                ("int.k + $0 == 7", #"["x"]"#), ("ALL int BETWEEN {$0, 5}", #"["x"]"#),
            ] {
                let answer = try server.send("QUERY", "app/objects/Value", #"{"where":"\#(predicate)","args":\#(args)}"#)
                #expect(answer.status == 400 && answer.code == "invalid_query", "\(predicate) \(args): \(answer.text)")
            }
        }
    }

    @Test func `D34: keys of objects, paths and strings are texts of their own types`() throws {
        try withWriteServer { (server: WriteServer) throws in
            func dogs(_ predicate: String, _ args: String) throws -> Int? {
                let body = #"{"where":"\#(predicate)","args":\#(args),"count":"exact"}"#
                return try server.send("QUERY", "app/objects/Dog", body).json["count"]?.int
            }
            #expect(try dogs("owner.id == $0", #"["ann"]"#) == 1)
            #expect(try dogs("owner == obj('Person', $0)", #"["ann"]"#) == 1)
            #expect(try dogs("@links.Person.dogs.id == $0", #"["ann"]"#) == 2)
            #expect(try dogs("$K0 == $1", #"["_id","2"]"#) == 1)
            #expect(try dogs("marks[$0] == $1", #"["art",1]"#) == 1)
            #expect(try dogs("name BEGINSWITH[c] $0", #"["r"]"#) == 1)
            #expect(try dogs("name == $0", #"["2024-05-17"]"#) == 0)
            let people = #"{"where":"ANY dogs == obj('Dog', $0)","args":["1"],"count":"exact"}"#
            #expect(try server.send("QUERY", "app/objects/Person", people).json["count"]?.int == 1)
            let misfit = try server.send("QUERY", "app/objects/Person", people.replacingOccurrences(of: #""1""#, with: #""x""#))
            #expect(misfit.code == "invalid_query" && misfit.json["position"]?.int == 23, "\(misfit.text)")
        }
    }

    @Test func `D34: every request with arguments reads them so`() throws {
        try withWriteServer { (server: WriteServer) throws in
            try server.done("PATCH", "app/objects/Value/1", Self.object)
            let query = "where=date%20%3D%3D%20%240&args=%5B%222024-05-17T09%3A30%3A00.25Z%22%5D"
            #expect(try server.get("app/objects/Value?count=exact&\(query)").json["count"]?.int == 1)
            #expect(try server.get("app/aggregate/Value?ops=count&\(query)").json["count"]?.int == 1)
            #expect(try server.get("app/export?class=Value&\(query)").text.contains("652196ca3fe67ca7cabde606"))
            #expect(try server.get("app/changes?class=Value&wait=0&\(query)").text.contains("652196ca3fe67ca7cabde606"))
            #expect(try server.send("PATCH", "app/objects/Value?\(query)", #"{"flag":true}"#).status == 200)
            let selection = #""class":"Value","where":"oid == $0","args":["652196ca3fe67ca7cabde606"]"#
            #expect(try server.batch(#"{"assert":{\#(selection),"count":1}}"#).status == 200)
            #expect(try server.batch(#"{"patchWhere":{\#(selection),"body":{"int":7}}}"#).status == 200)
            #expect(try server.value("Value/1/int") == "7")
            let mixed = try server.get("app/objects/Dog/1/ids?count=exact&where=self%20%3D%3D%20%240&args=%5B%222%22%5D")
            #expect(mixed.json["count"]?.int == 1, "\(mixed.text)")
            #expect(try server.send("DELETE", "app/objects/Value?\(query)").status < 300)
            #expect(try server.count("Value") == 0)
        }
    }
}
