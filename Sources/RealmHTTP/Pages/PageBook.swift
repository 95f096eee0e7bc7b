// SPDX-License-Identifier: Apache-2.0

internal import RealmConsole
internal import RealmEngine
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The pages of a server and their files, by their paths.
///
/// Each is made when it is first asked for, and kept. There are as many as the program has, so nothing a client sends makes this grow.
/// Any thread may use it.
final class PageBook: Sendable {
    /// The files of the console by their paths below `/console/`.
    private static let consoleFiles = Dictionary(
        texts: EmbeddedFile.console.map { ($0.path.description, $0) }, uniquingKeysWith: { first, _ in first })

    /// The files of the client for JavaScript by their paths.
    private static let clientFiles = Dictionary(
        texts: EmbeddedFile.client.map { ("/" + $0.path.description, $0) }, uniquingKeysWith: { first, _ in first })

    /// The pages that were made.
    private let pages = RankedMutex<[ByteText: PageFile]>(.leaf, [:])
    /// Makes the pages that document the server.
    private let documents: DocumentPages

    /// Creates a book whose pages are not made yet.
    ///
    /// - Parameter description: Returns the API description of the server.
    init(description: @escaping @Sendable () -> DocumentValue) { documents = DocumentPages(description: description) }

    var console: PageFile? { file("index.html") }

    /// Returns a file of the console; nil when there is none.
    ///
    /// - Parameter path: The path below `/console/`.
    func file(_ path: String) -> PageFile? {
        page("/console/" + path) { PageBook.consoleFiles[path].map { PageFile($0) } }
    }

    /// Returns a file of the client for JavaScript; nil when there is none.
    ///
    /// - Parameter path: The whole path.
    func clientFile(_ path: String) -> PageFile? {
        page(path) { PageBook.clientFiles[path].map { PageFile($0) } }
    }

    /// Returns a page that documents the server; nil when there is none.
    ///
    /// - Parameter path: The path below `/docs/`.
    func document(_ path: String) -> PageFile? {
        page("/docs/" + path) { documents.page(path).map { PageFile(html: $0) } }
    }

    /// Returns a page that was made already, or makes it. Two threads that come first at the same time may both make it.
    private func page(_ path: String, _ make: () -> PageFile?) -> PageFile? {
        if let known = pages.withLock({ $0[path] }) { return known }
        guard let made = make() else { return nil }
        return pages.withLock { pages in
            if let known = pages[path] { return known }
            pages[path] = made
            return made
        }
    }
}
