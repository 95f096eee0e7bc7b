// SPDX-License-Identifier: Apache-2.0

import Foundation
import MicroHTTP
import RealmCalls
import RealmConsole
import RealmFormats
import RealmHTTP
@testable import RealmHosting
import RealmTestSupport
import Testing

/// The console and the documents: pages that are parts of the program.
@Suite struct PageTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
    private static let html = ("Accept", "text/html,application/xhtml+xml,*/*;q=0.8")
    private static let browser = ("User-Agent", "Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101 Firefox/128.0")

    /// All files of the console in its folder, by their paths in it.
    private static func files() throws -> [String: Data] {
        let web = root.appendingPathComponent("Sources/RealmConsole/Web")
        let all = FileManager.default.enumerator(at: web, includingPropertiesForKeys: nil)?.compactMap { $0 as? URL } ?? []
        return try all.reduce(into: [:]) { files, file in
            guard !file.hasDirectoryPath else { return }
            files[String(file.path.dropFirst(web.path.count + 1))] = try Data(contentsOf: file)
        }
    }

    /// What the program has of each file of the console, by their paths.
    private static let embedded = Dictionary(EmbeddedFile.console.map { ($0.path.description, Array($0.text.description.utf8)) })
    {
        one, _ in one
    }

    @Test func `the program has the files of the console and of the client`() throws {
        let files = try Self.files()
        #expect(Set(Self.embedded.keys) == Set(files.keys))
        #expect(EmbeddedFile.console.count == files.count)
        for (path, contents) in files { #expect(Self.embedded[path] == Array(contents), "\(path)") }
        for file in EmbeddedFile.client {
            let path = "clients/javascript/" + file.path.description.replacing("client.", with: "realm-rest.")
            let source = try String(contentsOf: PageTests.root.appendingPathComponent(path), encoding: .utf8)
            #expect(source == file.text.description, "\(path)")
        }
    }

    @Test func `all files of the console together have less than 150 KiB as a browser gets them`() throws {
        var byteCount = 0
        for text in Self.embedded.values {
            let packed = try #require(Gzip.deflate(OutputBuffer.text(String(decoding: text, as: UTF8.self))))
            byteCount += packed.count
        }
        #expect(byteCount < 150 << 10, "\(byteCount) bytes")
    }

    @Test func `each file is served as it is, with its type`() throws {
        let server = try TestServer(["links"])
        for (path, contents) in Self.embedded {
            let answer = try server.get("/console/" + path)
            #expect(answer.status == 200)
            #expect(answer.body == contents, "\(path)")
            let type = answer["Content-Type"] ?? ""
            let expected = ["js": "text/javascript", "css": "text/css", "svg": "image/svg+xml", "html": "text/html"]
            #expect(type.hasPrefix(expected[String(path.split(separator: ".").last ?? "")] ?? "?"), "\(path) is \(type)")
        }
    }

    @Test func `pages are kept by browsers and asked for again by their digest`() throws {
        let server = try TestServer(["links"])
        for path in [
            "/console/core/app.js", "/client.js", "/client.d.ts", "/docs/", "/docs/api", "/docs/query", "/docs/problems/",
            "/docs/problems/read_only",
        ] {
            let first = try server.get(path)
            #expect(first.status == 200, "\(path)")
            let etag = try #require(first["ETag"])
            #expect(etag.hasPrefix("\"") && first["Cache-Control"] == "no-cache")
            #expect(try server.get(path, headers: [("If-None-Match", etag)]).status == 304)
            #expect(try server.get(path, headers: [("If-None-Match", "\"other\"")]).status == 200)
            let packed = try server.get(path, headers: [("Accept-Encoding", "gzip")])
            #expect(packed["Content-Encoding"] == (first.body.count > 1024 ? "gzip" : nil), "\(path)")
            #expect(try server.get(path, headers: [("If-None-Match", packed["ETag"] ?? "")]).status == 304)
            let head = try server.request("HEAD", path)
            #expect(head.status == 200 && head.body.isEmpty && head["ETag"] == etag)
        }
    }

    @Test func `pages load nothing from elsewhere and run no scripts of their own`() throws {
        let server = try TestServer(["links"])
        for (path, accept) in [("/", Self.html), ("/console/core/app.js", ("Accept", "*/*")), ("/docs/", Self.html)] {
            for extra in [[], [Self.browser, ("Sec-Fetch-Site", "same-origin")]] {
                let answer = try server.get(path, headers: [accept] + extra)
                #expect(answer.status == 200)
                let policies = answer.headers.filter { $0.name.lowercased() == "content-security-policy" }.map(\.value)
                #expect(
                    policies == [
                        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data: blob:; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
                    ])
                #expect(answer["X-Content-Type-Options"] == "nosniff" && answer["Cross-Origin-Resource-Policy"] == "same-origin")
                #expect(answer["Referrer-Policy"] == "same-origin")
            }
        }
        for path in ["", "api", "query", "problems/", "problems/file_corrupt"] {
            let text = try server.get("/docs/" + path).text
            #expect(!text.contains("<script") && !text.contains("style=") && text.hasPrefix("<!doctype html>"))
        }
    }

    @Test func `browsers get the console at the root, and programs an index`() throws {
        let server = try TestServer(["links"])
        let page = try server.get("/", headers: [Self.html])
        #expect(page["Content-Type"] == "text/html; charset=utf-8")
        #expect(try page.body == Array(Self.files()["index.html"] ?? Data()))
        // The address may hold what the console shows.
        #expect(try server.get("/?x=1", headers: [Self.html]).status == 200)
        for accept in ["application/json", "*/*", "application/json, text/html"] {
            let index = try server.get("/", headers: [("Accept", accept)])
            #expect(index["Content-Type"] == "application/json")
            #expect(index.json["version"]?.text == Build.version && index.json["realms"]?.text == "/v1/realms")
            let version = try server.get("/v1/version")
            #expect(version.text == "{\"name\":\"realm-rest\",\"version\":\"\(Build.version)\"}")
            for link in ["realms", "me", "health", "ready"] {
                #expect(try server.get(try #require(index.json[link]?.text)).status == 200)
            }
            let documents = try #require(index.json["documents"])
            for link in ["openapi", "api", "query", "problems"] {
                #expect(try server.get(try #require(documents[link]?.text)).status == 200)
            }
        }
        #expect(try server.get("/").json["name"]?.text == "realm-rest")
        #expect(try server.request("POST", "/").status == 405)
    }

    @Test func `a folder without its slash leads to it, and other paths to nothing`() throws {
        let server = try TestServer(["links"])
        for path in ["/docs", "/docs/problems"] {
            let answer = try server.get(path)
            #expect(answer.status == 308 && answer["Location"] == path + "/")
        }
        for path in [
            "/console", "/console/", "/console/core", "/console/core/", "/console/core/none.js", "/console/../console/index.html",
            "/console/core/%2e%2e/index.html", "/console//index.html", "/docs/none", "/docs/problems/none", "/docs/query/", "//",
            "/v1/realms/", "/healthz/", "/console/core/app.js/",
        ] {
            #expect(try server.get(path, headers: [Self.html]).status == 404, "\(path)")
        }
    }

    @Test func `each problem has a page that says what it means and how to mend it`() throws {
        let server = try TestServer(["links"])
        let list = try server.get("/docs/problems/").text
        for code in ProblemCode.allCases {
            #expect(code.meaning.hasSuffix(".") && code.remedy.hasSuffix(".") && code.meaning != code.remedy)
            let page = try server.get("/docs/problems/" + code.rawValue)
            #expect(page.status == 200 && page.text.contains("How to fix it") && page.text.contains(code.title))
            #expect(list.contains("/docs/problems/" + code.rawValue))
        }
    }

    @Test func `the page of the API has every operation`() throws {
        let server = try TestServer(["links"])
        let page = try server.get("/docs/api").text
        for route in RouteTable.routes where route.pattern.text.hasPrefix("/v1") && route.isServed {
            #expect(page.contains(route.pattern.documented), "\(route.pattern.text)")
        }
        #expect(page.contains("/#/-/api?operation=listRealms") && page.contains("/docs/problems/cursor_invalid"))
    }

    @Test func `the document about queries is rendered`() throws {
        let server = try TestServer(["links"])
        let page = try server.get("/docs/query").text
        let parts = [
            "<h2><a id=\"key-paths\"></a>", "<table>", "<code>SORT(price DESC, name ASC)</code>",
            "<a href=\"problems/invalid_query\">",
        ]
        for part in parts {
            #expect(page.contains(part), "\(part)")
        }
        // Code may have signs of Markdown.
        let prose = page.replacing(/<code>[^<]*<\/code>/, with: "")
        #expect(!prose.contains("```") && !prose.contains("**") && !prose.contains("| --"))
    }

    @Test func `pages need no credential, and the index tells strangers no version`() throws {
        let server = try KeyServer()
        let key = try server.add("boss")
        for path in ["/console/core/app.js", "/client.js", "/docs/", "/docs/problems/read_only"] {
            #expect(try server.request("GET", path, nil).status == 200)
            // Whoever signs in again may have a credential that is over.
            for header in [("Authorization", "Bearer rr_wrong"), ("Cookie", "__Host-rr=gone")] {
                #expect(try server.request("GET", path, nil, [header]).status == 200)
            }
        }
        #expect(try server.request("GET", "/", nil, [Self.html, ("Cookie", "__Host-rr=gone")]).status == 200)
        #expect(try server.request("GET", "/", nil).json["version"] == nil)
        #expect(try server.request("GET", "/", nil).status == 200)
        #expect(try server.request("GET", "/", key).json["version"]?.text == Build.version)
        #expect(try server.request("GET", "/", nil, [("Authorization", "Bearer rr_wrong")]).status == 401)
    }

    @Test func `a link on a page of another origin leads to pages, and not to the index`() throws {
        let server = try TestServer(["links"])
        let foreign = [Self.browser, ("Sec-Fetch-Site", "cross-site"), ("Referer", "https://wiki.example/")]
        for path in ["/docs/problems/read_only", "/console/core/app.js"] {
            #expect(try server.get(path, headers: foreign).status == 200)
        }
        #expect(try server.get("/", headers: foreign + [Self.html]).status == 200)
        #expect(try server.get("/", headers: foreign + [("Accept", "*/*")]).code == "cross_origin")
        #expect(try server.get("/", headers: foreign + [Self.html, ("Host", "evil.example")]).code == "host_not_allowed")
        // Without https and not on loopback browsers state the origin by nothing but the page that they come from.
        let own = "http://127.0.0.1:\(server.port)/"
        #expect(try server.get("/v1/realms", headers: [Self.browser, ("Referer", own)]).status == 200)
    }

    /// A page of another server needs the client too, so it goes where the API goes: to listed origins, and without the console as well.
    @Test(arguments: [true, false])
    func `the client is for every page that may use the API`(_ showsConsole: Bool) throws {
        let server = try TestServer(["links"]) {
            $0.showsConsole = showsConsole
            $0.corsOrigins = ["https://app.example"]
        }
        #expect(try server.get("/").json["client"]?.text == "/client.js")
        for (path, type) in [("/client.js", "text/javascript"), ("/client.d.ts", "application/typescript")] {
            let own = try server.get(path, headers: [Self.browser, ("Sec-Fetch-Site", "same-origin")])
            #expect(
                own.status == 200 && own["Content-Type"] == type + "; charset=utf-8" && own["Access-Control-Allow-Origin"] == nil)
            #expect(own.text.hasPrefix("// SPDX-License-Identifier: Apache-2.0\n") && own.text.contains("connect"))
            let origin = ("Origin", "https://app.example")
            let listed = try server.get(path, headers: [Self.browser, ("Sec-Fetch-Site", "cross-site"), origin])
            #expect(listed.status == 200 && listed["Access-Control-Allow-Origin"] == "https://app.example")
            let other = [Self.browser, ("Sec-Fetch-Site", "cross-site"), ("Origin", "https://other.example")]
            #expect(try server.get(path, headers: other).code == "cross_origin")
            #expect(try server.request("POST", path).status == 405)
        }
    }

    @Test func `without the console there are no pages`() throws {
        let server = try TestServer(["links"]) { $0.showsConsole = false }
        #expect(try server.get("/", headers: [Self.html])["Content-Type"] == "application/json")
        #expect(try server.get("/").json["documents"]?["api"] == nil)
        for path in ["/console/core/app.js", "/docs/", "/docs", "/docs/problems", "/docs/problems/read_only"] {
            #expect(try server.get(path).status == 404, "\(path)")
        }
        var configuration = Configuration()
        try configuration.apply(text: "noConsole: true", ofFile: "/realm-rest.yaml")
        #expect(!configuration.options.showsConsole)
    }
}
