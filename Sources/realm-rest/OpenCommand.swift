// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
import RealmEngine
internal import RealmFormats
import RealmHTTP
internal import RealmHosting
internal import RealmPlatform
import RealmStorage

/// The command `realm-rest open`: shows a file in the browser.
struct OpenCommand: ParsableCommand {
    /// The name of the command and its description for `--help`.
    static let configuration = CommandConfiguration(
        commandName: "open", abstract: "Shows files in the browser.",
        discussion: """
            Without --follow and --write a private copy is shown, which cannot be changed. The server listens on a free port of \
            this machine and ends with Ctrl-C; nothing is left behind. All options of serve apply.
            """)

    /// The paths of the files to show; a folder means the realm files in it.
    @Argument(help: "A .realm file, or a folder of them.")
    var paths: [String]

    /// Whether the files themselves are served, and may be changed.
    @Flag(help: "Serve the file itself, so that it can be changed.")
    var write = false

    @Flag(name: .customLong("no-browser"), help: "Print the address, and open no browser.")
    var opensNoBrowser = false

    @OptionGroup var options: ServeOptions

    /// Checks the options that cannot be combined.
    ///
    /// - Throws: `ValidationError` when both --write and an option of reading are given, or when there would be no page.
    func validate() throws {
        guard !write || !(options.follow || options.readOnly) else {
            throw ValidationError("--write and \(options.follow ? "--follow" : "--read-only") cannot be combined.")
        }
        guard !options.refusesConsole else { throw ValidationError("There is nothing to open with --no-console; use serve.") }
    }

    /// Runs the server, and opens its page when it listens.
    ///
    /// - Throws: `ExitCode(1)` when the server cannot start.
    func run() throws {
        var configuration = try options.configuration(paths: paths, file: options.config)
        if options.port == nil { configuration.options.port = 0 }
        // The page asks for the keys that are missing.
        configuration.options.opensWithoutKeys = true
        if options.logFormat == nil { configuration.options.logFormat = nil }
        if !write, !configuration.options.followsFiles {
            configuration.options.copiesFiles = true
            configuration.options.isReadOnly = true
        }
        try ServerRun.run(configuration.options) { url in
            let address = url + "/" + page
            StandardStreams.error("\(opensBrowser(at: address) ? "opened" : "open in a browser:") \(address)")
            StandardStreams.error("Ctrl-C ends it")
        }
    }

    /// The end of the address of the page: the classes of the one realm, or nothing.
    private var page: String {
        guard paths.count == 1, let name = paths[0].split(separator: "/").last, name.hasSuffix(".realm"),
            let realm = RealmName(String(name.dropLast(".realm".count)))
        else { return "" }
        return "#/\(realm.text)/classes"
    }

    /// Opens an address in the browser of the desktop.
    ///
    /// - Returns: Whether there is a desktop with a program that opens addresses.
    private func opensBrowser(at address: String) -> Bool {
        let hasDisplay = ["DISPLAY", "WAYLAND_DISPLAY"].contains { (name: String) in
            let value = unsafe getenv(name).map { unsafe String(cString: $0) }
            return value.map { !$0.isEmpty } ?? false
        }
        return !opensNoBrowser && hasDisplay && System.start(["xdg-open", address])
    }
}
