// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

extension DocumentPages {
    static var problems: String {
        page("Problems", section: "problems/") { page in
            page.element("h1", text: "Problems")
            page.element("p") { text in
                text.prose(
                    "A failed request returns a document of the type `application/problem+json`. Its member `code` is one "
                        + "of the names below and never changes; `detail` says what happened in this case, `instance` names the request "
                        + "in the log of the server.")
            }
            page.element("table") { table in
                table.element("thead") { head in
                    head.element("tr") { row in for title in ["Status", "Code", "Meaning"] { row.element("th", text: title) } }
                }
                table.element("tbody") { body in
                    for code in ProblemCode.allCases {
                        body.element("tr") { row in
                            row.element("td", text: String(code.status))
                            row.element("td") { $0.link(code.rawValue, to: "/docs/problems/" + code.rawValue) }
                            row.element("td") { $0.prose(code.meaning) }
                        }
                    }
                }
            }
        }
    }

    static func page(of code: ProblemCode) -> String {
        page(code.title, section: "problems/") { page in
            page.element("h1", text: code.title)
            page.element("dl", ("class", "facts")) { facts in
                facts.element("dt", text: "Code")
                facts.element("dd") { $0.element("code", text: code.rawValue) }
                facts.element("dt", text: "Status")
                facts.element("dd", text: String(code.status))
                facts.element("dt", text: "Type")
                facts.element("dd") { $0.element("code", text: "urn:realm-rest:problem:" + code.rawValue) }
            }
            page.element("h2", text: "Meaning")
            page.element("p") { $0.prose(code.meaning) }
            page.element("h2", text: "How to fix it")
            page.element("p") { $0.prose(code.remedy) }
            if code.hasRetryAfter {
                let sentence = "`Retry-After` states the seconds after which to retry."
                page.element("p") { $0.prose(sentence) }
            }
        }
    }
}
