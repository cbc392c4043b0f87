import CoreDataRemote
import CoreDataSync
import Foundation

/// Makes a place's errors from a server's error responses and from failures of the connection.
struct RemoteTrouble: Sendable {
    /// What was to be done with a file or folder.
    enum Action: String, Sendable {
        case listed, read, created, deleted
    }

    /// The server in messages, without anything secret.
    let place: String
    let action: Action
    /// The folder and file in the place; empty for the place itself.
    let path: String

    /// Runs a body, and makes failures of the connection errors of the place.
    func converting<Result>(_ body: () async throws -> Result) async throws -> Result {
        do { return try await body() } catch let failure as RemoteFailure { throw error(failure) }
    }

    func error(_ failure: RemoteFailure) -> SyncPlaceError {
        error(failure.kind == .tooLarge ? .tooLarge : .unavailable, " (\(failure.message))")
    }

    /// - Parameter code: the service's own word for the reason, such as `SlowDown`.
    func error(_ answer: RemoteConnection.Answer, code: String? = nil) -> SyncPlaceError {
        let (reason, advice) = code.flatMap { Self.advice(code: $0, answer) } ?? Self.advice(answer)
        let word = code.map { " \($0)" } ?? ""
        return error(reason, ": \(place) answers \(answer.status)\(word). \(advice)")
    }

    private func error(_ reason: SyncPlaceError.Reason, _ rest: String) -> SyncPlaceError {
        let subject = path.isEmpty ? "The place" : "'\(path)'"
        return SyncPlaceError(
            reason, "\(subject) cannot be \(action.rawValue)\(rest)", path: path.isEmpty ? nil : path)
    }

    private static func advice(_ answer: RemoteConnection.Answer) -> (SyncPlaceError.Reason, String) {
        switch answer.status {
        case 300..<400:
            let region = region(answer)
            if !region.isEmpty { return wrongRegion(region) }
            return (
                .unavailable, "It redirects to another address, which is not followed. Use that address for the place."
            )
        case 401: return (.noPermission, unauthorized(answer))
        case 403:
            return (.noPermission, "This account may not do that. Check its permissions, and the keys or password.")
        case 404, 410:
            return (.unavailable, "It does not exist there. Check the address; the folder above it must exist.")
        case 405, 501: return (.unavailable, "The server cannot do that. Check that the address is the right one.")
        case 409:
            return (.unavailable, "The folder above it is missing. Create it on the server, or check the address.")
        case 413: return (.tooLarge, "The file is larger than the server accepts. Raise its limit for uploads.")
        case 423: return (.unavailable, "The file or folder is locked. The next exchange tries again.")
        case 429, 503: return (.unavailable, "The server is too busy. The next exchange tries again.")
        case 507: return (.full, "The server has no space left. Delete other files there, or raise the quota.")
        case 500...: return (.unavailable, "The server failed. The next exchange tries again; see the server's log.")
        default: return (.unavailable, "The server refuses the request. Check the address.")
        }
    }

    private static func unauthorized(_ answer: RemoteConnection.Answer) -> String {
        let scheme = answer.headers["www-authenticate"]?.lowercased() ?? ""
        if scheme.hasPrefix("digest"), !scheme.contains("basic") {
            return
                "It asks for Digest authentication, which is not supported. Enable Basic authentication over https, or a token."
        }
        return "It refuses the name and password, or the token. Check them; some servers need a password for apps."
    }

    /// What codes of S3 services mean that need other advice than their status.
    private static func advice(
        code: String, _ answer: RemoteConnection.Answer
    ) -> (SyncPlaceError.Reason, String)? {
        switch code {
        case "NoSuchBucket": return (.unavailable, "The bucket does not exist. Create it, or correct its name.")
        case "InvalidAccessKeyId", "SignatureDoesNotMatch", "InvalidToken", "ExpiredToken", "TokenRefreshRequired":
            return (.noPermission, "The service refuses the keys. Check the access key, the secret key and the region.")
        case "RequestTimeTooSkewed":
            return (.noPermission, "The clock of this device differs from the service's by too much. Set the clock.")
        case "AccessDenied", "AllAccessDisabled":
            return (
                .noPermission, "The keys must permit listing the bucket, and reading, writing and deleting its objects."
            )
        case "AuthorizationHeaderMalformed", "PermanentRedirect", "IllegalLocationConstraintException":
            return wrongRegion(region(answer))
        case "ConditionalRequestConflict", "OperationAborted":
            return (.unavailable, "Another request for the same name was under way. The next exchange tries again.")
        case "EntityTooLarge": return (.tooLarge, "The file is larger than the service accepts.")
        case "QuotaExceeded", "XMinioStorageFull":
            return (.full, "The service has no space left. Delete other objects, or raise the quota.")
        default: return nil
        }
    }

    private static func wrongRegion(_ name: String) -> (SyncPlaceError.Reason, String) {
        (.unavailable, "The bucket is in another region\(name). Use that region and its endpoint.")
    }

    /// The region that a service names, as the rest of a sentence; empty without one.
    private static func region(_ answer: RemoteConnection.Answer) -> String {
        guard let name = answer.headers["x-amz-bucket-region"], name.count <= 40,
            name.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") })
        else { return "" }
        return ", \(name)"
    }
}
