import CoreData
import Foundation
import LivePages
import LivePagesTesting
import Synchronization
import Testing

@testable import GroceryDude

/// Two apps in processes of their own synchronise through a folder, and one is killed again and again while both are edited.
@Suite(.serialized, .timeLimit(.minutes(10))) struct SyncKillTests {
    /// `make test-long` sets the variable.
    private static let kills = ProcessInfo.processInfo.environment["COREDATA_LONG_TESTS"] == nil ? 10 : 100

    /// What was answered, of one app.
    private final class Answered: Sendable {
        private let contents = Mutex<(names: [String], ticks: [Int: Bool])>(([], [:]))

        var names: [String] { contents.withLock { $0.names } }
        var ticks: [Int: Bool] { contents.withLock { $0.ticks } }

        func add(_ name: String) { contents.withLock { $0.names.append(name) } }
        func tick(_ item: Int, _ isOn: Bool?) { contents.withLock { $0.ticks[item] = isOn } }
    }

    /// Adds items and ticks those that were there at first, until the app does not answer any more.
    private func edit(
        _ browser: TestBrowser, _ answered: Answered, _ run: String, own: [String: Int], shared: [String: Int]
    ) async {
        do {
            for number in 1... {
                if Task.isCancelled { return }
                let name = "\(run)-\(number)"
                let answer = try await browser.post(
                    "/items", ["name": name, "quantity": "2", "unit": "new", "new-unit": "unit \(number % 5)"])
                if answer.status == 303 { answered.add(name) }
                guard let item = own.values.randomElement(), let other = shared.values.randomElement() else { return }
                let isOn = Bool.random()
                // What is not answered may have happened or not.
                answered.tick(item, nil)
                if try await browser.post("/prepare", [isOn ? "on" : "off": "\(item)"]).status == 303 {
                    answered.tick(item, isOn)
                }
                _ = try await browser.post("/prepare", [Bool.random() ? "on" : "off": "\(other)"])
            }
        } catch {}
    }

    /// The rows of the list: name, whether it is listed, and details.
    private func rows(_ browser: TestBrowser) async throws -> [String] {
        let page = try await browser.get("/prepare?all").text
        return page.matches(
            of:
                /<li id=i(\d+)[^>]*><button name=(?:on|off) value=\d+ aria-pressed=(\w+)>([^<]*)<\/button><a [^>]*>([^<]*)/
        )
        .map { "\($0.output.3) \($0.output.2) \($0.output.4)" }.sorted()
    }

    private func numbers(_ browser: TestBrowser, _ prefix: String) async throws -> [String: Int] {
        let page = try await browser.get("/prepare").text
        let found = page.matches(of: /<li id=i(\d+)[^>]*><button [^>]*>([^<]*)<\/button>/)
        return Dictionary(
            found.filter { $0.output.2.hasPrefix(prefix) }.compactMap { match in
                Int(match.output.1).map { (String(match.output.2), $0) }
            }, uniquingKeysWith: { first, _ in first })
    }

    @Test func whatIsAnsweredIsOnBothWheneverOneIsKilled() async throws {
        let folder = try TestServer.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let place = folder.appendingPathComponent("Place")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        func start(_ name: String) throws -> OtherProcess {
            try TestServer.otherProcess(
                store: folder.appendingPathComponent("\(name).sqlite"),
                ["--sync-folder", place.path, "--device", name])
        }
        let phone = try start("Phone")
        defer { phone.end() }
        let phoneBrowser = TestBrowser(port: try await phone.port())
        for name in ["kitchen 1", "kitchen 2", "phone 1", "phone 2", "shared 1", "shared 2"] {
            _ = try await phoneBrowser.post("/items", ["name": name, "quantity": "1"])
        }
        let phoneAnswered = Answered(), kitchenAnswered = Answered()
        let (own, shared) = (try await numbers(phoneBrowser, "phone"), try await numbers(phoneBrowser, "shared"))
        let editing = Task {
            await edit(phoneBrowser, phoneAnswered, "phone item", own: own, shared: shared)
        }
        var kitchen = try start("Kitchen")
        var browser = TestBrowser(port: try await kitchen.port())
        try await Polling.wait(for: "what the phone has") { try await numbers(browser, "kitchen").count == 2 }
        for kill in 1...Self.kills {
            let kitchens = try await numbers(browser, "kitchen"), both = try await numbers(browser, "shared")
            let working = Task { [browser] in
                await edit(browser, kitchenAnswered, "kitchen item \(kill)", own: kitchens, shared: both)
            }
            // The moment of the kill is by chance: there is nothing to wait for.
            try await Task.sleep(for: .milliseconds(Int.random(in: 5...600)))
            kitchen.kill()
            await working.value
            kitchen = try start("Kitchen")
            browser = TestBrowser(port: try await kitchen.port())
        }
        defer { kitchen.end() }
        editing.cancel()
        await editing.value
        try await Polling.wait(for: "equal lists", within: 60) {
            for browser in [browser, phoneBrowser] { _ = try await browser.submit("/sync/exchange") }
            return try await rows(browser) == rows(phoneBrowser)
        }
        try await check(browser, phoneBrowser, kitchenAnswered, phoneAnswered)
        #expect(kitchen.end() == 0)
        for name in ["Kitchen", "Phone"] {
            let store = folder.appendingPathComponent("\(name).sqlite")
            let findings = try NSPersistentStoreCoordinator.verifyPersistentStore(at: store).findings
            #expect(findings.filter { $0.severity == .error } == [], "\(name)")
        }
    }

    private func check(
        _ kitchen: TestBrowser, _ phone: TestBrowser, _ kitchenAnswered: Answered, _ phoneAnswered: Answered
    ) async throws {
        let found = try await rows(kitchen)
        let names = Set(try await numbers(kitchen, "").keys)
        let lost = (kitchenAnswered.names + phoneAnswered.names).filter { !names.contains($0) }
        #expect(lost == [], "\(lost.count) of \(kitchenAnswered.names.count) and \(phoneAnswered.names.count) are lost")
        #expect(kitchenAnswered.names.count > Self.kills && phoneAnswered.names.count > Self.kills)
        for (browser, answered) in [(kitchen, kitchenAnswered), (phone, phoneAnswered)] {
            let names = Dictionary(
                try await numbers(browser, "").map { ($0.value, $0.key) }, uniquingKeysWith: { first, _ in first })
            for (item, isOn) in answered.ticks {
                let name = try #require(names[item])
                #expect(found.contains { $0.hasPrefix("\(name) \(isOn) ") }, "\(name) is to be \(isOn)")
            }
        }
        // One of each name, though both devices made units and items of one name.
        #expect(found.count == names.count)
        let units = try await kitchen.get("/units").text.matches(of: /<span>unit \d<\/span>/).map { String($0.output) }
        #expect(units.count == 5 && Set(units).count == 5, "\(units)")
    }
}
