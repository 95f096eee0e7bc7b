// SPDX-License-Identifier: Apache-2.0

import RealmFormats
import RealmPlatform
import RealmStorage
import Testing

/// What files that cannot be opened, or are damaged, answer.
@Suite struct OpeningProblemTests {
    @Test(
        arguments: [
            (.refused(.fileNotFound), 404, "file_not_found"), (.refused(.unsuitable("a pipe")), 422, "filesystem_unsuitable"),
            (.refused(.notARealm("short")), 422, "not_a_realm"),
            (.refused(.encryptionKeyRequired("x")), 422, "encryption_key_required"),
            (.refused(.encryptionKeyWrong("x")), 422, "encryption_key_wrong"),
            (.refused(.encryptionKeyMalformed("x")), 422, "encryption_key_wrong"),
            (.refused(.fileInUse("x")), 409, "file_in_use"),
            (.refused(.formatUnsupported(found: 9, reason: "x")), 422, "file_format_unsupported"),
            (.corrupt(ref: .none, reason: "x"), 422, "file_corrupt"),
            (.io(operation: "open", errno: 5), 422, "filesystem_unsuitable"),
        ] as [(StorageError, Int, String)])
    func `opening`(_ error: StorageError, _ status: Int, _ code: String) {
        let problem = Problem(opening: error)
        #expect(problem.status == status)
        #expect(problem.code.rawValue == code)
    }

    @Test func `a format that is not read is told with those that are`() {
        let problem = Problem(opening: .refused(.formatUnsupported(found: 9, reason: "x")))
        #expect(problem.extensions.map(\.name.description) == ["found", "supported"])
    }

    @Test func `while serving, nothing of where it happened is told`() {
        let damage = Problem(serving: .corrupt(ref: Ref(4096), reason: "secret"))
        #expect(damage.status == 500)
        #expect(damage.code == .fileCorrupt)
        let failure = Problem(serving: .io(operation: "secret", errno: 5))
        #expect(failure.status == 500)
        #expect(failure.code == .internalError)
        for refusal in [.unsound("secret"), .notARealm("secret"), .formatUnsupported(found: 9, reason: "secret")]
            as [StorageError.Refusal]
        {
            // A copy of the file was made, for example to convert it for a backup, and could not be opened.
            let problem = Problem(serving: .refused(refusal))
            #expect(problem.code == .fileCorrupt && problem.detail == damage.detail, "\(refusal)")
        }
        #expect(!damage.detail.contains("secret") && !failure.detail.contains("secret"))
    }
}
