import Foundation
import TestSupport
import Testing

/// `make install`, with the tool that the tests use in place of a release build.
@Suite struct InstallTests {
    @Test func theToolAndItsCompletionsAreInstalledAndTakenAway() throws {
        let scratch = try Scratch()
        let options = [
            "-C", CommandRun.packageRoot.path, "COREDATA=\(try CommandRun.executable().path)",
            "DESTDIR=\(scratch.folder.path)", "PREFIX=/usr",
        ]
        func files() -> [String] {
            (FileManager.default.subpaths(atPath: scratch.folder.path) ?? []).sorted().filter { path in
                var isFolder: ObjCBool = false
                _ = FileManager.default.fileExists(atPath: scratch.path(path), isDirectory: &isFolder)
                return !isFolder.boolValue
            }
        }
        let make = URL(fileURLWithPath: "/usr/bin/make")
        let installed = try CommandRun.run(make, options + ["install"])
        try #require(installed.status == 0, "\(installed.error)")
        let completions = [
            "usr/share/bash-completion/completions/coredata", "usr/share/fish/vendor_completions.d/coredata.fish",
            "usr/share/zsh/site-functions/_coredata",
        ]
        #expect(files() == ["usr/bin/coredata", "usr/bin/coredata-port"] + completions)
        for path in completions {
            let text = try scratch.read(path)
            for word in ["verify", "decompile", "infer"] { #expect(text.contains(word), "\(path): \(word)") }
        }
        let tool = scratch.folder.appendingPathComponent("usr/bin/coredata")
        #expect(try CommandRun.run(tool, ["--version"]).output == CommandRun.coredata("--version").output)
        let source = try scratch.write("let a = 1\n", to: "a.swift")
        #expect(try CommandRun.run(tool, ["port", source]).output == "0 changes in 0 of 1 file\n")
        try FileManager.default.removeItem(atPath: source)
        #expect(try CommandRun.run(make, options + ["uninstall"]).status == 0)
        #expect(files().isEmpty)
    }
}
