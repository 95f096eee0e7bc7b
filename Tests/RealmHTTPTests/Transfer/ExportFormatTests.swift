// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmAccess
import RealmEngine
import RealmFormats
import RealmHTTP
import RealmHosting
import RealmTestSupport
import Testing

/// Exports in all formats over HTTP: their forms, parameters and what they refuse. Tests/System/Formats compares the values of all
/// fixtures.
@Suite struct ExportFormatTests {
    /// Runs a body with a server that has a few objects.
    private func withObjects(_ body: (WriteServer) throws -> Void) throws {
        let server = try WriteServer()
        try server.fill()
        try body(server)
        try server.finish()
    }

    @Test func `each format has its media type and its file name`() throws {
        try withObjects { server in
            for format in ExportFormat.allCases {
                let needsClass = format.needsClass
                let query = "app/export?format=\(format.rawValue)"
                if format == .geojson {
                    #expect(try server.get(query + "&class=Dog").code == "invalid_parameter")
                    continue
                }
                if needsClass { #expect(try server.get(query).code == "conflicting_parameters") }
                let answer = try server.get(query + (needsClass ? "&class=Dog" : ""))
                #expect(answer.status == 200, "\(format): \(answer.text.prefix(300))")
                #expect(answer["Content-Type"] == format.mediaType.description)
                #expect(answer["Content-Disposition"] == "attachment; filename=\"app.\(format.suffix)\"")
                #expect(answer["Realm-Version"] != nil)
            }
            #expect(try server.get("app/export?format=sqlit").text.contains("sqlite"))
            #expect(try server.get("app/export?format=json&geometry=x").code == "conflicting_parameters")
            #expect(try server.get("app/export?sort=age").code == "conflicting_parameters")
        }
    }

    @Test func `sort and where decide the rows of every format`() throws {
        try withObjects { server in
            let query = "app/export?class=Dog&where=age%20%3E%200&sort=-_id&format="
            let csv = try server.get(query + "csv").text.split(separator: "\r\n").dropFirst().map { $0.prefix { $0 != "," } }
            #expect(csv.count > 1 && csv == csv.sorted(by: >))
            let documents = try server.get(query + "ejson").text.split(separator: "\n")
            #expect(documents.count == csv.count)
            #expect(documents[0].hasPrefix(#"{"_id":{"$numberLong":"\#(csv[0])"}"#))
            let script = try server.get(query + "postgresql").text
            let rows = script.components(separatedBy: "COPY \"Dog\" FROM stdin;\n")[1].components(separatedBy: "\n\\.")[0]
            #expect(rows.split(separator: "\n").map { $0.prefix { $0 != "\t" } } == csv)
            #expect(!script.contains("REFERENCES \"Person\""))
            #expect(script.hasSuffix("COMMIT;\n"))
        }
    }

    @Test func `a database is one, and has its keys and tables`() throws {
        try withObjects { server in
            let answer = try server.get("app/export?format=sqlite")
            #expect(answer.text.hasPrefix("SQLite format 3\0"))
            let text = String(decoding: answer.body, as: UTF8.self)
            #expect(text.contains("CREATE TABLE \"Dog_tags\""))
            #expect(text.contains("FOREIGN KEY (\"owner\") REFERENCES \"Person\" (\"_key\")"))
            #expect(answer["Content-Length"].flatMap { Int($0) } == answer.body.count)
        }
    }

    @Test func `an export that is larger than its limit is refused`() throws {
        let server = try WriteServer { $0.limits.spool.bytesPerClient = 20_000 }
        try server.fill()
        let answer = try server.get("app/export?format=sqlite")
        #expect([422, 503].contains(answer.status), "\(answer.text.prefix(200))")
        #expect(try server.get("app/export?format=json").status == 200)
        try server.finish()
    }

    @Test func `locations become GeoJSON`() throws {
        let server = try WriteServer([
            .init("Point", type: "embedded", [.init("type", "string"), .init("coordinates", "double", collection: "list")]),
            .init("Address", type: "embedded", [.init("city", "string"), .init("at", "object", objectType: "Point")]),
            .init("Shop", primaryKey: "_id", [.init("_id", "int"), .init("address", "object", objectType: "Address")]),
        ])
        let place = #"{"city":"Ulm","at":{"type":"Point","coordinates":[9.99,48.4]}}"#
        _ = try server.send("POST", "app/objects/Shop", #"[{"_id":1,"address":\#(place)},{"_id":2}]"#)
        let answer = try server.get("app/export?format=geojson&class=Shop")
        #expect(answer.text.hasPrefix(#"{"type":"FeatureCollection","features":["#), "\(answer.text)")
        #expect(
            answer.text.contains(
                #"{"type":"Feature","id":"1","geometry":{"type":"Point","coordinates":[9.99,48.4]},"properties":{"_id":1,"#))
        #expect(answer.text.contains(#""id":"2","geometry":null"#))
        #expect(try server.get("app/export?format=geojson&class=Shop&geometry=address.at").text == answer.text)
        #expect(try server.get("app/export?format=geojson&class=Shop&geometry=address").code == "invalid_parameter")
        try server.finish()
    }

    @Test func `CSV for Excel has a mark, and semicolons if they are asked for`() throws {
        try withObjects { server in
            let excel = try server.get("app/export?class=Dog&format=csv&csv=excel")
            #expect(excel.body.starts(with: [0xef, 0xbb, 0xbf]))
            let semicolons = try server.get("app/export?class=Dog&format=csv&csv=excel-semicolon").text
            #expect(semicolons.contains("_id;name;age"))
        }
    }

    @Test(arguments: [
        ("zstd", "zstd"), ("gzip, zstd", "zstd"), ("gzip;q=1, zstd;q=0.5", "gzip"), ("zstd;q=0, gzip", "gzip"), ("br, *", nil),
        ("zstd;q=0", nil),
    ])
    func `the coding is the one with the greatest weight`(_ accepted: String, _ coding: String?) throws {
        try withObjects { server in
            let plain = try server.get("app/schema")
            var tags: Set<String> = [try #require(plain["ETag"])]
            // The third answer is a kept one.
            for _ in 0..<3 {
                let answer = try server.get("app/schema", [("Accept-Encoding", accepted)])
                #expect(answer["Content-Encoding"] == coding)
                if coding == "zstd" { #expect(answer.body.starts(with: [0x28, 0xb5, 0x2f, 0xfd])) }
                if coding != nil { #expect(answer.body.count < plain.body.count) }
                let tag = try #require(answer["ETag"])
                if coding != nil { tags.insert(tag) }
                #expect(try server.get("app/schema", [("Accept-Encoding", accepted), ("If-None-Match", tag)]).status == 304)
            }
            #expect(tags.count == (coding == nil ? 1 : 2))
        }
    }

    /// A database was 500, and a script had no numbers for rows of embedded objects without owners.
    @Test func `embedded objects alone are in formats of documents, and in no database`() throws {
        let server = try WriteServer([
            ClassInput("E", type: "embedded", [PropertyInput("l", "int", collection: "list")]),
            ClassInput("A", primaryKey: "id", [PropertyInput("id", "int"), PropertyInput("e", "object", objectType: "E")]),
        ])
        try server.done("POST", "app/objects/A", #"{"id":1,"e":{"l":[1,2]}}"#)
        for format in ExportFormat.allCases where format != .geojson {
            let isDatabase = format == .sqlite || format == .postgresql
            let answer = try server.get("app/export?class=E&format=\(format.rawValue)")
            #expect(answer.status == (isDatabase ? 400 : 200), "\(format): \(answer.text.prefix(300))")
            if isDatabase { #expect(answer.json["parameter"]?.text == "class" && answer.code == "invalid_parameter") }
        }
        try server.finish()
    }
}
