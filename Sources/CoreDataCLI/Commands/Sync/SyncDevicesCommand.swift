import ArgumentParser
import CoreDataSync
import Foundation

/// `coredata sync devices`
struct SyncDevicesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "devices",
        abstract: "Lists the devices that a store or a folder knows.",
        usage: """
            coredata sync devices [<options>] <store>
            coredata sync devices [<options>] --place <folder>
            """,
        discussion: """
            Of a store it lists the devices as of the last exchange, of a folder as they last wrote to it. A device is behind \
            by the files that it has not received: those of the store's device, or of all devices in the folder.

            EXAMPLES
              coredata sync devices Shop.sqlite
              coredata sync devices --place ~/Sync/Shop --json
            """)

    @Argument(help: "The store's file.", completion: .file())
    var store: String?

    @Option(help: ArgumentHelp("A folder through which devices synchronise.", valueName: "folder"))
    var place: String?

    @Option(
        help: ArgumentHelp("A file whose first line is the passphrase of a sealed folder.", valueName: "file"),
        completion: .file())
    var passphraseFile: String?

    @Flag(help: "Print the list as JSON.")
    var json = false

    func validate() throws {
        guard (store == nil) != (place == nil) else { throw ValidationError("Give a store or --place, one of both.") }
        if passphraseFile != nil, place == nil { throw ValidationError("--passphrase-file goes with --place.") }
    }

    func run() throws {
        let devices = try devices(now: SyncTime.milliseconds(Date()))
        if json { return print(try JSONOutput.text(devices)) }
        guard !devices.isEmpty else { return print("no devices") }
        print(DeviceListing.lines(devices, width: Terminal.width).joined(separator: "\n"))
    }

    private func devices(now: UInt64) throws -> [DeviceListing] {
        guard let place else {
            return try DeviceListing.list(SidecarFile.open(beside: store ?? ""), now: now)
        }
        let folder = try PlaceFolder.open(place, passphraseFile: passphraseFile, mustExist: true)
        return try WaitedTask.run { try await DeviceListing.list(folder, now: now) }
    }
}
