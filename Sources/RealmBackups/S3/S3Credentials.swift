// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
package import RealmPlatform
internal import RealmStorage

/// The credentials that sign requests to an S3 store. Their description and their mirror have no secrets.
package struct S3Credentials: Sendable, Equatable, CustomStringConvertible, CustomReflectable {
    package enum Source: Sendable {
        /// They stay the same.
        case fixed(S3Credentials)
        /// A file, which is read again for each operation, so that it can be replaced.
        case file(String)
    }

    /// The id of the access key.
    package let id: String
    /// The secret of the access key.
    package let secret: String
    /// The token of a session; nil for keys that last.
    package let token: String?

    /// Makes credentials.
    ///
    /// - Parameters:
    ///   - id: The id of the access key.
    ///   - secret: The secret of the access key.
    ///   - token: The token of a session; nil for keys that last.
    package init(id: String, secret: String, token: String? = nil) {
        self.id = id
        self.secret = secret
        self.token = token
    }

    /// Takes `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and `AWS_SESSION_TOKEN`; nil when one of the first two is
    /// missing or empty.
    ///
    /// - Parameter environment: Returns the value of a variable.
    package init?(_ environment: (String) -> String?) {
        let names = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"]
        let values = names.map { name in environment(name).flatMap { $0.isEmpty ? nil : $0 } }
        guard let id = values[0], let secret = values[1] else { return nil }
        self.init(id: id, secret: secret, token: values[2])
    }

    /// Reads a file with lines such as `aws_access_key_id = …`, as the tools of AWS have it. Of several sections the
    /// one with the name `default` counts, or else the lines before the first section.
    ///
    /// - Parameter path: The path of the file, of at most 64 KiB.
    /// - Throws: `StorageError.refused(.unsuitable)`, which reveals nothing of the content of the file, or the error of reading.
    package init(contentsOfFile path: String) throws(StorageError) {
        let file = try BodyFile(reading: path)
        guard file.byteCount <= 64 << 10 else { throw .refused(.unsuitable("the credentials file has more than 64 KiB")) }
        let text = String(decoding: try file.read(at: 0, byteCount: file.byteCount), as: UTF8.self)
        let values = S3Credentials.values(in: text)
        guard let id = values["aws_access_key_id"], let secret = values["aws_secret_access_key"] else {
            throw .refused(.unsuitable("the credentials file states no aws_access_key_id and aws_secret_access_key"))
        }
        self.init(id: id, secret: secret, token: values["aws_session_token"])
    }

    /// Returns the values of the default section by their names.
    private static func values(in text: String) -> [ByteText: String] {
        var values: [ByteText: String] = [:]
        var isDefault = true
        for line in text.split(whereSeparator: \.isNewline) {
            let line = trimmed(line)
            if line.hasPrefix("[") { isDefault = line == "[default]" }
            guard isDefault, !line.hasPrefix("#"), !line.hasPrefix(";"), let equals = line.firstIndex(of: "=") else { continue }
            let value = trimmed(line[line.index(after: equals)...])
            if !value.isEmpty { values[trimmed(line[..<equals]).lowercasedASCII] = value }
        }
        return values
    }

    /// Returns a text without spaces and tabs at its ends.
    private static func trimmed(_ text: Substring) -> String {
        let isSpace = { (character: Character) in character == " " || character == "\t" }
        return String(String(text.drop(while: isSpace).reversed()).drop(while: isSpace).reversed())
    }

    /// A text without the key.
    package var description: String { "S3 credentials" }

    /// A mirror without members.
    package var customMirror: Mirror { Mirror(self, children: []) }
}

extension S3Credentials.Source {
    /// Returns the credentials that are valid now.
    ///
    /// - Throws: `StorageError` when the file cannot be used.
    package func current() throws(StorageError) -> S3Credentials {
        switch self {
        case .fixed(let credentials): return credentials
        case .file(let path): return try S3Credentials(contentsOfFile: path)
        }
    }
}
