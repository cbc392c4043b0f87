import Foundation
import TestSupport
import Testing

@Suite struct RecoverTests {
    private static let albums = """
        <entity name="Album">
            <attribute name="title" optional="YES" attributeType="String"/>
        </entity>
        """

    private func store(_ scratch: Scratch, count: Int) throws -> String {
        let store = try scratch.makeStore(entities: Self.albums)
        let records = (1...count).map { "{\"title\": \"Album \($0) \(String(repeating: "x", count: 60))\"}" }
        let file = try scratch.write("[\(records.joined(separator: ","))]", to: "albums.json")
        #expect(try CommandRun.coredata("import", store, "--entity", "Album", file).status == 0)
        return store
    }

    @Test func aSoundStoreIsRecoveredWhole() throws {
        let scratch = try Scratch()
        let store = try store(scratch, count: 200)
        let new = scratch.path("new.sqlite")
        let run = try CommandRun.coredata("store", "recover", store, new)
        #expect(run.status == 0, "\(run.error)")
        #expect(run.lines == ["Album: 200 objects", "\(new) has everything"])
        #expect(try CommandRun.coredata("store", "verify", new).status == 0)
        let again = try CommandRun.coredata("store", "recover", store, new)
        #expect(again.status != 0 && again.error.contains("There is a file at \(new) already"))
    }

    @Test func ofAStoreThatWasCutOffTheBeginningIsRecovered() throws {
        let scratch = try Scratch()
        let store = try store(scratch, count: 4000)
        let handle = try FileHandle(forUpdating: URL(fileURLWithPath: store))
        let size = try handle.seekToEnd()
        try handle.truncate(atOffset: size * 6 / 10 / 4096 * 4096)
        try handle.close()
        let damaged = try Data(contentsOf: URL(fileURLWithPath: store))
        let verified = try CommandRun.coredata("store", "verify", store)
        #expect(verified.status == 1 && verified.error == "", "\(verified.error)")
        #expect(verified.lines.first?.hasPrefix("error: the file is damaged and cannot be checked further: ") == true)
        #expect(verified.lines.first?.contains("coredata store recover") == true)
        #expect(verified.lines.last == "\(store): 1 problem")
        for arguments in [["store", "info", store], ["query", store], ["query", store, "Album"], ["export", store]] {
            let run = try CommandRun.run(CommandRun.executable(), arguments)
            #expect(run.status == 2, "\(arguments)")
            let end = ": coredata store recover \(store) NEW\n"
            #expect(run.error.hasPrefix("error: The file '\(store)'") && run.error.hasSuffix(end), "\(run.error)")
        }
        let new = scratch.path("new.sqlite")
        let run = try CommandRun.coredata("store", "recover", store, new)
        #expect(run.status == 1, "\(run.output) \(run.error)")
        #expect(run.output.contains("could not be read") && run.lines.last == "\(new) has what could be read")
        let saved = run.lines.first?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        #expect(saved > 1000 && saved < 4000)
        #expect(try CommandRun.coredata("store", "verify", new).status == 0)
        #expect(try Data(contentsOf: URL(fileURLWithPath: store)) == damaged)
        #expect(!FileManager.default.fileExists(atPath: scratch.path("store.recovering")))
    }

    @Test func whatTheModelDoesNotHaveIsNamed() throws {
        let scratch = try Scratch()
        let store = try store(scratch, count: 3)
        // The model's file is another version now.
        _ = try scratch.write(
            #"<model><entity name="Album"/></model>"#, to: "Model.xcdatamodel/contents")
        let new = scratch.path("new.sqlite")
        let run = try CommandRun.coredata(
            "store", "recover", store, new, "--model", scratch.path("Model.xcdatamodel"))
        #expect(run.status == 1, "\(run.error)")
        #expect(
            run.lines == [
                "Album: 3 objects",
                "note: the column ZALBUM.ZTITLE belongs to nothing in the model: its 3 values were left out",
                "\(new) has what could be read",
            ])
    }

    @Test func whatIsNoStoreIsAnError() throws {
        let scratch = try Scratch()
        let text = try scratch.write(String(repeating: "no store ", count: 100), to: "text")
        let run = try CommandRun.coredata("store", "recover", text, scratch.path("new.sqlite"))
        #expect(run.status != 0)
        #expect(!FileManager.default.fileExists(atPath: scratch.path("new.sqlite")))
        // There is nothing in it to recover.
        let info = try CommandRun.coredata("store", "info", text)
        #expect(info.status == 2 && !info.error.contains("recover"), "\(info.error)")
    }

    @Test func ofAFileOfWhichTooLittleIsLeftTheErrorNamesNoOtherCommand() throws {
        let scratch = try Scratch()
        let store = try store(scratch, count: 3)
        let handle = try FileHandle(forUpdating: URL(fileURLWithPath: store))
        try handle.truncate(atOffset: 4096)
        try handle.close()
        let run = try CommandRun.coredata("store", "recover", store, scratch.path("new.sqlite"))
        #expect(run.status == 2 && run.error.contains("With --model it may be readable"), "\(run.error)")
        #expect(!run.error.contains("store recover"))
    }
}
