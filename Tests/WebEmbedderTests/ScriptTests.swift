// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmConsole
import Testing

@testable import WebEmbedder

/// Scripts and style sheets lose what only their readers need, and nothing else.
///
/// That all scripts of the program are still the same programs is told by `make test-live`, where a parser of JavaScript compares them.
@Suite struct ScriptTests {
    @Test(arguments: [
        ("// a\nlet x = 1; // b\n/* c\n */ let y = 2;", "let x=1;let y=2;"),
        ("let u = \"http://a//b /* c */\"; // d", "let u=\"http://a//b /* c */\";"),
        (#"let q = 'it\'s // no'; let r = "\\"; // yes"#, #"let q='it\'s // no';let r="\\";"#),
        // Templates keep their blanks, and the values in them are scripts.
        ("let t = `a // b ${ f( `c  ${ d /* e */ }` ) + '}' }  g`;", "let t=`a // b ${f(`c  ${d}`)+'}'}  g`;"),
        (#"let t = `\` ${ { a: 1 }.a } \${ // x`;"#, #"let t=`\` ${{a:1}.a} \${ // x`;"#),
        // A slash begins a regular expression where a value is expected, and divides after one.
        ("a = b / c / d; // e", "a=b/c/d;"),
        ("a = /\\/\\/ [/'\"`] /g.test( b ) / 2;", "a= /\\/\\/ [/'\"`] /g.test(b)/2;"),
        ("return /'/ .test(x)", "return/'/ .test(x)"),
        ("f(a) / 2 / g[1] / h", "f(a)/2/g[1]/h"),
        ("if (a) /'/.test(b)", "if(a)/'/.test(b)"),
        ("while (a) /[)]/.exec(b)", "while(a)/[)]/.exec(b)"),
        ("a.if (b) / 2 // '", "a.if(b)/2"),
        ("x.return / 2 // '", "x.return/2"),
        ("i++ / 2 // '", "i++ /2"),
        ("typeof /a/ in b", "typeof/a/ in b"),
        ("a = b ? /x/ : /y/i", "a=b? /x/ : /y/i"),
        // What would be read as one stays apart.
        ("a + ++b - -c", "a+ ++b- -c"),
        ("a / /b/", "a/ /b/"),
        ("1 .toFixed ( 2 )", "1 .toFixed(2)"),
        ("x = 1.5 / .5", "x=1.5/ .5"),
        ("new  Foo", "new Foo"), ("a in b", "a in b"), ("\"a\" in b", "\"a\"in b"), ("#a in b", "#a in b"),
        ("static  #a = 1", "static #a=1"), ("größe in ä", "größe in ä"), ("a = !b", "a=!b"), ("() => -a", "()=>-a"),
        ("a-- > b", "a-- >b"), ("a ? .5 : b", "a? .5:b"),
        // An end of a line stays where it may end a statement.
        ("let a = 1\nlet b = 2", "let a=1\nlet b=2"), ("a\n++b", "a\n++b"), ("return\na", "return\na"), ("a\n(b)", "a\n(b)"),
        ("a /* \n */ b", "a\nb"), ("f(\n  a,\n  b\n)", "f(a,b)"), ("x = {\n  a,\n}\ny", "x={a,}\ny"), ("a &&\n  b", "a&&b"),
        ("if (a)\n  b", "if(a)\nb"),
    ])
    func `comments and blanks go`(_ script: String, _ expected: String) throws {
        #expect(try Script.stripped(script) == expected + "\n")
        #expect(try Script.stripped(expected) == expected + "\n", "it changes when it is done again")
    }

    @Test(arguments: [
        ("let a = \"b", "line 1: a text has no end"), ("\nlet a = `b ${c", "a bracket is not closed"),
        ("\n\n/* a", "line 3: a comment has no end"), ("a = /b\n/", "line 1: a regular expression has no end"),
        ("f(a]", "line 1: a bracket is closed by one of another kind"), ("a }", "line 1: a bracket was not opened"),
        ("{}\n/a/", "line 2: it cannot be told whether this slash divides or begins a regular expression"),
        ("`a", "line 1: a template has no end"),
    ])
    func `what is not understood is refused`(_ script: String, _ reason: String) {
        let defect = #expect(throws: Script.Defect.self) { try Script.stripped(script) }
        #expect(defect?.description == reason)
    }

    @Test(arguments: [
        ("/* a */\na :hover, b::after { color: red; margin: 0 1px; }\n", "a :hover,b::after{color:red;margin:0 1px}"),
        (
            "a { width: calc( 1px + (2px * 3) ); content: \"; /* no */ }\"; }",
            "a{width:calc(1px + (2px * 3));content:\"; /* no */ }\"}"
        ),
        ("@media (max-width: 4rem) and (hover) {\n  a > b { x: y }\n}", "@media (max-width:4rem) and (hover){a > b{x:y}}"),
    ])
    func `style sheets too`(_ sheet: String, _ expected: String) {
        #expect(StyleSheet.stripped(sheet) == expected + "\n")
    }

    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    @Test func `the program has the files of the console and the client as they are stripped`() throws {
        let web = Self.root.appendingPathComponent("Sources/RealmConsole/Web")
        for file in EmbeddedFile.console {
            let source = try String(contentsOf: web.appendingPathComponent(file.path.description), encoding: .utf8)
            let isScript = file.path.description.hasSuffix(".js")
            let expected = isScript ? try Script.stripped(source) : StyleSheet.stripped(source)
            guard isScript || file.path.description.hasSuffix(".css") else { continue }
            #expect(file.text.description == expected, "\(file.path)")
        }
        let client = Self.root.appendingPathComponent("clients/javascript")
        let script = try String(contentsOf: client.appendingPathComponent("realm-rest.js"), encoding: .utf8)
        let types = try String(contentsOf: client.appendingPathComponent("realm-rest.d.ts"), encoding: .utf8)
        let served = Dictionary(uniqueKeysWithValues: EmbeddedFile.client.map { ($0.path.description, $0.text.description) })
        let license = "// SPDX-License-Identifier: Apache-2.0\n"
        #expect(served == ["client.js": try license + Script.stripped(script), "client.d.ts": types])
    }
}
