// SPDX-License-Identifier: Apache-2.0

import Foundation
import PackagePlugin

/// Puts the files of the console, the client for JavaScript, the documents that the server shows, and the samples into the program.
///
/// `WebEmbedder` writes them as a Swift file whenever one of them has changed. A new file is found by itself, since the
/// plan of the build is made anew when files come or go.
@main
struct EmbedWeb: BuildToolPlugin {
    /// The documents of the folder `docs` that the server shows as pages.
    private static let documents = ["query.md"]
    /// The files of the folder `clients/javascript` that pages and programs can take from a server.
    private static let client = ["realm-rest.js", "realm-rest.d.ts"]
    /// The exports of the folder `demo` that new realms can be filled with.
    private static let samples = ["store.ndjson.gz"]

    /// Returns the one command that writes the Swift file.
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        let web = target.directoryURL.appendingPathComponent("Web")
        let docs = context.package.directoryURL.appendingPathComponent("docs")
        let demo = context.package.directoryURL.appendingPathComponent("demo")
        let javascript = context.package.directoryURL.appendingPathComponent("clients/javascript")
        let others =
            EmbedWeb.client.map { javascript.appendingPathComponent($0) }
            + EmbedWeb.documents.map { docs.appendingPathComponent($0) }
            + EmbedWeb.samples.map { demo.appendingPathComponent($0) }
        let output = context.pluginWorkDirectoryURL.appendingPathComponent("EmbeddedFiles.swift")
        return [
            .buildCommand(
                displayName: "Embedding the files of the console and the client",
                executable: try context.tool(named: "WebEmbedder").url,
                arguments: [output.path, web.path] + others.map(\.path),
                inputFiles: try EmbedWeb.files(below: web) + others, outputFiles: [output])
        ]
    }

    /// Returns all files below a folder.
    private static func files(below folder: URL) throws -> [URL] {
        let keys: [URLResourceKey] = [.isRegularFileKey]
        let all = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: keys)?.compactMap { $0 as? URL } ?? []
        return try all.filter { try $0.resourceValues(forKeys: Set(keys)).isRegularFile ?? false }.sorted { $0.path < $1.path }
    }
}
