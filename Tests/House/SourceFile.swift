// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A Swift file of `Sources`, and what the rules of the house ask about it.
struct SourceFile {
    /// A type that the file declares.
    struct Declaration {
        let name: String
        let isTopLevel: Bool
        let isPrivate: Bool
    }

    /// A function or initializer with the number of parameters without a label that directly follow each other, at most.
    struct Function {
        let name: String
        let longestUnlabelledRun: Int
    }

    /// The path below `Sources`.
    let path: String
    let declarations: [Declaration]
    let functions: [Function]
    /// Words with a capital letter that are not members of something else: the types that the file may use.
    let typeNames: Set<String>
    /// All words with a capital letter, members of something else too.
    let words: Set<String>
    let lines: [String]
    /// The comments, and the texts without the code inside them.
    let prose: [SourceTokens.Prose]

    /// Whether the file uses a type of pointers, or calls a function that passes one.
    let namesPointers: Bool

    /// The modules that the file imports.
    let importedModules: Set<String>

    /// The dictionaries and sets of `String` that the file names, as they are written.
    let plainTextCollections: [String]

    private let calledNames: Set<String>

    /// Whether the file calls a function of this name.
    func calls(_ name: String) -> Bool { calledNames.contains(name) }

    /// The first component of the path.
    var target: String { path.split(separator: "/").first.map(String.init) ?? "" }

    /// The path below `Sources` of the folder that holds the file.
    var folder: String { path.split(separator: "/").dropLast().joined(separator: "/") }

    /// The file name up to its first plus sign or extension.
    var subject: String {
        let name = path.split(separator: "/").last ?? ""
        return String(name.prefix { $0 != "." && $0 != "+" })
    }

    init(path: String, contents: Data) {
        self.path = path
        lines = contents.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map {
            String(decoding: $0, as: UTF8.self)
        }
        let source = SourceTokens(Array(contents))
        let tokens = source.tokens
        prose = source.prose
        namesPointers = tokens.contains { $0.isWord && SourceFile.isPointer($0.text) }
        importedModules = Set(zip(tokens, tokens.dropFirst()).lazy.filter { $0.0.text == "import" }.map(\.1.text))
        plainTextCollections = SourceFile.plainTextCollections(in: tokens.map(\.text))
        calledNames = Set(zip(tokens, tokens.dropFirst()).lazy.filter { $0.0.isWord && $0.1.text == "(" }.map(\.0.text))
        var reader = DeclarationReader(tokens)
        reader.read()
        declarations = reader.declarations
        functions = reader.functions
        words = Set(tokens.lazy.filter { $0.isWord && $0.text.first?.isUppercase == true }.map(\.text))
        let parameters = reader.genericParameters
        typeNames = Set(
            tokens.indices.lazy.filter { index in
                tokens[index].isWord && tokens[index].text.first?.isUppercase == true
                    && (index == 0 || tokens[index - 1].text != ".")
            }.map { tokens[$0].text }
        ).subtracting(parameters)
    }

    /// Whether a word is or has the name of a pointer type: `Unsafe…Pointer` or `OpaquePointer`.
    private static func isPointer(_ word: String) -> Bool {
        // Nearly all words are told by this, and a regular expression takes minutes for them.
        guard word.contains("Pointer") else { return false }
        return word.contains(/Unsafe[A-Za-z]*Pointer|OpaquePointer/)
    }

    /// Finds `[String: …]`, `Dictionary<String, …>` and `Set<String>` among the words and marks of a source.
    private static func plainTextCollections(in words: [String]) -> [String] {
        let forms = [["[", "String", ":"], ["Dictionary", "<", "String", ","], ["Set", "<", "String", ">"]]
        // Each has its `String` within the first three words.
        return words.indices.filter { words[$0] == "String" }.flatMap { position in
            (max(0, position - 2)..<position).flatMap { start in
                forms.filter { words[start...].starts(with: $0) }.map { $0.joined() }
            }
        }
    }
}
