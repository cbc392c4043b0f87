import Foundation
import TestSupport
import Testing

/// What cannot be written, printed or found is said, with the place.
@Suite struct FailingOutputTests {
    /// Runs the tool by a shell, so that its output can be sent anywhere.
    private func shell(_ command: String, _ scratch: Scratch) throws -> CommandRun {
        let tool = try CommandRun.executable().path
        return try CommandRun.run(
            URL(fileURLWithPath: "/bin/sh"), ["-c", "cd '\(scratch.folder.path)' && '\(tool)' \(command)"])
    }

    @Test(
        .enabled(if: FileManager.default.fileExists(atPath: "/dev/full"), "there is no device that is always full"),
        arguments: Trials.some(
            of: [
                "store info store.sqlite", "store info store.sqlite --json", "query store.sqlite",
                "query store.sqlite Item --count", "export store.sqlite", "model hash store.sqlite", "--version",
                "--help",
            ], atLeast: 3))
    func whatCannotBePrintedIsAnError(command: String) throws {
        let scratch = try Scratch()
        _ = try scratch.copyOfEmptyStore()
        let full = try shell("\(command) > /dev/full", scratch)
        #expect(full.status == 2)
        #expect(
            full.error.hasSuffix("error: Cannot write to standard output: No space left on device.\n"), "\(full.error)")
        let closed = try shell("\(command) >&-", scratch)
        #expect(closed.status == 2)
        #expect(
            closed.error.hasSuffix("error: Cannot write to standard output: Bad file descriptor.\n"), "\(closed.error)")
    }

    @Test func withoutOutputAStoreIsNotPrintedInto() throws {
        let scratch = try Scratch()
        let model = CommandRun.exampleModel
        let run = try shell("store create made.sqlite --model '\(model)' >&- 2>&- <&-", scratch)
        #expect(run.status == 2)
        #expect(try CommandRun.coredata("store", "verify", scratch.path("made.sqlite")).status == 0)
    }

    @Test(arguments: [
        ("model compile MODEL --output FILE/out", "FILE/out/Model.momd"),
        ("model convert STORE --to momd --output FILE/M.momd", "FILE/M.momd"),
        ("model convert STORE --to xcdatamodeld --output FILE/M.xcdatamodeld", "FILE/M.xcdatamodeld"),
        ("model decompile STORE --output FILE/out", "FILE/out/store.xcdatamodeld"),
        ("model generate MODEL --all --output FILE/out", "FILE/out/"),
        ("export STORE --output FILE/out.json", "FILE/out.json"),
    ])
    func whatCannotBeWrittenIsNamed(command: String, path: String) throws {
        let scratch = try Scratch()
        let store = try scratch.makeStore()
        // Below a file there is no folder, not even for root.
        let file = try scratch.write("", to: "file")
        func filled(_ text: String) -> String {
            text.replacing("MODEL", with: CommandRun.exampleModel).replacing("STORE", with: store)
                .replacing("FILE", with: file)
        }
        let run = try CommandRun.run(CommandRun.executable(), filled(command).split(separator: " ").map(String.init))
        #expect(run.status == 2)
        #expect(run.error.hasPrefix("error: Cannot write \(filled(path))"), "\(run.error)")
        #expect(run.error.split(separator: "\n").count == 1)
    }

    @Test func aStoreIsMadeWithItsFolderOrNotAtAll() throws {
        let scratch = try Scratch()
        let path = scratch.path("no/such/m.sqlite")
        #expect(try CommandRun.coredata("store", "create", path, "--model", CommandRun.exampleModel).status == 0)
        #expect(FileManager.default.fileExists(atPath: path))
        let below = path + "/no/m.sqlite"
        let run = try CommandRun.coredata("store", "create", below, "--model", CommandRun.exampleModel)
        #expect(run.status == 2)
        #expect(
            run.error.hasPrefix(
                "error: The store '\(below)' cannot be made, since the folder '\(path)/no' cannot be: "),
            "\(run.error)")
    }

    @Test(arguments: ["", "text that is no list", "\u{1}\u{2}\u{3}", "bplist00 damaged"])
    func aDamagedModelIsNotXML(text: String) throws {
        let scratch = try Scratch()
        let path = try scratch.write(text, to: "bad.mom")
        let run = try CommandRun.coredata("model", "hash", path)
        #expect(run.status == 2 && run.error.contains("bad.mom"))
        if !text.isEmpty, !text.hasPrefix("bplist") {
            #expect(run.error.contains("the file is no property list, or it is damaged"), "\(run.error)")
        }
    }
}
