// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Texts are compared by their bytes: Swift's own comparison of `String` takes canonically equal texts for one, so names of one
/// client would open what is another's.
@Suite struct TextRuleTests {
    /// The targets whose texts come from clients, tokens, configurations and files.
    private static let targets = [
        "RealmRecovery", "RealmQuery", "RealmEngine", "RealmReplica", "WebClient", "RealmFormats", "RealmBackups", "MicroHTTP",
        "RealmAccess", "RealmCalls", "RealmHosting", "RealmHTTP", "realm-rest",
    ]

    /// `RealmPlatform/Bytes/String+Bytes.swift` hides the comparisons of the standard library, in files that import it.
    @Test func `every file imports the comparison of texts by their bytes`() throws {
        for file in try SourceTree.shared.get().files where TextRuleTests.targets.contains(file.target) {
            if !file.importedModules.contains("RealmPlatform") {
                Issue.record("\(file.path) lacks 'internal import RealmPlatform'")
            }
        }
    }

    /// Collections compare their keys as the standard library does, whatever a file imports.
    @Test func `dictionaries and sets of texts have keys of the type ByteText`() throws {
        for file in try SourceTree.shared.get().files {
            for use in file.plainTextCollections { Issue.record("\(file.path) has \(use): use ByteText") }
        }
    }

    /// The case of letters beyond ASCII makes "k" of the KELVIN SIGN, and "S" of U+017F.
    @Test func `words are compared in the letter case of ASCII`() throws {
        for file in try SourceTree.shared.get().files where !TextRuleTests.casedTexts.contains(file.path) {
            for word in ["lowercased", "uppercased"] where file.calls(word) {
                Issue.record("\(file.path) calls '\(word)': compare with lowercasedASCII, or list the file with the reason")
            }
        }
    }

    /// Files that change the letter case of texts of their own, or as other programs do: names that databases and workbooks compare in
    /// any letter case, first letters for sections, words of descriptions and variables of the environment.
    private static let casedTexts: Set = [
        "RealmFormats/Tables/SheetNames.swift", "RealmFormats/Tables/RelationalNames.swift",
        "RealmHTTP/OpenAPI/OpenAPISchemaSplit.swift", "RealmHTTP/OpenAPI/OpenAPIComponents.swift",
        "RealmHTTP/OpenAPI/OpenAPIBatches.swift", "RealmHTTP/OpenAPI/OpenAPIParts+Parameters.swift",
        "RealmHTTP/OpenAPI/SharedParameter.swift",
        "RealmFormats/Representation/DocumentValue.swift", "RealmHTTP/OpenAPI/OpenAPIRealm.swift",
        "RealmFormats/Errors/ProblemCode.swift",
        "RealmHTTP/Pages/APIPage.swift",
        "RealmHTTP/Routes/RouteOperation.swift", "RealmQuery/Grouping/ValueFunction.swift",
        "RealmCalls/Reading/SectionKey.swift",
        "RealmHTTP/Serving/RealmServer+Unused.swift", "RealmHosting/Configuration/Configuration.swift",
        "RealmHosting/Configuration/ServerOptions.swift",
    ]
}
