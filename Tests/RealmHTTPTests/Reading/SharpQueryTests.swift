// SPDX-License-Identifier: Apache-2.0

import RealmTestSupport
import Testing

/// Queries that other servers and the engine answer with too few or too many objects.
@Suite("Queries that are easily wrong")
struct SharpQueryTests {
    private static let classes = """
        [{"name":"D","primaryKey":"id","properties":[{"name":"id","type":"int"}]},
         {"name":"T","primaryKey":"id","properties":[{"name":"id","type":"int"},{"name":"d","type":"double","optional":true},
          {"name":"f","type":"float","optional":true},{"name":"m","type":"decimal128","optional":true},
          {"name":"n","type":"int","optional":true},
          {"name":"s","type":"string","optional":true},{"name":"i","type":"string","indexed":"general"},
          {"name":"x","type":"mixed"},{"name":"o","type":"object","objectType":"D"},
          {"name":"os","type":"object","collection":"list","objectType":"D"},
          {"name":"od","type":"object","collection":"dictionary","objectType":"D"},
          {"name":"l","type":"int","collection":"list"},{"name":"xs","type":"mixed","collection":"list"},
          {"name":"g","type":"float","collection":"dictionary"},{"name":"p.q","type":"int","optional":true}]}]
        """

    private let server: ChangeServer

    init() throws {
        server = try ChangeServer()
        try server.makeRealm("app", classes: SharpQueryTests.classes)
        try server.batch(
            "app",
            [
                #"{"create":{"class":"D","body":{"id":1}}}"#,
                #"""
                {"create":{"class":"T","body":{"id":1,"p.q":5,"d":-1,"f":1628899821,"m":"-1","n":1,"s":"ROVER","i":"ROVER",
                 "x":{"method":"card"},"o":1,"os":[1],"od":{"a":1,"b":null},"l":[3,4],"g":{"a":0.1},
                 "xs":[1,"1",{"$numberDecimal":"2"},null,{"$link":{"class":"D","key":"1"}}]}}}
                """#,
                #"""
                {"create":{"class":"T","body":{"id":2,"d":3,"f":0.1,"m":"NaN","n":2,"s":"other","i":"other","x":{"method":"cash"},
                 "l":[5],"os":[]}}}
                """#,
                #"""
                {"create":{"class":"T","body":{"id":3,"d":{"$numberDouble":"NaN"},"f":{"$numberDouble":"NaN"},"m":"2.5","i":"ß",
                 "x":7,"l":[]}}}
                """#,
            ])
    }

    /// The keys of the objects of `T` that a query finds, or the code of its problem.
    private func ids(_ query: String, _ args: String = "[]") throws -> String {
        let body = #"{"where":\#(quoted(query)),"args":\#(args),"fields":["id"],"meta":"none"}"#
        let answer = try server.send("QUERY", "app/objects/T", body)
        guard answer.status == 200 else { return answer.code ?? "\(answer.status)" }
        return (answer.json["items"]?.elements ?? []).compactMap { $0["id"]?.int }.map(String.init).joined(separator: ",")
    }

    private func quoted(_ text: String) -> String {
        "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }

    @Test func `whole numbers beside reals find what they say`() throws {
        for query in ["d IN {-1, 3}", "d == {-1, 3}", "{-1, 3} == d"] { #expect(try ids(query) == "1,2", "\(query)") }
        #expect(try ids("d IN $0", "[[-1,3]]") == "1,2")
        #expect(try ids("NOT d IN $0", "[[-1,3,2.5]]") == "3")
        #expect(try ids("f == 1628899821") == "1")
        #expect(try ids("f == $0", "[1628899821]") == "1")
        #expect(try ids("f BETWEEN {1628899821, 1628899821}") == "1")
        #expect(try ids("f IN {0.1, 7}") == "2")
        #expect(try ids("g.a == 0.1") == "1")
        #expect(try ids("d == 9007199254740993") == "")
        let dry = try server.must(
            "DELETE",
            "app/objects/T?dryRun=true&where=\(ChangeServer.encode("NOT d IN $0"))&args=\(ChangeServer.encode("[[-1,3]]"))")
        #expect(dry["body"]?["matched"]?.int == 1)
    }

    @Test func `what is no number is neither less nor greater than anything`() throws {
        for query in ["d < 0", "d <= 0", "0 > d", "d < 0.0"] { #expect(try ids(query) == "1", "\(query)") }
        #expect(try ids("d < $0", "[0]") == "1")
        #expect(try ids("m < 0") == "1")
        #expect(try ids("m < $0", #"[{"$numberDecimal":"0"}]"#) == "1")
        #expect(try ids("n > $0", #"[{"$numberDouble":"NaN"}]"#) == "")
        #expect(try ids("m == $0", #"[{"$numberDecimal":"NaN"}]"#) == "2")
    }

    @Test(arguments: ["s", "i"])
    func `letter case is ignored in lists, too`(_ property: String) throws {
        #expect(try ids("\(property) IN[c] {'rover', 'x'}") == "1")
        #expect(try ids("\(property) ==[c] {'rover', 'x'}") == "1")
        #expect(try ids("\(property) IN[c] $0", #"[["rover","OTHER"]]"#) == "1,2")
        #expect(try ids("NOT \(property) IN[c] {'rover'}") == "2,3")
        let many = (0..<300).map { #""word\#($0)""# }.joined(separator: ",")
        #expect(try ids("\(property) IN[c] $0", "[[\(many),\"rover\"]]") == "1")
        #expect(try ids("i IN[c] {'SS', 'ß'}") == "3")
    }

    @Test func `an object that is not there equals nothing, and null is something else`() throws {
        let gone = #"{"$link":{"class":"D","key":"9"}}"#
        for query in ["o == $0", "x == $0", "ANY os == $0", "os == $0", "od.a == $0", "ANY xs == $0"] {
            #expect(try ids(query, "[\(gone)]") == "", "\(query)")
        }
        #expect(try ids("o == obj('D', 9)") == "")
        #expect(try ids("o != obj('D', 9)") == "1,2,3")
        #expect(try ids("NOT o == $0", "[\(gone)]") == "1,2,3")
        #expect(try ids("o IN $0", "[[\(gone),{\"$link\":{\"class\":\"D\",\"key\":\"1\"}}]]") == "1")
        #expect(try ids("o IN {obj('D', 9)}") == "")
        #expect(try ids("o == null") == "2,3")
        let dry = try server.must(
            "DELETE", "app/objects/T?dryRun=true&where=\(ChangeServer.encode("o == $0"))&args=\(ChangeServer.encode("[\(gone)]"))"
        )
        #expect(dry["body"]?["matched"]?.int == 0)
    }

    @Test func `one element or one value inside of Mixed is among several values or not`() throws {
        for query in ["l[0] IN {3, 5}", "l[0] == {3, 5}", "{3, 5} == l[0]"] { #expect(try ids(query) == "1,2", "\(query)") }
        #expect(try ids("l[LAST] IN $0", "[[4,5]]") == "1,2")
        #expect(try ids("x.method IN {'card', 'y'}") == "1")
        #expect(try ids("x['method'] IN $0", #"[["cash","y"]]"#) == "2")
        #expect(try ids("NOT x.method IN $0", #"[["cash","card"]]"#) == "3")
        #expect(try ids("xs[1] IN $0", #"[["1","y"]]"#) == "1")
        #expect(try ids("l IN {3, 4}") == "1")
    }

    @Test func `values of other types in a list match nothing`() throws {
        let args = #"[["text1",null,2.2,3]]"#
        #expect(try ids("d IN $0", args) == "2")
        #expect(try ids("d IN $0 OR s IN $0", args) == "2,3")
        #expect(try ids("n IN $0", #"[["two",2]]"#) == "2")
        #expect(try ids("n IN $0", #"[["one","two"]]"#) == "invalid_query")
    }

    @Test func `entries of a dictionary count whether they lead to an object or not`() throws {
        #expect(try ids("od.@count == 2") == "1")
        #expect(try server.must("GET", "app/objects/T/1/od/@aggregate")["count"]?.int == 2)
        #expect(try server.must("GET", "app/objects/T/1/od?count=exact&limit=0")["count"]?.int == 2)
    }

    @Test(arguments: [
        ("name == %@", "$0"), ("n == %d", "$0"), ("n > ?", "$0"), ("n == :n", "$0"), ("%K == 1", "$K0"),
        ("s CONTAINS[cd] 'x'", "[c]"), ("s ==[d] 'x'", "[c]"), ("n % 2 == 0", "remainder"), ("s LIKE %x%", "LIKE takes"),
    ])
    func `the words of other languages are answered with those of this one`(_ query: String, _ hint: String) throws {
        let answer = try server.send("QUERY", "app/objects/T", #"{"where":\#(quoted(query))}"#)
        #expect(answer.status == 400 && answer.json["detail"]?.text?.contains(hint) == true, "\(query): \(answer.text)")
    }

    @Test func `a list of twenty thousand keys in a query is taken`() throws {
        let list = (0..<20_000).map { "\($0 * 7 + 1)" }.joined(separator: ", ")
        #expect(try ids("id IN {\(list)}") == "1")
        #expect(try ids("xs[0] IN {\(list)}") == "1")
        #expect(try ids("id IN {\(list)}" + String(repeating: " ", count: 200_000)) == "invalid_query")
    }

    @Test func `a name with a dot is reached by an argument`() throws {
        #expect(try ids("$K0 == 5", #"["p\\.q"]"#) == "1")
        #expect(try ids("$K0 == 5", #"["p.q"]"#) == "unknown_key_path")
    }

    @Test func `an element is found by its type`() throws {
        let wanted = [("1", 0), (#""1""#, 1), (#"{"$numberDecimal":"2"}"#, 2), ("@null", 3), ("null", 3)]
        for (text, index) in wanted {
            let path = "app/objects/T/1/xs?indexOf=" + ChangeServer.encode(text)
            #expect(try server.must("GET", path)["index"]?.int == index, "\(text)")
        }
        let bodies = [("1", 0), (#""1""#, 1), ("null", 3), (#"{"$link":{"class":"D","key":"1"}}"#, 4)]
        for (json, index) in bodies {
            #expect(try server.must("QUERY", "app/objects/T/1/xs", #"{"indexOf":\#(json)}"#)["index"]?.int == index, "\(json)")
        }
    }

    @Test func `the first and the last object of nothing are nothing`() throws {
        for at in ["0", "-1", "0,-1"] {
            #expect(
                try server.must("GET", "app/objects/T?where=FALSEPREDICATE&at=\(at)")["items"]?.elements?.isEmpty == true, "\(at)"
            )
        }
        #expect(try server.send("GET", "app/objects/T?where=FALSEPREDICATE&at=1").status == 400)
    }

    @Test func `groups have pages, and a cut facet tells how many values there are`() throws {
        try server.batch("app", (1000..<1150).map { #"{"create":{"class":"T","body":{"id":\#($0),"n":\#($0),"i":""}}}"# })
        var keys: [Int] = []
        var path = "app/aggregate/T?groupBy=n&sort=n&where=n%20%3E%20999"
        while true {
            let page = try server.must("GET", path)
            keys += (page["groups"]?.elements ?? []).compactMap { $0["key"]?["n"]?.int }
            guard let next = page["next"]?.text else { break }
            path = "app/aggregate/T?groupBy=n&sort=n&where=n%20%3E%20999&after=\(next)"
        }
        #expect(keys == Array(1000..<1150))
        #expect(try server.send("GET", "app/aggregate/T?groupBy=n&after=b64.AAAA").code == "cursor_invalid")
        let page = try server.must("GET", "app/objects/T?facets=n,i&limit=0")
        #expect(page["facets"]?["n"]?.elements?.count == 100 && page["facetValues"]?["n"]?.int == 153)
        #expect(page["facetValues"]?["i"] == nil)
        #expect(try server.must("QUERY", "app/aggregate/T", #"{"groupBy":["i"],"format":"json"}"#)["next"] == .null)
    }

    @Test func `numbers in bodies are what they are equal to`() throws {
        for (id, number) in ["1.0", "1e3", "-0.0"].enumerated() {
            let answer = try server.send(
                "POST", "app/objects/T", #"{"id":\#(100 + id),"n":\#(number),"i":"","d":"1.5","f":"0.1"}"#)
            #expect(answer.status == 201 && answer.json["d"]?.double == 1.5, "\(number): \(answer.text)")
        }
        for number in ["1.5", "9007199254740993.0", "1e300"] {
            #expect(try server.send("POST", "app/objects/T", #"{"id":200,"n":\#(number),"i":""}"#).status == 422, "\(number)")
        }
        let opposite = #"{"id":201,"i":"","x":{"$instant":{"seconds":"1","nanoseconds":-1}}}"#
        #expect(try server.send("POST", "app/objects/T", opposite).status == 422)
    }
}
