import Foundation
import LivePagesTesting
import Testing

@testable import GroceryCloud

/// The app as a process of its own.
@Suite(.timeLimit(.minutes(2))) struct ProgramTests {
    @Test func itChecksItself() throws {
        let process = Process()
        process.executableURL = try OtherProcess.program("GroceryCloud")
        process.arguments = ["--check"]
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        // A program inherits which signals its parent's thread holds back, and those of tasks hold all.
        var (none, before) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        #expect(text.contains("17 pages are sound"))
    }

    @Test func twoProcessesServeOneStore() async throws {
        try await TestHousehold.run { household in
            let other = try TestServer.otherProcess(store: household.server.store)
            defer { other.end() }
            let elsewhere = TestBrowser(port: try await other.port())
            #expect(try await elsewhere.post("/sign-in", ["name": "bob", "password": password]).status == 303)
            let stream = try household.ann.browser.events("\(household.list.path).prepare", after: "x.0")
            _ = try await stream.next("stale")
            let bob = Shopper(browser: elsewhere, id: household.bob.id, name: "bob")
            _ = try await bob.post(
                "/lists/\(household.list.path)/items", ["name": "Tea", "quantity": "1", "listed": "1"])
            // The pages of this process read themselves again.
            _ = try await stream.next("stale")
            #expect(try await household.ann.get(household.prepare).words.contains("Tea"))
            // A member whom the other process removes sees nothing here.
            let ann = TestBrowser(port: elsewhere.port)
            _ = try await ann.post("/sign-in", ["name": "ann", "password": password])
            let owner = Shopper(browser: ann, id: household.ann.id, name: "ann")
            _ = try await owner.post(
                "\(household.homePath)/members", ["member": household.eve.id.path, "remove": "1"])
            #expect(try await household.eve.get(household.prepare).status == 404)
        }
    }
}
