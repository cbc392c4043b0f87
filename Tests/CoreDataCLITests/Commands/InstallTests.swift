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
        #expect(files() == ["usr/bin/coredata"] + completions)
        for path in completions {
            let text = try scratch.read(path)
            for word in ["verify", "decompile", "infer"] { #expect(text.contains(word), "\(path): \(word)") }
        }
        let tool = scratch.folder.appendingPathComponent("usr/bin/coredata")
        #expect(try CommandRun.run(tool, ["--version"]).output == CommandRun.coredata("--version").output)
        #expect(try CommandRun.run(make, options + ["uninstall"]).status == 0)
        #expect(files().isEmpty)
    }
}
