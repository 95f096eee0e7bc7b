// SPDX-License-Identifier: Apache-2.0

/// A file that is part of the program. The build writes the tables of all of them, see `Plugins/EmbedWeb`.
package struct EmbeddedFile: Sendable {
    /// The path of the file below its folder, such as `core/app.js`.
    package let path: StaticString
    /// The contents: those of the file, scripts and style sheets without comments and redundant blanks.
    package let text: StaticString

    /// Describes a file.
    ///
    /// - Parameters:
    ///   - path: The path below its folder.
    ///   - text: The contents.
    package init(_ path: StaticString, _ text: StaticString) {
        self.path = path
        self.text = text
    }

    /// The media type that follows from the ending of the name.
    package var mediaType: StaticString {
        let name = path.description
        if name.hasSuffix(".js") { return "text/javascript; charset=utf-8" }
        if name.hasSuffix(".ts") { return "application/typescript; charset=utf-8" }
        if name.hasSuffix(".css") { return "text/css; charset=utf-8" }
        if name.hasSuffix(".svg") { return "image/svg+xml" }
        if name.hasSuffix(".html") { return "text/html; charset=utf-8" }
        return "text/plain; charset=utf-8"
    }
}
