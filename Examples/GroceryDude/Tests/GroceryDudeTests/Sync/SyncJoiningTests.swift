import CoreDataSync
import Foundation
import LivePages
import LivePagesTesting
import Logging
import Testing

@testable import GroceryDude

/// Choosing a folder, joining it, going on after a start, leaving.
@Suite(.timeLimit(.minutes(2))) struct SyncJoiningTests {
    @Test(arguments: [
        ("", "Type the path of a folder."), ("Sync", "Type the whole path, beginning with /"),
        ("FOLDER/missing", "There is no folder “FOLDER/missing” on this machine. Create it"),
        ("FOLDER/file", "“FOLDER/file” is a file. Choose a folder."),
        ("/proc/self", "Nothing can be written to “/proc/self”."),
    ])
    func aFolderThatCannotBeUsedIsExplained(_ typed: String, _ message: String) async throws {
        try await TestServer.run { server in
            try Data("x".utf8).write(to: server.folder.appendingPathComponent("file"))
            let folder = server.folder.standardizedFileURL.path
            func fill(_ text: String) -> String { text.replacingOccurrences(of: "FOLDER", with: folder) }
            let page = try await server.browser.post("/sync", ["folder": fill(typed), "device": "Kitchen"])
            #expect(page.status == 422)
            #expect(page.words.contains(fill(message)), "\(page.words)")
            #expect(page.text.contains("aria-describedby=\"folder-problem\""))
            // What was typed is still there.
            #expect(page.text.contains("value=\"Kitchen\""))
            #expect(await server.app.synchroniser.phase == .off)
        }
    }

    @Test func aDeviceHasAName() async throws {
        try await TestServer.run { server in
            let page = try await server.browser.post("/sync", ["folder": server.folder.path, "device": " "])
            #expect(page.status == 422)
            #expect(page.words.contains("Type a name by which you know this device"))
        }
    }

    @Test func anEmptyFolderIsJoinedAndGoneOnWith() async throws {
        try await TestServer.run(.small) { server in
            let place = try TestServer.temporaryFolder()
            defer { try? FileManager.default.removeItem(at: place) }
            #expect(try await server.browser.get("/sync").words.contains("One list on several devices"))
            try await server.join(place, "Kitchen")
            let page = try await server.browser.get("/sync").words
            for text in ["Up to date", "To send nothing", "Folder \(place.path)", "This device Kitchen", "Devices 1"] {
                #expect(page.contains(text), "\(text) is missing: \(page)")
            }
            let files = try FileManager.default.subpathsOfDirectory(atPath: place.path)
            #expect(files.contains { $0.contains("/segment-") }, "\(files)")
            #expect(!FileManager.default.fileExists(atPath: server.store.path + "-sync.passphrase"))
            // Another app on the same store goes on without being asked.
            await server.server.end()
            try await TestServer.reopen(server.store) { again in
                try await Polling.wait(for: "an exchange") {
                    try await again.browser.get("/sync").words.contains("Up to date")
                }
                #expect(try await again.browser.get("/sync").words.contains("This device Kitchen"))
            }
        }
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let seeding: Seeding
        /// The quantities of Milk that the phone may have afterwards: the kitchen has 2, and the phone 3.
        let milk: [String]
        let hasOwn: Bool
        var testDescription: String { seeding.rawValue }
    }

    @Test(arguments: [
        Row(seeding: .merge, milk: ["2", "3"], hasOwn: true), Row(seeding: .preferLocal, milk: ["3"], hasOwn: true),
        Row(seeding: .preferRemote, milk: ["2"], hasOwn: true),
        Row(seeding: .replaceLocal, milk: ["2"], hasOwn: false),
    ])
    func aFolderWithAListAsksWhatBecomesOfBoth(_ row: Row) async throws {
        let kitchen = Filling { groceries in
            try groceries.fillSmall()
            try groceries.perform("Fill") { groceries.item(try groceries.number(of: "Milk"))?.quantity = 2 }
        }
        let phone = Filling { groceries in
            try groceries.fillSmall()
            try groceries.perform("Fill") {
                groceries.item(try groceries.number(of: "Milk"))?.quantity = 3
                _ = try groceries.makeItem(named: "Own")
            }
        }
        try await SyncedServers.run(kitchen, phone) { servers in
            try await servers.kitchen.join(servers.folder, "Kitchen")
            try await servers.phone.join(servers.folder, "Phone", row.seeding)
            try await servers.settle()
            let items = try await servers.phone.items()
            #expect(row.milk.contains { items.contains("Milk: \($0), Fridge, Dairy, listed") }, "\(items)")
            #expect(items.contains { $0.hasPrefix("Own") } == row.hasOwn, "\(items)")
            #expect(items.count == (row.hasOwn ? 4 : 3))
            #expect(try await servers.kitchen.items() == items)
            // Nothing that existed before is a conflict.
            #expect(try await !servers.phone.browser.get("/sync").words.contains("Conflicts"))
            let backups = try await Groceries.backupFolder(of: servers.phone.store).list()
            #expect(backups.count == (row.hasOwn ? 0 : 1))
        }
    }

    @Test func aFolderIsSealedByAPassphrase() async throws {
        try await SyncedServers.run(.small, .none) { servers in
            try await servers.kitchen.join(servers.folder, "Kitchen", passphrase: "open sesame")
            let kept = servers.kitchen.store.path + "-sync.passphrase"
            let mode = try FileManager.default.attributesOfItem(atPath: kept)[.posixPermissions] as? NSNumber
            #expect(mode?.intValue == 0o600)
            let browser = try servers.phone.browser
            for (passphrase, message) in [
                ("", "This folder is sealed. Type the passphrase"),
                ("sesame", "This is not the passphrase of this folder."),
            ] {
                let fields = ["folder": servers.folder.path, "device": "Phone", "passphrase": passphrase]
                let page = try await browser.post("/sync", fields)
                #expect(page.status == 422)
                #expect(page.words.contains(message), "\(page.words)")
            }
            let fields = ["folder": servers.folder.path, "device": "Phone", "passphrase": "open sesame"]
            let question = try await browser.submit("/sync", fields)
            #expect(question.words.contains("1 device uses it."), "\(question.words)")
            _ = try await browser.submit("/sync/join", ["seeding": "merge"])
            try await servers.phone.waitForExchange()
            try await servers.settle()
            #expect(try await servers.phone.items() == servers.kitchen.items())
            #expect(try await browser.get("/sync").words.contains("sealed by a passphrase"))
            // It was not to be kept: the next start asks for it.
            await servers.phone.server.end()
            #expect(!FileManager.default.fileExists(atPath: servers.phone.store.path + "-sync.passphrase"))
            try await TestServer.reopen(servers.phone.store) { again in
                #expect(try await again.browser.get("/sync").words.contains("The passphrase was not kept."))
                let wrong = try await again.browser.submit("/sync/unlock", ["passphrase": "sesame"])
                #expect(wrong.words.contains("This is not the passphrase of the folder."), "\(wrong.words)")
                let right = try await again.browser.submit("/sync/unlock", ["passphrase": "open sesame"])
                #expect(right.words.contains("Up to date"), "\(right.words)")
            }
        }
    }

    @Test func aPassphraseIsNoUseWhereOthersHaveNone() async throws {
        try await SyncedServers.run(.small, .none) { servers in
            try await servers.kitchen.join(servers.folder, "Kitchen")
            let fields = ["folder": servers.folder.path, "device": "Phone", "passphrase": "x"]
            let page = try await servers.phone.browser.post("/sync", fields)
            #expect(page.words.contains("The devices of this folder use no passphrase."), "\(page.words)")
        }
    }

    @Test func aFolderThatIsGoneIsExplainedAndFoundAgain() async throws {
        try await SyncedServers.joined { servers in
            let browser = try servers.phone.browser
            let away = servers.folder.appendingPathExtension("away")
            try FileManager.default.moveItem(at: servers.folder, to: away)
            let gone = try await browser.submit("/sync/exchange").words
            #expect(
                gone.contains("Not exchanged There is no folder “\(servers.folder.path)”. Connect its drive"), "\(gone)"
            )
            #expect(gone.contains("Changes wait on this device. Next attempt: "))
            // The mount point of a drive that is not connected.
            try FileManager.default.createDirectory(at: servers.folder, withIntermediateDirectories: false)
            let empty = try await browser.submit("/sync/exchange").words
            #expect(empty.contains("is empty, though it had files."), "\(empty)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: servers.folder.path) == [])
            try FileManager.default.removeItem(at: servers.folder)
            // An app that begins then tries until it is there.
            await servers.phone.server.end()
            try await TestServer.reopen(servers.phone.store) { again in
                try await Polling.wait(for: "the failure") {
                    try await again.browser.get("/sync").words.contains("There is no folder")
                }
                try FileManager.default.moveItem(at: away, to: servers.folder)
                #expect(try await again.browser.submit("/sync/exchange").words.contains("Up to date"))
            }
        }
    }

    @Test func aListLeavesItsFolder() async throws {
        try await SyncedServers.joined { servers in
            let browser = try servers.phone.browser
            #expect(try await browser.get("/sync/leave").words.contains("Leave the folder?"))
            #expect(
                try await servers.kitchen.browser.get("/sync").words.contains("Phone Has everything of this device."))
            let left = try await browser.submit("/sync/leave").words
            #expect(left.contains("This list does not synchronise any more."), "\(left)")
            #expect(left.contains("One list on several devices"))
            await servers.kitchen.app.synchroniser.exchangeNow()
            try await Polling.wait(for: "the phone's end") {
                try await servers.kitchen.browser.get("/sync").words.contains("Devices 1")
            }
            #expect(try await servers.phone.items().count == 3)
            // It may come back, under another name.
            try await servers.phone.join(servers.folder, "Tablet", .merge)
            try await servers.settle()
            #expect(try await servers.kitchen.browser.get("/sync").words.contains("Tablet Has everything"))
            #expect(try await servers.phone.items() == servers.kitchen.items())
        }
    }

    @Test func aFolderThatIsGoneForGoodIsLeftByForce() async throws {
        try await SyncedServers.joined { servers in
            try FileManager.default.removeItem(at: servers.folder)
            let browser = try servers.phone.browser
            let page = try await browser.submit("/sync/leave").words
            #expect(page.contains("There is no folder"), "\(page)")
            #expect(page.contains("Or leave although it cannot be reached: tick the box."))
            #expect(await servers.phone.app.synchroniser.phase == .on)
            #expect(try await browser.submit("/sync/leave", ["untold": "1"]).words.contains("any more."))
            #expect(await servers.phone.app.synchroniser.phase == .off)
        }
    }

    @Test func whoReachesAnOpenServerChoosesNoFolder() async throws {
        let folder = try TestServer.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let logger = Logger(label: "test")
        let opener = await App.opener(folder.appendingPathComponent("Test.sqlite"), mayChoosePlace: false)
        let server = await WebServer(site: .groceryDude, host: "127.0.0.1", port: 0, logger: logger, opener: opener)
        try await server.open()
        try await TestServer.serve(server) { port in
            let browser = TestBrowser(port: port)
            let page = try await browser.submit("/sync", ["folder": folder.path, "device": "Kitchen"])
            #expect(page.words.contains("--sync-folder FOLDER --device NAME"), "\(page.words)")
            #expect(!page.text.contains("id=folder"))
            #expect(await server.app?.synchroniser.phase == .off)
        }
    }

    @Test(
        arguments: [
            ([], true), (["--host", "::1"], true), (["--host", "0.0.0.0"], false), (["--allowed-host", "box"], false),
        ] as [([String], Bool)])
    func aServerForItsMachineOnlyIsKnown(_ arguments: [String], _ isForThisMachineOnly: Bool) throws {
        #expect(try LaunchOptions("Test", arguments).isForThisMachineOnly == isForThisMachineOnly)
    }

    @Test func theCommandLineJoins() async throws {
        try await SyncedServers.run(.small, .none) { servers in
            try await servers.kitchen.join(servers.folder, "Kitchen")
            let app = servers.phone.app
            let path = servers.folder.path
            for (values, message) in [
                (["--device": "Phone"], "--device is of use only with --sync-folder"),
                (["--sync-folder": path + "/none"], "--sync-folder: There is no folder"),
                (["--sync-folder": path, "--device": ""], "--device: Type a name"),
                (
                    ["--sync-folder": path, "--seeding": "all"],
                    "--seeding: 'all' is none of merge, local, remote and replace"
                ),
            ] {
                let error = await #expect(throws: LaunchOptions.Problem.self) { try await SyncOption.join(app, values) }
                #expect(error?.description.contains(message) == true, "\(error?.description ?? "")")
            }
            #expect(await app.synchroniser.phase == .off)
            let values = ["--sync-folder": path, "--device": "Phone", "--seeding": "remote"]
            try await SyncOption.join(app, values)
            try await servers.phone.waitForExchange()
            #expect(await app.synchroniser.settings?.seeding == .preferRemote)
            try await servers.settle()
            #expect(try await servers.phone.items() == servers.kitchen.items())
            // Again, as at each start; and with another folder.
            try await SyncOption.join(app, values)
            await #expect(throws: LaunchOptions.Problem.self) {
                try await SyncOption.join(app, ["--sync-folder": servers.phone.folder.path])
            }
        }
    }
}
