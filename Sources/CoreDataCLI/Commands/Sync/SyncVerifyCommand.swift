import ArgumentParser
import CoreDataSync
import Foundation

/// `coredata sync verify`
struct SyncVerifyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Reads every file of a folder through which devices synchronise.",
        usage: "coredata sync verify [<options>] --place <folder>",
        discussion: """
            Finds files that are damaged, foreign, or of a newer version, segments and large values that are missing, and \
            devices whose clock is wrong. Devices cope with all of these, and read a file again that may still arrive. \
            Changes no device's file.

            EXIT CODES
              0  sound
              1  problems
              2  not checked: there is no folder, or its passphrase is missing

            EXAMPLES
              coredata sync verify --place ~/Sync/Shop
              coredata sync verify --place Sealed --passphrase-file phrase.txt --json
            """)

    @Option(help: ArgumentHelp("A folder through which devices synchronise.", valueName: "folder"))
    var place: String

    @Option(
        help: ArgumentHelp("A file whose first line is the passphrase of a sealed folder.", valueName: "file"),
        completion: .file())
    var passphraseFile: String?

    @Flag(help: "Print the list as JSON.")
    var json = false

    func run() throws {
        let folder = try PlaceFolder.open(place, passphraseFile: passphraseFile, mustExist: true)
        let now = SyncTime.milliseconds(Date())
        let inspection = try WaitedTask.run { try await PlaceInspection(of: folder, now: now) }
        if json {
            print(try JSONOutput.text(inspection))
        } else {
            print(inspection.lines(place, width: Terminal.width).joined(separator: "\n"))
        }
        if !inspection.problems.isEmpty { throw ExitCode(1) }
    }
}
