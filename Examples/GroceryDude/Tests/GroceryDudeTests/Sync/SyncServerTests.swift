import CoreDataSync
import Foundation
import LivePages
import LivePagesTesting
import Logging
import Testing

@testable import GroceryDude

/// WebDAV servers and S3 services as places: choosing one, wrong passwords, going on after a start.
@Suite(.timeLimit(.minutes(3))) struct SyncServerTests {
    @Test(arguments: PlaceServer.Kind.allCases)
    func twoListsBecomeEqualThroughAServer(_ kind: PlaceServer.Kind) async throws {
        try await SyncedServers.run(.small, .none) { servers in
            let place = try PlaceServer(kind)
            let (kitchen, phone) = (servers.kitchen, servers.phone)
            try await kitchen.join(place.fields.merging(["device": "Kitchen", "keep": "1"]) { $1 })
            let page = try await kitchen.browser.get("/sync").words
            #expect(page.contains("Up to date"), "\(page)")
            #expect(page.contains(kind == .s3 ? "S3 bucket backups/groceries/ at \(place.address)" : place.address))
            #expect(place.files.keys.contains { $0.contains("/segment-") }, "\(place.files.keys)")
            #expect(kind == .webDAV || place.files.keys.allSatisfy { $0.hasPrefix("groceries/") })

            let device = ["device": "Phone"]
            let refused = try await phone.browser.post(
                "/sync", place.place.merging(place.wrong) { $1 }.merging(device) { $1 })
            #expect(refused.status == 422)
            #expect(
                refused.words.contains("refuses the \(kind == .s3 ? "keys" : "name and password")"), "\(refused.words)")
            #expect(refused.text.contains("aria-describedby=\"\(kind.secretField)-problem\""))
            #expect(refused.text.contains("value=\"\(place.address)\""))
            try await phone.join(place.fields.merging(device) { $1 }, .merge, kind.noun)
            try await servers.settle()
            #expect(try await phone.items() == kitchen.items())
            try await phone.setQuantity("Milk", 7)
            try await kitchen.setQuantity("Flour", 9)
            try await servers.settle()
            for server in [kitchen, phone] {
                let items = try await server.items()
                #expect(
                    items.contains("Milk: 7, Fridge, Dairy, listed") && items.contains("Flour: 9 kg, Pantry, Baking"),
                    "\(items)")
            }
            try await nothingSecretIsShown(place, [kitchen, phone], refused)
            try await goesOnIfKept(kitchen)
            try await asksIfNotKept(phone, place)
        }
    }

    private func nothingSecretIsShown(_ place: PlaceServer, _ servers: [TestServer], _ refused: Answer) async throws {
        var texts = [refused.text]
        for server in servers {
            for path in ["/sync", "/sync/unlock", "/sync/leave"] {
                texts.append(try await server.browser.get(path).text)
            }
            texts.append(try String(contentsOfFile: server.store.path + "-sync.json", encoding: .utf8))
        }
        for text in texts {
            for secret in place.hidden { #expect(!text.contains(secret), "\(secret) is in \(text)") }
        }
        #expect(texts.contains { $0.contains("action=/sync/unlock") })
    }

    private func goesOnIfKept(_ kitchen: TestServer) async throws {
        let kept = kitchen.store.path + "-sync.credentials"
        let mode = try FileManager.default.attributesOfItem(atPath: kept)[.posixPermissions] as? NSNumber
        #expect(mode?.intValue == 0o600)
        await kitchen.server.end()
        try await TestServer.reopen(kitchen.store) { again in
            try await Polling.wait(for: "an exchange") {
                try await again.browser.get("/sync").words.contains("Up to date")
            }
            let left = try await again.browser.submit("/sync/leave").words
            #expect(left.contains("any more."), "\(left)")
            #expect(!FileManager.default.fileExists(atPath: kept))
        }
    }

    private func asksIfNotKept(_ phone: TestServer, _ place: PlaceServer) async throws {
        await phone.server.end()
        #expect(!FileManager.default.fileExists(atPath: phone.store.path + "-sync.credentials"))
        try await TestServer.reopen(phone.store) { again in
            let browser = again.browser
            #expect(try await browser.get("/sync").words.contains(" not kept. With it, synchronisation goes on."))
            let wrong = try await browser.submit("/sync/unlock", place.wrong).words
            #expect(wrong.contains("refuses the ") && wrong.contains(", please"), "\(wrong)")
            let right = try await browser.submit("/sync/unlock", place.secrets).words
            #expect(right.contains("Up to date"), "\(right)")
        }
    }

    @Test(arguments: PlaceServer.Kind.allCases)
    func aServerIsSealedByAPassphrase(_ kind: PlaceServer.Kind) async throws {
        try await SyncedServers.run(.small, .none) { servers in
            let place = try PlaceServer(kind)
            let sealed = ["device": "Kitchen", "passphrase": "open sesame"]
            try await servers.kitchen.join(place.fields.merging(sealed) { $1 })
            let segment = try #require(place.files.first { $0.key.contains("/segment-") }?.value)
            #expect(segment.starts(with: Data("OCDX".utf8)))
            for (passphrase, message) in [
                ("", "This \(kind.noun) is sealed. Type the passphrase"),
                ("sesame", "This is not the passphrase of this \(kind.noun)."),
            ] {
                let fields = place.fields.merging(["device": "Phone", "passphrase": passphrase]) { $1 }
                let page = try await servers.phone.browser.post("/sync", fields)
                #expect(page.status == 422)
                #expect(page.words.contains(message), "\(page.words)")
            }
            let fields = place.fields.merging(["device": "Phone", "passphrase": "open sesame", "keep": "1"]) { $1 }
            try await servers.phone.join(fields, .merge, kind.noun)
            try await servers.settle()
            #expect(try await servers.phone.items() == servers.kitchen.items())
            // Neither was kept: the next start asks for both.
            await servers.kitchen.server.end()
            try await TestServer.reopen(servers.kitchen.store) { again in
                let browser = again.browser
                let asked = try await browser.get("/sync").text
                #expect(asked.contains("name=\"passphrase\"") && asked.contains("name=\"\(kind.secretField)\""))
                #expect(try await browser.submit("/sync/unlock", place.secrets).words.contains(", please"))
                let both = place.secrets.merging(["passphrase": "open sesame"]) { $1 }
                #expect(try await browser.submit("/sync/unlock", both).words.contains("Up to date"))
            }
        }
    }

    @Test(arguments: PlaceServer.Kind.allCases)
    func aPasswordThatWasChangedIsReplaced(_ kind: PlaceServer.Kind) async throws {
        try await TestServer.run(.small) { server in
            let place = try PlaceServer(kind)
            try await server.join(place.fields.merging(["device": "Kitchen", "keep": "1"]) { $1 })
            place.refuse(true)
            let browser = try server.browser
            let refused = try await browser.submit("/sync/exchange").words
            #expect(refused.contains("Not exchanged") && refused.contains("refuses the "), "\(refused)")
            #expect(try await browser.get("/sync").text.contains("href=/sync/unlock"))
            let wrong = try await browser.submit("/sync/unlock", place.wrong.merging(["keep": "1"]) { $1 }).words
            #expect(wrong.contains("refuses the "), "\(wrong)")
            place.refuse(false)
            // The old one still counts.
            #expect(try await browser.submit("/sync/exchange").words.contains("Up to date"))
            let right = try await browser.submit("/sync/unlock", place.secrets).words
            #expect(right.contains("Up to date"), "\(right)")
            #expect(!FileManager.default.fileExists(atPath: server.store.path + "-sync.credentials"))
        }
    }

    @Test func aBucketThatIsEmptyAtOnceIsNotFilledAgain() async throws {
        try await TestServer.run(.small) { server in
            let place = try PlaceServer(.s3)
            try await server.join(place.fields.merging(["device": "Kitchen"]) { $1 })
            for key in place.files.keys { place.s3.set(key, nil) }
            let page = try await server.browser.submit("/sync/exchange").words
            #expect(page.contains("is empty, though it had files. Check it on the server."), "\(page)")
            #expect(place.files.isEmpty)
        }
    }

    // MARK: What cannot be used

    struct Row: Sendable, CustomTestStringConvertible {
        let kind: PlaceServer.Kind
        let typed: [String: String]
        let field: String
        let message: String

        init(_ kind: PlaceServer.Kind, _ typed: [String: String], _ field: String, _ message: String) {
            (self.kind, self.typed, self.field, self.message) = (kind, typed, field, message)
        }

        var testDescription: String { "\(kind.rawValue) \(typed)" }
    }

    @Test(arguments: [
        Row(.webDAV, ["address": ""], "address", "Type the address of a folder on the server, such as https://"),
        Row(.webDAV, ["address": "cloud.example.com/x"], "address", "Type the whole address, beginning with https://"),
        Row(.webDAV, ["address": "file:///tmp"], "address", "Type the whole address, beginning with https://"),
        Row(
            .webDAV, ["address": "http://ann:wrong-secret@127.0.0.1:1/x"], "address",
            "needs an address without a name, a password"),
        Row(.webDAV, ["address": "http://ann:x/wrong-secret@127.0.0.1/x"], "address", "Type the whole address"),
        Row(
            .webDAV, ["address": "http://127.0.0.1:1/x?key=wrong-secret"], "address", "needs an address without a name"),
        Row(.webDAV, ["address": "http://127.0.0.1:1/x"], "address", "cannot be reached: nobody answers there"),
        Row(.webDAV, ["password": ""], "password", "Type the password of “ann”."),
        Row(.webDAV, ["user": "a:b"], "user", "A user's name contains no “:”."),
        Row(.webDAV, ["password": "a\r\nb"], "password", "The password contains a line end"),
        Row(
            .webDAV, ["user": "", "password": "wrong-secret"], "password", "refuses the name and password, or the token"
        ),
        Row(.webDAV, ["user": "", "password": ""], "password", "refuses the name and password"),
        Row(.webDAV, ["device": " "], "device", "Type a name by which you know this device"),
        Row(.s3, ["endpoint": ""], "endpoint", "Type the address of the service, such as https://"),
        Row(.s3, ["endpoint": "http://127.0.0.1:1"], "endpoint", "cannot be reached: nobody answers there"),
        Row(.s3, ["bucket": ""], "bucket", "Type the name of the bucket."),
        Row(.s3, ["bucket": "Bad_Name"], "bucket", "'Bad_Name' is no bucket's name"),
        Row(.s3, ["bucket": "other"], "bucket", "The bucket does not exist. Create it, or correct its name."),
        Row(.s3, ["prefix": "a//b"], "prefix", "is no prefix"),
        Row(.s3, ["region": "eu central"], "region", "“eu central” is no region"),
        Row(.s3, ["access-key": "", "secret-key": ""], "access-key", "Type the access key and the secret key."),
        Row(.s3, ["access-key": ""], "access-key", "Type the access key."),
        Row(.s3, ["secret-key": ""], "secret-key", "Type the secret key."),
        Row(.s3, ["access-key": "OTHER"], "secret-key", "The service refuses the keys."),
    ])
    func aServerThatCannotBeUsedIsExplained(_ row: Row) async throws {
        try await TestServer.run { server in
            let place = try PlaceServer(row.kind)
            let fields = place.fields.merging(["device": "Kitchen"]) { $1 }.merging(row.typed) { $1 }
            let page = try await server.browser.post("/sync", fields)
            #expect(page.status == 422)
            #expect(page.words.contains(row.message), "\(page.words)")
            #expect(page.text.contains("aria-describedby=\"\(row.field)-problem\""), "\(page.text)")
            // The same kind of place is still chosen, and nothing secret is shown.
            #expect(page.text.contains("<option value=\"\(row.kind.rawValue)\" selected>"))
            for secret in place.hidden { #expect(!page.text.contains(secret)) }
            #expect(await server.app.synchroniser.phase == .off)
            #expect(place.files.isEmpty)
        }
    }

    @Test(arguments: PlaceServer.Kind.allCases)
    func whoReachesAnOpenServerChoosesNone(_ kind: PlaceServer.Kind) async throws {
        let folder = try TestServer.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let place = try PlaceServer(kind)
        let store = folder.appendingPathComponent("Test.sqlite")
        let opener = await App.opener(store, mayChoosePlace: false)
        let server = await WebServer(
            site: .groceryDude, host: "127.0.0.1", port: 0, logger: Logger(label: "test"), opener: opener)
        try await server.open()
        try await TestServer.serve(server) { port in
            let browser = TestBrowser(port: port)
            let page = try await browser.submit("/sync", place.fields.merging(["device": "Kitchen"]) { $1 })
            #expect(page.words.contains(kind == .s3 ? "--sync-s3 URL" : "--sync-webdav URL"), "\(page.words)")
            #expect(!page.text.contains("id=kind"))
            let app = try #require(await server.app)
            #expect(await app.synchroniser.phase == .off)
            // Nor can one replace the password of what the command line chose.
            try await SyncOption.join(app, Self.values(place), environment: Self.environment(place))
            try await Polling.wait(for: "the first exchange") { await app.synchroniser.state.lastExchange != nil }
            let other = try await browser.submit("/sync/unlock", place.secrets.merging(["keep": "1"]) { $1 })
            #expect(!other.text.contains("/sync/unlock"))
            #expect(!FileManager.default.fileExists(atPath: store.path + "-sync.credentials"))
        }
    }

    // MARK: The command line

    private static func values(_ place: PlaceServer) -> [String: String] {
        switch place.kind {
        case .webDAV: ["--sync-webdav": place.address, "--device": "Phone"]
        case .s3: ["--sync-s3": "\(place.address)/\(S3StandIn.bucket)/groceries/", "--device": "Phone"]
        }
    }

    private static func environment(_ place: PlaceServer) -> [String: String] {
        switch place.kind {
        case .webDAV: ["WEBDAV_USER": "ann", "WEBDAV_PASSWORD": WebDAVStandIn.password]
        case .s3:
            [
                "AWS_ACCESS_KEY_ID": S3StandIn.accessKey, "AWS_SECRET_ACCESS_KEY": S3StandIn.secretKey,
                "AWS_REGION": "eu-west-1",
            ]
        }
    }

    @Test(arguments: PlaceServer.Kind.allCases)
    func theCommandLineJoinsAServer(_ kind: PlaceServer.Kind) async throws {
        try await SyncedServers.run(.small, .none) { servers in
            let place = try PlaceServer(kind)
            try await servers.kitchen.join(place.fields.merging(["device": "Kitchen"]) { $1 })
            let (values, environment) = (Self.values(place), Self.environment(place))
            let app = servers.phone.app
            let name = kind == .s3 ? "AWS_ACCESS_KEY_ID" : "WEBDAV_USER"
            var both = values
            both["--sync-folder"] = "/tmp"
            for (values, environment, message) in [
                (values, [:], name), (both, environment, "a list synchronises through one place"),
                (["--sync-s3": "https://s3.example.com"], environment, "--sync-s3: type the service and the bucket"),
            ] {
                let error = await #expect(throws: LaunchOptions.Problem.self) {
                    try await SyncOption.join(app, values, environment: environment)
                }
                #expect(error?.description.contains(message) == true, "\(error?.description ?? "")")
            }
            #expect(await app.synchroniser.phase == .off)
            try await SyncOption.join(app, values, environment: environment)
            try await servers.phone.waitForExchange()
            try await servers.settle()
            #expect(try await servers.phone.items() == servers.kitchen.items())
            await servers.phone.server.end()
            #expect(!FileManager.default.fileExists(atPath: servers.phone.store.path + "-sync.credentials"))
            // The next start has them in its environment again.
            try await TestServer.reopen(servers.phone.store) { again in
                let app = try #require(await again.server.app)
                #expect(await app.synchroniser.phase == .locked(nil))
                // Or the page asks for them.
                try await SyncOption.join(app, values, environment: [:])
                #expect(await app.synchroniser.phase == .locked(nil))
                try await SyncOption.join(app, values, environment: environment)
                #expect(await app.synchroniser.phase == .on)
                try await Polling.wait(for: "an exchange") { await app.synchroniser.state.lastExchange != nil }
            }
        }
    }

    @Test func settingsOfAFolderAreReadAsBefore() throws {
        let text = #"{"device": "Phone", "folder": "/a", "hasExchanged": true, "isSealed": false, "seeding": "merge"}"#
        let settings = try JSONDecoder().decode(SyncSettings.self, from: Data(text.utf8))
        #expect(settings == SyncSettings(place: .folder("/a"), device: "Phone", hasExchanged: true))
    }

    @Test func descriptionsContainNothingSecret() {
        let secrets = SyncSecrets(passphrase: "sesame", credentials: .password(user: "ann", password: "sesame"))
        for value in [secrets, secrets.credentials as Any] {
            var text = "\(value) \(String(reflecting: value))"
            dump(value, to: &text)
            #expect(!text.contains("sesame"), "\(text)")
        }
    }
}

/// Two devices and a server of others between them.
@Suite(.timeLimit(.minutes(3)), .serialized) struct SyncRealServerTests {
    @Test(.enabled(if: ContinuousIntegration.isOn, "\(ContinuousIntegration.isOff)"))
    func theServersAreInstalled() { #expect(RealServer.isInstalled, "\(RealServer.missing)") }

    @Test(
        .enabled(if: RealServer.isInstalled, "\(RealServer.missing)"),
        arguments: DailyPart.one(of: [RealServer.Kind.webDAV, .s3]))
    func twoDevicesAndAServerThatIsAwayForAWhile(_ kind: RealServer.Kind) async throws {
        try await SyncedServers.run(.small, .small) { servers in
            let server = try RealServer(kind)
            defer { server.end() }
            let (kitchen, phone) = (servers.kitchen, servers.phone)
            let sealed = server.fields.merging(["passphrase": "open sesame", "keep": "1"]) { $1 }
            try await kitchen.join(sealed.merging(["device": "Kitchen"]) { $1 })
            try await phone.join(sealed.merging(["device": "Phone"]) { $1 }, .merge, kind == .s3 ? "bucket" : "folder")
            try await servers.settle()
            #expect(try await phone.items() == kitchen.items())

            try server.stop()
            try await kitchen.setQuantity("Milk", 2)
            try await phone.setQuantity("Milk", 3)
            _ = try await phone.browser.submit("/items", ["name": "Pears", "quantity": "4", "listed": "1"])
            _ = await phone.app.synchroniser.exchangeNow()
            try await Polling.wait(for: "the failure") {
                try await phone.browser.get("/sync").words.contains("cannot be reached: nobody answers there")
            }
            try server.start()
            try await servers.settle()
            try await servers.settle()
            let items = try await kitchen.items()
            #expect(items == (try await phone.items()))
            #expect(items.contains { $0.hasPrefix("Pears: 4") } && items.count == 4, "\(items)")
            for device in [kitchen, phone] {
                #expect(try await device.browser.get("/sync").words.contains("Conflicts 1 Milk"))
            }
            let left = try await phone.browser.submit("/sync/leave").words
            #expect(left.contains("any more."), "\(left)")
            await kitchen.app.synchroniser.exchangeNow()
            try await Polling.wait(for: "the phone's end") {
                try await kitchen.browser.get("/sync").words.contains("Devices 1")
            }
        }
    }
}
