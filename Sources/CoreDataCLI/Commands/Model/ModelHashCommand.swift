import ArgumentParser
import CoreDataModel
import CoreDataStoreTools
import Foundation

/// The command `coredata model hash`.
struct ModelHashCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hash",
        abstract: "Prints the version hashes by which stores and models recognise each other.",
        discussion: """
            The hash of each entity in base64, as Apple's tools print it, and the checksum of the version, which \
            NSManagedObjectModel.versionChecksum gives too. Of a store it prints those that the store records.

            EXAMPLES
              coredata model hash Library.xcdatamodeld
              coredata model hash Library.momd --version 'Library 2' --json
            """)

    @OptionGroup var input: ModelInput

    @Flag(help: "Print it as JSON.")
    var json = false

    private struct Report: Encodable {
        var model: String
        var version: String
        var checksum: String
        var entities: [String: String]
    }

    func run() throws {
        let (name, version, found) = try hashes()
        let hashes = found.map { (name: $0.key, hash: $0.value.base64EncodedString()) }.sorted { $0.name < $1.name }
        let checksum = VersionHash.checksum(found)
        if json {
            let report = Report(
                model: name, version: version, checksum: checksum,
                entities: Dictionary(hashes.map { ($0.name, $0.hash) }, uniquingKeysWith: { first, _ in first }))
            print(try JSONOutput.text(report))
            return
        }
        var table = TextTable([.init(title: "entity"), .init(title: "version hash")])
        table.rows = hashes.map { [$0.name, $0.hash] }
        print(table.lines().joined(separator: "\n"))
        print("\nchecksum of '\(version)': \(checksum)")
    }

    private func hashes() throws -> (name: String, version: String, hashes: [String: Data]) {
        if StoreFile.isDatabase(input.path), let recorded = try StoreFile.versionHashes(input.path) {
            let name = URL(fileURLWithPath: input.path).deletingPathExtension().lastPathComponent
            return (name, name, recorded)
        }
        let versions = try input.versions()
        let compiled = try ModelCompiler.compile(versions.document(named: input.version, at: input.path))
        return (
            versions.name, input.version ?? versions.currentName,
            Dictionary(
                compiled.entities.map { ($0.name, $0.versionHash) }, uniquingKeysWith: { first, _ in first })
        )
    }
}
