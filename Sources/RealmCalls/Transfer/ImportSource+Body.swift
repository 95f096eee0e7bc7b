// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
package import RealmAccess
package import RealmFormats
internal import RealmPlatform
internal import RealmStorage

extension ImportSource {
    /// Creates a source from the body of a request, in memory or in its file.
    ///
    /// A packed body in a file is inflated into another file. The calling thread waits for the disk.
    ///
    /// - Parameters:
    ///   - call: A request to a route with long bodies.
    ///   - limits: The bounds on the body and its records.
    ///   - folders: Folders for the inflated body, in the order in which they are tried.
    /// - Throws: `invalid_body` for data that is not gzip, `body_too_large`, or the problem of the
    ///   disk.
    package init(bodyOf call: Call, _ limits: Limits, spoolFolders folders: [String]) throws(Problem) {
        guard let file = call.request.body.file else {
            self.init(call.request.body.bytes, recordLimit: limits.importRecordBytes)
            return
        }
        guard call.request.isPacked else {
            self.init(file, recordLimit: limits.importRecordBytes)
            return
        }
        do throws(BodyFile.InflateFailure) {
            let plain = try file.inflated(inOneOf: folders, limit: limits.importBytes)
            self.init(plain, recordLimit: limits.importRecordBytes)
        } catch {
            switch error {
            case .malformed: throw Problem(.invalidBody, "the body is not a gzip stream")
            case .tooLarge:
                throw .overLimit(.bodyTooLarge, "the body is larger than \(limits.importBytes) bytes", limit: limits.importBytes)
            case .storage(let cause): throw Problem(spooling: cause)
            }
        }
    }
}
