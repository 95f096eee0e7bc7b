// SPDX-License-Identifier: Apache-2.0

import Foundation

/// All Swift files of `Sources`, read once.
struct SourceTree {
    /// The folder of the package.
    static let packageRoot = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    static let shared = Result { try SourceTree() }

    let files: [SourceFile]

    /// The file in which a type is declared, for the names that are declared once, at the top level and not privately.
    let homes: [String: SourceFile]

    private init() throws {
        let root = SourceTree.packageRoot.appendingPathComponent("Sources")
        files = try SourceTree.swiftFiles(below: root).map { file in
            SourceFile(path: String(file.path.dropFirst(root.path.count + 1)), contents: try Data(contentsOf: file))
        }
        guard !files.isEmpty else { throw CocoaError(.fileNoSuchFile) }
        var counts: [String: Int] = [:]
        var homes: [String: SourceFile] = [:]
        for file in files {
            for declaration in file.declarations {
                counts[declaration.name, default: 0] += 1
                if declaration.isTopLevel, !declaration.isPrivate { homes[declaration.name] = file }
            }
        }
        self.homes = homes.filter { counts[$0.key] == 1 }
    }

    static func swiftFiles(below folder: URL) throws -> [URL] {
        let all = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)?.compactMap { $0 as? URL } ?? []
        return all.filter { $0.pathExtension == "swift" }.sorted { $0.path < $1.path }
    }

    /// The uses of one folder's types by another folder of the same target.
    func arrows() -> [Arrow: Set<String>] {
        var arrows: [Arrow: Set<String>] = [:]
        for file in files {
            for name in file.typeNames {
                guard let home = homes[name], home.target == file.target, home.folder != file.folder else { continue }
                arrows[Arrow(from: file.folder, to: home.folder), default: []].insert("\(name) in \(file.path)")
            }
        }
        return arrows
    }

    /// One folder uses a type that another declares.
    struct Arrow: Hashable {
        let from: String
        let to: String
    }
}
