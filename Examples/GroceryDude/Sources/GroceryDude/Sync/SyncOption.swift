import CoreDataSync
import Foundation
import LivePages

/// The options of the command line that have the list synchronise: two devices on one machine are two ports, two stores, one folder.
///
/// Passwords and keys are not options, since every user of a machine can read the command lines of all programs.
enum SyncOption {
    private static let folder = "--sync-folder", webDAV = "--sync-webdav", s3 = "--sync-s3"
    private static let device = "--device", seeding = "--seeding"

    static let all = [
        LaunchOptions.Own(
            folder, "FOLDER",
            "a folder through which the list synchronises with those on other devices. It has to exist"),
        LaunchOptions.Own(
            webDAV, "URL",
            "a folder of a WebDAV server instead. Its user is in WEBDAV_USER and WEBDAV_PASSWORD, or its token in",
            "WEBDAV_TOKEN"),
        LaunchOptions.Own(
            s3, "URL",
            "a bucket instead: https://SERVICE/BUCKET/PREFIX. Its keys are in AWS_ACCESS_KEY_ID and",
            "AWS_SECRET_ACCESS_KEY, its region in AWS_REGION"),
        LaunchOptions.Own(device, "NAME", "what the other devices call this one; default: the name of the machine"),
        LaunchOptions.Own(
            seeding, "CHOICE",
            "where list and folder both have things the first time: merge (default), local (the values of this list",
            "count), remote (those of the others), replace (this list is emptied first, after a backup)"),
    ]

    /// The variables in which a server's secrets are at the start of the app, as a person would list them.
    static func variables(of place: PlaceAddress) -> String {
        if case .service = place { return "the page Sync, without --host and --allowed-host" }
        if case .s3 = place { return "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY" }
        return "WEBDAV_USER and WEBDAV_PASSWORD, or WEBDAV_TOKEN"
    }

    /// Has the list join the place of the options, unless it has done so before.
    ///
    /// - Throws: ``LaunchOptions/Problem`` for a place that cannot be used, and for a list that synchronises with another one.
    @MainActor static func join(
        _ app: App, _ values: [String: String],
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) async throws {
        let seeding = try Self.seeding(values[seeding] ?? "merge")
        let options = [folder, webDAV, s3].filter { values[$0] != nil }
        guard let option = options.first, let text = values[option] else {
            guard values.isEmpty else {
                throw problem("\(values.keys.min() ?? "") is of use only with \(folder), \(webDAV) or \(s3)")
            }
            return
        }
        guard options.count == 1 else {
            throw problem(
                "\(options.joined(separator: " and ")): a list synchronises through one place. Use one of them")
        }
        guard app.synchroniser.isPossible else {
            throw problem("\(option): the list is on a server; it has no need to synchronise")
        }
        do {
            let typed = try typed(option, text, environment)
            if let present = app.synchroniser.settings {
                guard try isSame(present.place, typed.address(), environment) else {
                    throw problem(
                        "\(option): the list synchronises through \(present.place.name) already; leave it on the page Sync first"
                    )
                }
                // Without credentials those count that are kept.
                if let credentials = try typed.credentials() { await app.synchroniser.use(credentials) }
                return
            }
            var candidate = try SyncCandidate(typed, device: values[device] ?? ProcessInfo.processInfo.hostName)
            candidate.settings.seeding = seeding
            try await candidate.signIn()
            _ = try await candidate.check()
            if seeding == .replaceLocal { try await app.groceries.keepBackup("before-sync") }
            try app.synchroniser.join(candidate)
        } catch let wrong as SyncCandidate.Problem {
            let advice = wrong.field == .passphrase ? " Join it on the page Sync." : ""
            throw problem("\(name(of: wrong.field, option)): \(wrong.description)\(advice)")
        }
    }

    private static func typed(_ option: String, _ text: String, _ environment: [String: String]) throws -> TypedPlace {
        switch option {
        case webDAV:
            // A token is a password without a user.
            let token = environment["WEBDAV_TOKEN"] ?? ""
            return TypedPlace(
                .webDAV,
                [
                    .address: text, .user: token.isEmpty ? environment["WEBDAV_USER"] ?? "" : "",
                    .password: token.isEmpty ? environment["WEBDAV_PASSWORD"] ?? "" : token,
                ])
        case s3:
            let (endpoint, bucket, prefix) = try bucket(text)
            return TypedPlace(
                .s3,
                [
                    .endpoint: endpoint, .bucket: bucket, .prefix: prefix,
                    .region: region(environment),
                    .accessKey: environment["AWS_ACCESS_KEY_ID"] ?? "",
                    .secretKey: environment["AWS_SECRET_ACCESS_KEY"] ?? "",
                    .sessionToken: environment["AWS_SESSION_TOKEN"] ?? "",
                ])
        default: return TypedPlace(.folder, [.folder: text])
        }
    }

    private static func region(_ environment: [String: String]) -> String {
        environment["AWS_REGION"] ?? environment["AWS_DEFAULT_REGION"] ?? ""
    }

    /// Whether the options name the present place; its region need not be named again.
    private static func isSame(
        _ present: PlaceAddress, _ wanted: PlaceAddress, _ environment: [String: String]
    ) -> Bool {
        guard case .s3(let known) = present, case .s3(var bucket) = wanted, region(environment).isEmpty else {
            return present == wanted
        }
        bucket.region = known.region
        return bucket == known
    }

    /// Reads `https://SERVICE/BUCKET/PREFIX`.
    private static func bucket(_ text: String) throws -> (endpoint: String, bucket: String, prefix: String) {
        let parts = text.split(separator: "/", maxSplits: 4, omittingEmptySubsequences: false).map(String.init)
        guard parts.count > 3, parts[1].isEmpty, ["https:", "http:"].contains(parts[0].lowercased()), !parts[3].isEmpty
        else {
            throw problem(
                "\(s3): type the service and the bucket, as in https://s3.eu-central-1.amazonaws.com/my-bucket/groceries"
            )
        }
        return ("\(parts[0])//\(parts[2])", parts[3], parts.count > 4 ? parts[4] : "")
    }

    /// What is to be changed, as a user of the command line knows it.
    private static func name(of field: SyncCandidate.Field, _ option: String) -> String {
        switch field {
        case .device: device
        case .user: "WEBDAV_USER"
        case .password: "WEBDAV_USER, WEBDAV_PASSWORD or WEBDAV_TOKEN"
        case .region: "AWS_REGION"
        case .accessKey: "AWS_ACCESS_KEY_ID"
        case .secretKey: "AWS_ACCESS_KEY_ID or AWS_SECRET_ACCESS_KEY"
        default: option
        }
    }

    private static func seeding(_ text: String) throws -> Seeding {
        switch text {
        case "merge": .merge
        case "local": .preferLocal
        case "remote": .preferRemote
        case "replace": .replaceLocal
        default: throw problem("\(seeding): '\(text)' is none of merge, local, remote and replace")
        }
    }

    private static func problem(_ text: String) -> LaunchOptions.Problem { LaunchOptions.Problem(description: text) }
}
